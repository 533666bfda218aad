// The seam to the network: leaves go out in batches, their evaluations come back.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "board/symmetry.h"
#include "search/priors.h"
#include "search/search.h"

namespace tengen {

namespace {

bool finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

int Search::gather(const std::function<void(int, const Game&)>& visit, int limit) {
    game();
    if (!waiting_.empty()) throw std::logic_error("the leaves of the last gather still wait for scatter");
    if (root_visits() >= kMaxVisits) return 0;
    if (refresh_ && limit > 0) {
        refresh_ = false;
        waiting_.push_back({{}, tree_.root().node, {0, 0}, 0, true});
        visit(0, *game_);
    }
    if (params_.simulate_to_end) return gather_to_end(visit, limit);
    // A simulation that meets a waiting leaf is taken back at the end. Until then its virtual loss drives the next ones
    // elsewhere.
    std::vector<Path> blocked;
    Simulation& sim = *simulations_[0];
    start(sim);
    for (int done = waiting(); done < limit && static_cast<int>(blocked.size()) < limit;) {
        End end = descend(sim);
        if (end == End::leaf) end = expand(sim);
        if (end == End::retry) continue;
        if (end == End::waiting) visit(waiting() - 1, sim.game);
        if (end == End::terminal) backup_end(sim.path);
        if (end == End::collision) {
            if (sim.path.empty()) break;  // the root itself waits
            add_pending(sim.path, 1);
            blocked.push_back(sim.path);
        } else {
            ++done;
        }
        start(sim);
    }
    for (const Path& taken : blocked) add_pending(taken, -1);
    return waiting();
}

// Evaluates the end of the path, or makes a node there that waits for it.
Search::End Search::expand(Simulation& sim) {
    prepare_leaf(sim);
    examine_leaf(sim);
    if (sim.last_move_illegal) return reject_last_move(sim), End::retry;
    if (Node* const known = tree_.is_graph() ? tree_.known(sim.key) : nullptr) {
        if (!known->ready) return End::collision;
        last_edge(sim.path).node = known;
        if (!is_superko_illegal(sim.path)) return End::retry;  // goes on below it
        return reject_last_move(sim), End::retry;
    }
    Node* const node = add_node(sim);
    if (!node && !sim.over && params_.playouts == 0) {
        start(sim);  // the memory is full, and nothing will be opened any more
        return End::retry;
    }
    if (!sim.over) record_playout(sim);
    if (!node || node->ready) {
        backup(sim.path, sim.outcome);
        return End::backed_up;
    }
    add_pending(sim.path, 1);
    waiting_.push_back({sim.path, node, sim.outcome, sim.key, false});
    return End::waiting;
}

int Search::gather(const PlaneSet& set, int edge, float* planes, float* scalars, float* mask, int limit) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const auto write = [&](int row, const Game& game) {
        const int symmetry = waiting_[row].symmetry = symmetry_for(game);
        encode(set, game, symmetry, edge, planes + row * set.planes.size() * area, scalars + row * set.scalars.size(),
               mask + row * area);
    };
    return gather(write, limit);
}

// By the position and not by a stream, so that what was given up is found again as it was.
int Search::symmetry_for(const Game& leaf) const {
    if (params_.leaf_symmetry == LeafSymmetry::none) return 0;
    return static_cast<int>(SplitMix64(salt_ ^ (leaf.board().hash() + leaf.moves().size())).below(kSymmetries));
}

void Search::scatter(const LeafResults& results, int edge) {
    check(results, edge);
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const auto leaves = std::move(waiting_);
    waiting_.clear();
    for (std::size_t row = 0; row < leaves.size(); ++row) {
        const Waiting& leaf = leaves[row];
        const Layout layout(game_->board().size(), leaf.symmetry, edge);
        if (params_.ownership) add_ownership(leaf, results.ownership.subspan(row * area, area), layout);
        if (leaf.refresh) continue;
        Node& node = *leaf.node;
        if (!prior_policy_) {
            set_priors_from_policy(node, results.policy.subspan(row * (area + 1), area + 1), layout,
                                   params_.policy_temperature);
            cut(node, leaf.path.empty());
        }
        const float own = 1 - params_.playout_weight, played = params_.playout_weight;
        node.value = own * std::clamp(results.value[row], -1.0f, 1.0f) + played * leaf.playouts.value;
        node.score = own * results.score[row] + played * leaf.playouts.score;
        node.ready = true;
        if (params_.simulate_to_end) {
            in_progress_.push_back(leaf.path);
        } else {
            add_pending(leaf.path, -1);
            backup(leaf.path, {node.value, node.score});
        }
        if (leaf.path.empty()) prepare_root();
    }
}

void Search::check(const LeafResults& results, int edge) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge, n = waiting_.size();
    if (edge < game().board().size()) throw std::invalid_argument("the results are for a smaller board");
    if (results.value.size() != n || results.score.size() != n || results.policy.size() != n * (area + 1) ||
        results.ownership.size() != n * area)
        throw std::logic_error(std::to_string(n) + " leaves wait, results came for " +
                               std::to_string(results.value.size()));
    if (!finite(results.policy) || !finite(results.value) || !finite(results.score) || !finite(results.ownership))
        throw std::invalid_argument("an evaluation is not finite");
}

void Search::add_ownership(const Waiting& leaf, std::span<const float> ownership, const Layout& layout) {
    const double sign = leaf.path.size() % 2 ? -1 : 1;
    ownership_.resize(layout.points(), 0.0);
    for (int p = 0; p < layout.points(); ++p) ownership_[p] += sign * ownership[layout[static_cast<Point>(p)]];
    ++ownership_count_;
}

}  // namespace tengen
