// The ownership below a node, from the ownership that each node keeps (node_ownership).
#include <cmath>

#include "search/search.h"

namespace tengen {

namespace {

// A node's part of the mean: its own and that of its moves, by weight; of the moves the share of the good ones is
// greater, by the squares of the weights. Parts below `smallest` are not divided, those below a hundredth are dropped.
class OwnershipSum {
  public:
    OwnershipSum(std::size_t points, double visits)
        : sum(points), squares(points), smallest_(0.5 / std::pow(visits, 0.75)) {}

    std::vector<double> sum, squares;

    // `weight_of(edge)` and `own_weight(node, depth)`. False, and nothing added, where the node keeps no ownership.
    template <class EdgeWeight, class OwnWeight>
    bool add(const Node& node, std::size_t depth, double share, const EdgeWeight& weight_of,
             const OwnWeight& own_weight) {
        if (!node.ready || !node.stats().ownership) return false;
        double own_share = share;
        if (share >= smallest_) {
            double total = 0, squared = 0;
            for (int i = 0; i < node.edge_count; ++i) {
                const double weight = weight_of(node.edges[i]);
                total += weight, squared += weight * weight;
            }
            const double own = own_weight(node, depth), below = squared > 0 ? share * total / (total + own) : 0;
            own_share = share - below;
            for (int i = 0; i < node.edge_count && below > 0; ++i) {
                const EdgeStats& edge = node.edges[i];
                const double weight = weight_of(edge), part = weight * weight / squared * below;
                if (weight <= 0) continue;
                if (part < smallest_ / 100 || !add(*edge.node, depth + 1, part, weight_of, own_weight))
                    own_share += part;
            }
        }
        const double sign = depth % 2 ? -1 : 1;
        for (std::size_t p = 0; p < sum.size(); ++p) {
            const double x = sign * node.stats().ownership[p] / 32767.0;
            sum[p] += own_share * x, squares[p] += own_share * x * x;
        }
        return true;
    }

  private:
    double smallest_;
};

}  // namespace

OwnershipMoments Search::ownership_below(Point move) const {
    const EdgeStats* from = &tree_.root();
    if (!params_.node_ownership || !from->node || !from->node->ready) return {};
    if (move != kNoPoint) {
        const Node& root = *from->node;
        from = nullptr;
        for (int i = 0; i < root.edge_count; ++i)
            if (root.moves()[i].point == move) from = &root.edges[i];
        if (!from || !from->node) return {};
    }
    const auto edge = [&](const EdgeStats& stats) -> double {
        if (!stats.node) return 0;
        return params_.is_weighted() ? edge_weight(stats.visits, stats.node->stats()) : stats.visits;
    };
    const auto own = [&](const Node& node, std::size_t depth) -> double {
        return params_.is_weighted() ? own_weight(node, utility_at(depth)) : 1;
    };
    OwnershipSum total(game_->board().points(), std::max(1.0, double(from->visits)));
    if (!total.add(*from->node, move == kNoPoint ? 0 : 1, 1, edge, own)) return {};
    OwnershipMoments found;
    for (std::size_t p = 0; p < total.sum.size(); ++p) {
        found.mean.push_back(static_cast<float>(total.sum[p]));
        found.stdev.push_back(
            static_cast<float>(std::sqrt(std::max(total.squares[p] - total.sum[p] * total.sum[p], 0.0))));
    }
    return found;
}

}  // namespace tengen
