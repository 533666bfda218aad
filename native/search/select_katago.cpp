// KataGo's PUCT, over a tree that counts by weights: Q + c(W) * sd * P * sqrt(W + 0.01) / (1 + w), with w the weight of
// a move and W the sum over the moves.
#include "search/select_katago.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/choose.h"
#include "search/random.h"

namespace tengen {

namespace {

float weight_of(const EdgeStats& stats) { return stats.node ? edge_weight(stats.visits, stats.node->stats()) : 0; }

// A move whose evaluation failed is as before it was tried, even if its node is known from other lines.
bool was_tried(const EdgeStats& stats) { return stats.visits || stats.pending; }

bool is_visited(const EdgeStats& stats) {
    return was_tried(stats) && stats.node && stats.node->stats().visits && stats.node->stats().weight > 0;
}

class KatagoPuct {
  public:
    KatagoPuct(const SelectionContext& at, const SearchParams& params) : at_(at), params_(params) {
        float mass = 0;
        for (int i = 0; i < at.node.edge_count; ++i) {
            const float prior = at.prior(i);
            const EdgeStats& stats = at.node.edges[i];
            if (prior < 0 || !at.is_open(stats)) continue;
            if (was_tried(stats)) mass += prior;
            total_ += weight_of(stats);
        }
        const float c =
            params.c_puct + params.c_puct_factor * std::log((total_ + params.c_puct_base) / params.c_puct_base);
        explore_ = c * std::sqrt(total_ + 0.01f) * spread();
        first_play_ = first_play(std::min(mass, 1.0f));
    }

    float total() const { return total_; }
    float first_play() const { return first_play_; }
    float score(float prior, float weight, float utility) const { return utility + explore_ * prior / (1 + weight); }
    // The weight with which a move would have this score, 0 or more.
    float weight_for(float score, float prior, float utility) const {
        if (score <= utility) return std::numeric_limits<float>::infinity();
        return std::max(explore_ * prior / (score - utility) - 1, 0.0f);
    }
    // The same with virtual losses of what is pending, each of the lowest utility.
    float score(const EdgeStats& stats, float prior, float utility) const {
        float weight = weight_of(stats);
        if (stats.pending) {
            const float losses = static_cast<float>(stats.pending) * params_.virtual_loss;
            utility += (-utility_radius(params_) - utility) * losses / (losses + std::max(weight, 0.25f));
            weight += losses;
        }
        return score(prior, weight, utility);
    }

  private:
    // The standard deviation of the utility below the node against c_puct_stdev_prior.
    float spread() const {
        const NodeStats& stats = at_.node.stats();
        const float prior = params_.c_puct_stdev_prior, known = params_.c_puct_stdev_weight;
        if (stats.weight <= 1) return 1;
        const float squared = stats.mean.utility * stats.mean.utility;
        const float square = std::max(stats.mean.utility_square, squared);
        const float variance =
            ((squared + prior * prior) * known + square * stats.weight) / (known + stats.weight - 1) - squared;
        return 1 + params_.c_puct_stdev_scale * (std::sqrt(std::max(variance, 0.0f)) / prior - 1);
    }

    // The node's mean, blended with its own evaluation while little of the policy was tried, less a reduction.
    float first_play(float mass) const {
        const NodeStats& stats = at_.node.stats();
        const bool root = at_.root_priors;
        const float share = params_.fpu_mass_power > 0 ? std::pow(mass, params_.fpu_mass_power) : 1;
        const float parent = share * stats.mean.utility + (1 - share) * stats.own.utility;
        const float reduced = parent - (root ? params_.root_fpu_reduction : params_.fpu_reduction) * std::sqrt(mass);
        const float loss = root ? params_.root_fpu_loss : params_.fpu_loss;
        return reduced + (-utility_radius(params_) - reduced) * loss;
    }

    const SelectionContext& at_;
    const SearchParams& params_;
    float total_ = 0, explore_ = 0, first_play_ = 0;
};

// wide_root_noise: half of the moves get a bonus, and the priors are flattened.
class WideNoise {
  public:
    WideNoise(const SelectionContext& at, const SearchParams& params)
        : width_(at.root_priors ? params.wide_root_noise : 0),
          seed_(at.salt + (std::uint64_t{at.self.visits} << 20) + at.self.pending) {}

    void apply(Point move, float& prior, float& utility) const {
        if (width_ <= 0) return;
        prior = std::pow(prior, 1 / (4 * width_ + 1));
        Random random(hash64(seed_ + static_cast<std::uint64_t>(move) * SplitMix64::kStep));
        if (random.uniform() < 0.5) utility += width_ * std::abs(static_cast<float>(random.normal()));
    }

