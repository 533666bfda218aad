#include "search/gumbel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "search/leaf.h"

namespace tengen {

namespace {

constexpr std::int64_t kOvershoot = std::int64_t{1} << 40;

// The completed q of a node: its moves without visits have the mixed value v_mix.
class CompletedQ {
  public:
    CompletedQ(const SelectionContext& at, const SearchParams& params) : at_(at) {
        float visits = 0, maximum = 0, mass = 0, weighted = 0;
        for (int i = 0; i < at.node.edge_count; ++i) {
            const EdgeStats& stats = at.node.edges[i];
            const auto n = static_cast<float>(stats.visits);
            if (!stats.visits || at.prior(i) < 0) continue;
            visits += n;
            maximum = std::max(maximum, n);
            const float prior = std::max(at.prior(i), kMinPrior);
            mass += prior;
            weighted += prior * stats.utility;
        }
        const float own = utility_of(at.node.value, at.node.score, params);
        mix_ = mass > 0 ? (own + visits * weighted / mass) / (1 + visits) : own;
        slope_ = (params.gumbel_c_visit + maximum) * params.gumbel_c_scale / 2;
    }

    float sigma(int edge) const {
        const bool visited = edge < at_.node.edge_count && at_.node.edges[edge].visits;
        return slope_ * (1 + (visited ? at_.node.edges[edge].utility : mix_));
    }
    float improved_logit(int edge) const { return std::log(std::max(at_.prior(edge), kMinPrior)) + sigma(edge); }

  private:
    const SelectionContext& at_;
    float mix_, slope_;
};

bool is_open(const SelectionContext& at, int edge) {
    if (at.prior(edge) < 0) return false;
    return edge < at.node.edge_count ? at.is_open(at.node.edges[edge]) : at.untried_are_open();
}

int select_at_root(const SelectionContext& at, const SearchParams& params) {
    const Node& node = at.node;
    const RootPlan& plan = *at.plan;
    const CompletedQ completed(at, params);
    std::uint32_t moves = 0;
    for (int i = 0; i < node.move_count; ++i) moves += is_open(at, i);
    moves = std::min(moves, static_cast<std::uint32_t>(params.gumbel_moves));
    const auto wanted = static_cast<std::int64_t>(halving_visits(moves, plan.simulations, plan.used(node)));
    // While leaves wait, no move may have exactly the wanted visits: then the one that is behind by the fewest.
    int best = -1;
    std::int64_t min_off = 0;
    float best_score = 0;
    for (int i = 0; i < node.move_count; ++i) {
        if (!is_open(at, i)) continue;
        const std::int64_t behind = wanted - plan.since(node, i), off = behind >= 0 ? behind : kOvershoot - behind;
        if (best >= 0 && off > min_off) continue;
        const float score = plan.gumbel[node.moves()[i].point] + completed.improved_logit(i);
        if (best < 0 || off < min_off || score > best_score) best = i, min_off = off, best_score = score;
    }
    return best;
}

// Edges that were not tried share one q and stand in falling order of their priors, so the next one stands for all.
int select_below(const SelectionContext& at, const SearchParams& params) {
    const Node& node = at.node;
    const CompletedQ completed(at, params);
    const int end = std::min(node.edge_count + 1, int{node.move_count});
    float largest = -INFINITY, visits = 0, mass = 0;
    for (int i = 0; i < end; ++i) largest = std::max(largest, completed.sigma(i));
    float total = 0;
    for (int i = 0; i < node.edge_count; ++i) {
        const float prior = std::max(at.prior(i), kMinPrior);
        mass += prior;
        total += prior * std::exp(completed.sigma(i) - largest);
        visits += static_cast<float>(node.edges[i].visits + node.edges[i].pending);
    }
    if (end > node.edge_count) total += std::max(1 - mass, 0.0f) * std::exp(completed.sigma(end - 1) - largest);
    int best = -1;
    float best_score = 0;
    for (int i = 0; i < end; ++i) {
        if (!is_open(at, i)) continue;
        const bool tried = i < node.edge_count;
        const float n = tried ? static_cast<float>(node.edges[i].visits + node.edges[i].pending) : 0;
        const float improved = std::max(at.prior(i), kMinPrior) * std::exp(completed.sigma(i) - largest) / total;
        const float score = improved - n / (1 + visits);
        if (best < 0 || score > best_score) best = i, best_score = score;
    }
    return best;
}

}  // namespace

int select_gumbel(const SelectionContext& at, const SearchParams& params) {
    return at.plan ? select_at_root(at, params) : select_below(at, params);
}

int gumbel_choice(const SelectionContext& root, const SearchParams& params) {
    const Node& node = root.node;
    const CompletedQ completed(root, params);
    int best = -1;
    std::uint32_t maximum = 0;
    float best_score = 0;
    for (int i = 0; i < node.edge_count; ++i) {
        if (root.prior(i) < 0) continue;
        const std::uint32_t visits = root.plan->since(node, i) - node.edges[i].pending;
        if (!visits || visits < maximum) continue;
        const float score = root.plan->gumbel[node.moves()[i].point] + completed.improved_logit(i);
        if (visits > maximum || score > best_score) best = i, maximum = visits, best_score = score;
    }
    return best;
}

std::vector<float> improved_policy(const SelectionContext& at, const SearchParams& params) {
    const CompletedQ completed(at, params);
    std::vector<float> policy(at.node.move_count, 0.0f);
    float largest = -INFINITY, total = 0;
    for (int i = 0; i < at.node.move_count; ++i)
        if (at.prior(i) >= 0) largest = std::max(largest, completed.improved_logit(i));
    for (int i = 0; i < at.node.move_count; ++i)
        if (at.prior(i) >= 0) total += policy[i] = std::exp(completed.improved_logit(i) - largest);
    for (float& p : policy) p /= total;
    return policy;
}

std::uint32_t halving_visits(std::uint32_t m, std::uint32_t n, std::uint32_t t) {
    if (m <= 1) return t;
    const auto rounds = static_cast<std::uint32_t>(std::bit_width(m - 1));  // ceil(log2 m)
    std::uint32_t visits = 0;
    for (std::uint32_t survivors = m; survivors > 2; survivors = std::max(survivors / 2, 2u)) {
        const std::uint32_t each = std::max(n / (rounds * survivors), 1u);
        if (t < each * survivors) return visits + t / survivors;
        visits += each;
        t -= each * survivors;
    }
    return visits + t / 2;
}

}  // namespace tengen