  private:
    float width_;
    std::uint64_t seed_;
};

// Root moves that cannot reach the weight needed for a choice within the plan, at their mean weight a visit.
class Futility {
  public:
    Futility(const SelectionContext& at, const SearchParams& params)
        : stop_(params.stop_futile && params.temperature == 0 && at.plan && at.plan->budget_is_exact) {
        if (!stop_) return;
        float maximum = 0;
        for (int i = 0; i < at.node.edge_count; ++i)
            if (at.prior(i) >= 0) maximum = std::max(maximum, weight_of(at.node.edges[i]));
        const NodeStats& root = at.node.stats();
        needed_ = share_to_be_chosen(params) * maximum;
        per_visit_ = root.weight / static_cast<float>(std::max(root.visits, 1u));
        left_ = static_cast<float>(at.plan->left(at.node));
        stop_ = left_ > 0;  // else the remaining visits are unknown
    }
    bool applies(const EdgeStats& stats) const {
        if (!stop_) return false;
        const auto visits = static_cast<float>(stats.visits + stats.pending);
        const float visits_per_weight = (static_cast<float>(stats.visits) + 1) / (weight_of(stats) + per_visit_);
        return visits + left_ < needed_ * visits_per_weight;
    }

  private:
    bool stop_;
    float needed_ = 0, per_visit_ = 1, left_ = 0;
};

float bonus_of(const SelectionContext& at, int edge) { return at.root_bonus ? at.root_bonus[edge] : 0; }

}  // namespace

int select_puct_katago(const SelectionContext& at, const SearchParams& params) {
    const KatagoPuct puct(at, params);
    const WideNoise noise(at, params);
    const Futility futile(at, params);
    const Node& node = at.node;
    int best = -1;
    float best_score = 0;
    const auto consider = [&](int edge, float score) {
        if (best < 0 || score > best_score) best = edge, best_score = score;
    };
    for (int i = 0; i < node.edge_count; ++i) {
        const EdgeStats& stats = node.edges[i];
        float prior = at.prior(i);
        if (prior < 0 || !at.is_open(stats) || futile.applies(stats)) continue;
        if (at.root_priors && is_visited(stats) &&
            weight_of(stats) < std::sqrt(prior * puct.total() * params.forced_playouts))
            return i;
        float utility = is_visited(stats) ? -stats.node->stats().mean.utility + bonus_of(at, i) : puct.first_play();
        noise.apply(node.moves()[i].point, prior, utility);
        consider(i, puct.score(stats, prior, utility));
    }
    if (const int next = node.edge_count; at.untried_are_open() && next < node.move_count && !futile.applies({}))
        if (float prior = at.prior(next); prior >= 0) {
            float utility = puct.first_play();
            noise.apply(node.moves()[next].point, prior, utility);
            consider(next, puct.score(prior, 0, utility));
        }
    return best;
}

int katago_best_explored(const SelectionContext& at) {
    const Node& node = at.node;
    int best = -1;
    float best_merit = 0;
    for (int i = 0; i < node.edge_count; ++i) {
        if (at.prior(i) < 0 || !is_visited(node.edges[i])) continue;
        const auto visits = static_cast<float>(node.edges[i].visits);
        const float merit =
            weight_of(node.edges[i]) * std::max(visits - 1, 0.0f) / std::max(visits, 1.0f) + 2 * at.prior(i);
        if (best < 0 || merit > best_merit) best = i, best_merit = merit;
    }
    return best;
}

std::vector<float> katago_selection_weights(const SelectionContext& at, const SearchParams& params) {
    const Node& node = at.node;
    std::vector<float> weights(node.move_count, 0.0f);
    for (int i = 0; i < node.edge_count; ++i)
        if (at.prior(i) >= 0 && is_visited(node.edges[i])) weights[i] = weight_of(node.edges[i]);
    const int best = katago_best_explored(at);
    if (best < 0 || !at.root_priors) return weights;
    // All others keep the weight that they would be given now, rounded up.
    const KatagoPuct puct(at, params);
    const auto utility = [&](int i) { return -node.edges[i].node->stats().mean.utility + bonus_of(at, i); };
    const float bar = puct.score(at.prior(best), weights[best], utility(best));
    for (int i = 0; i < node.edge_count; ++i)
        if (i != best && weights[i] > 0)
            weights[i] = std::ceil(std::min(weights[i], puct.weight_for(bar, at.prior(i), utility(i))));
    return weights;
}

void favor_lower_bound(std::vector<float>& weights, std::span<const Bound> bounds, float min_weight) {
    int best = -1;
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (weights[i] > 0 && weights[i] >= min_weight && (best < 0 || bounds[i].lower > bounds[best].lower))
            best = static_cast<int>(i);
    if (best < 0) return;
    float needed = weights[best];
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const float excess = bounds[best].lower - bounds[i].lower;
        if (static_cast<int>(i) == best || excess < 0) continue;
        const float factor = (bounds[i].radius + excess) / (bounds[i].radius + 0.2f * excess);
        needed = std::max(needed, factor * factor * weights[i]);
    }
    weights[best] = needed;
}

}  // namespace tengen
