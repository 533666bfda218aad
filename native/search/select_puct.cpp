// PUCT: one loop over the moves that were tried and the next one that was not, and a small struct for each form.
#include <algorithm>
#include <bit>
#include <cmath>

#include "board/random.h"
#include "search/choose.h"
#include "search/leaf.h"
#include "search/select.h"

namespace tengen {

namespace {

struct VisitSums {
    std::uint32_t visits = 0, pending = 0;
    float mass = 0;  // prior mass of the moves that have visits
};

VisitSums visit_sums(const SelectionContext& at) {
    VisitSums all;
    for (int i = 0; i < at.node.edge_count; ++i) {
        const EdgeStats& stats = at.node.edges[i];
        all.visits += stats.visits;
        all.pending += stats.pending;
        if (stats.visits) all.mass += std::max(at.prior(i), 0.0f);
    }
    all.mass = std::min(all.mass, 1.0f);
    return all;
}

// First-play urgency. The reduction grows with the prior mass that was tried, because the rest are moves that the
// policy dislikes.
float first_play_urgency(const SelectionContext& at, const SearchParams& params, const VisitSums& all) {
    const bool root = at.root_priors;
    const FirstPlay form = root ? params.root_fpu : params.fpu;
    if (form == FirstPlay::absolute) return root ? params.root_fpu_value : params.fpu_value;
    const float reduction = (root ? params.root_fpu_reduction : params.fpu_reduction) * std::sqrt(all.mass);
    const float parent =
        form == FirstPlay::network ? utility_of(at.node.value, at.node.score, params) : -at.self.utility;
    return parent - reduction;
}

// A move as a form of PUCT sees it. `virtual_losses`: the losses that its pending simulations count for.
struct Candidate {
    Point point;
    float prior, utility, visits, virtual_losses;
    Amaf amaf = {};
};

// The mean with the losses, or the urgency of a first play where there is none.
float mean(const Candidate& candidate, float urgency) {
    const float n = candidate.visits + candidate.virtual_losses;
    return n > 0 ? (candidate.utility * candidate.visits - candidate.virtual_losses) / n : urgency;
}

// PUCT with virtual losses that count as visits: U = explore P / (1 + n).
struct Puct {
    float explore;

    static bool draws() { return false; }
    float score(const Candidate& candidate, float urgency) const {
        return mean(candidate, urgency) +
               explore * candidate.prior / (1 + (candidate.visits + candidate.virtual_losses));
    }
};

// AlphaZero (Silver et al. 2018): c(N) P sqrt(N) / (1 + n), with c(N) growing by a logarithm; N are the parent's
// visits.
struct AlphaZero : Puct {
    AlphaZero(const SelectionContext& at, const SearchParams& params, const VisitSums&) {
        const auto visits = static_cast<float>(at.self.visits + at.self.pending);
        const float c =
            params.c_puct + params.c_puct_factor * std::log((1 + visits + params.c_puct_base) / params.c_puct_base);
        explore = c * std::sqrt(visits);
    }
};

// AlphaGo (Silver et al. 2016), AlphaGo Zero (Silver et al. 2017): c P sqrt(sum n) / (1 + n); virtual losses count as
// visits in both.
struct AlphaGo : Puct {
    AlphaGo(const SelectionContext&, const SearchParams& params, const VisitSums& all) {
        const float n = static_cast<float>(all.visits) + params.virtual_loss * static_cast<float>(all.pending);
        explore = params.c_puct * std::sqrt(n);
    }
};

// Leela Zero 0.17: c P sqrt(N ln(0.015 N + 1.7)) / (1 + n), N = sum n; virtual losses count in the mean alone.
struct LeelaZero {
    float explore;

    LeelaZero(const SelectionContext&, const SearchParams& params, const VisitSums& all) {
        const auto n = static_cast<float>(all.visits);
        explore = params.c_puct * std::sqrt(n * std::log(0.015f * n + 1.7f));
    }
    static bool draws() { return false; }
    float score(const Candidate& candidate, float urgency) const {
        return mean(candidate, urgency) + explore * candidate.prior / (1 + candidate.visits);
    }
};

// DarkForest (open version of 2016): (w + 0.5) / (n + 1) + c P sqrt(N + 1) / (n + 1) for win rates, which is u n / (n +
// 1) for utilities: each move starts with a draw, so there is no first-play urgency. Noise is drawn anew at each visit
// of the parent; of the virtual games of a move Black wins 0 to all but one, by chance and for good. They are among the
// visits N of the node that the move leads to, so that only the root has none. With rave_beta the
// all-moves-as-first mean of a move has the share sqrt(k / (N + k)) of its mean, N the parent's visits.
struct DarkForest {
    const SearchParams& params;
    float explore, games, sign, beta = 0;
    std::uint64_t position, visit;

    DarkForest(const SelectionContext& at, const SearchParams& p, const VisitSums&) : params(p) {
        const std::uint32_t n = at.self.visits + at.self.pending;
        games = static_cast<float>(p.virtual_games);
        sign = at.to_play == Color::black ? 1.0f : -1.0f;
        explore = p.c_puct * std::sqrt(static_cast<float>(n) + 1 + (at.root_priors ? 0 : games));
        if (p.rave_beta > 0) beta = std::sqrt(p.rave_beta / (static_cast<float>(n) + p.rave_beta));
        position = at.salt ^ (std::uint64_t{std::bit_cast<std::uint32_t>(at.node.value)} << 32 |
                              std::bit_cast<std::uint32_t>(at.node.score));
        visit = hash64(position + n);
    }
    static double drawn(std::uint64_t seed, Point move) { return SplitMix64(seed + move).uniform(); }
    bool draws() const { return params.virtual_games > 0 || params.puct_noise > 0 || beta > 0; }
    float score(const Candidate& candidate, float) const {
        const float n = candidate.visits + candidate.virtual_losses + games;
        float total = candidate.utility * candidate.visits - candidate.virtual_losses, noise = 0;
        if (params.virtual_games > 0)
            total += sign * (2 * std::floor(static_cast<float>(drawn(position, candidate.point)) * games) - games);
        else if (params.puct_noise > 0)
            noise = params.puct_noise * static_cast<float>(drawn(visit, candidate.point));
        float mean = total / (n + 1);
        if (candidate.amaf.visits > 0) mean += beta * (candidate.amaf.utility - mean);
        return mean + explore * candidate.prior / (n + 1) + noise;
    }
};

// Limits of root moves: visits that forced_playouts guarantees, and futile moves, which cannot be chosen any more.
class RootLimits {
  public:
    RootLimits(const SelectionContext& at, const SearchParams& params, const VisitSums& all)
        : stop_(params.stop_futile && params.temperature == 0),
          active_(at.plan && (stop_ || params.forced_playouts > 0)) {
        if (!active_) return;
        forced_scale_ = params.forced_playouts * static_cast<float>(all.visits + all.pending);
        std::uint32_t maximum = 0;
        for (int i = 0; i < at.node.edge_count; ++i)
            if (at.prior(i) >= 0) maximum = std::max(maximum, at.node.edges[i].visits + at.node.edges[i].pending);
        needed_ = share_to_be_chosen(params) * static_cast<float>(maximum);
        left_ = static_cast<float>(at.plan->left(at.node));
        stop_ = stop_ && at.plan->budget_is_exact && left_ > 0;  // else the remaining visits are unknown
    }
    bool active() const { return active_; }
    bool futile(const EdgeStats& stats) const {
        return stop_ && static_cast<float>(stats.visits + stats.pending) + left_ < needed_;
    }
    bool forced(const EdgeStats& stats, float prior) const {
        return stats.visits > 0 && static_cast<float>(stats.visits + stats.pending) < std::sqrt(forced_scale_ * prior);
    }

  private:
    bool stop_, active_;
    float forced_scale_ = 0, needed_ = 0, left_ = 0;
};

// The all-moves-as-first means of the moves, null where the rule uses none.
const Amaf* amaf_of(const SelectionContext& at, const SearchParams& params) {
    return params.has_amaf() ? at.node.amaf() : nullptr;
}

// Untried moves differ in the prior alone and are sorted by it, so that the next one is enough unless a form draws
// noise or knows more of them.
template <class Form>
int select(const SelectionContext& at, const SearchParams& params) {
    const VisitSums all = visit_sums(at);
    const Form form(at, params, all);
    const RootLimits limits(at, params, all);
    const float urgency = first_play_urgency(at, params, all);
    const MovePrior* const moves = at.node.moves();
    const Amaf* const amaf = amaf_of(at, params);
    int best = -1;
    float best_score = 0;
    const auto consider = [&](int edge, const Candidate& candidate) {
        const float score = form.score(candidate, urgency);
        if (best < 0 || score > best_score) best = edge, best_score = score;
    };
    for (int i = 0; i < at.node.edge_count; ++i) {
        const EdgeStats& stats = at.node.edges[i];
        const float prior = at.prior(i);
        if (prior < 0 || !at.is_open(stats)) continue;
        if (limits.active()) {
            if (limits.futile(stats)) continue;
            if (limits.forced(stats, prior)) return i;
        }
        const float virtual_losses = static_cast<float>(stats.pending) * params.virtual_loss;
        consider(i, {moves[i].point, prior, static_cast<float>(stats.utility), static_cast<float>(stats.visits),
                     virtual_losses, amaf ? amaf[i] : Amaf{}});
    }
    if (!at.untried_are_open() || (limits.active() && limits.futile(EdgeStats{}))) return best;
    const int next = at.node.edge_count, last = form.draws() ? at.node.move_count : next + 1;
    for (int i = next; i < std::min(last, int{at.node.move_count}); ++i)
        if (const float prior = at.prior(i); prior >= 0)
            consider(i, {moves[i].point, prior, 0, 0, 0, amaf ? amaf[i] : Amaf{}});
    return best;
}

template <class Form>
std::vector<float> target(const SelectionContext& at, const SearchParams& params) {
    std::vector<float> visits = visit_target(at, params);
    const auto best = static_cast<std::size_t>(std::max_element(visits.begin(), visits.end()) - visits.begin());
    if (params.forced_playouts <= 0 || best == visits.size() || visits[best] == 0) return visits;
    const VisitSums all = visit_sums(at);
    const Form form(at, params, all);
    const float urgency = first_play_urgency(at, params, all);
    const Amaf* const amaf = amaf_of(at, params);
    const auto score = [&](std::size_t i, float n) {
        const EdgeStats& stats = at.node.edges[i];
        const float prior = at.prior(static_cast<int>(i));
        const float utility = static_cast<float>(stats.utility);
        return form.score({at.node.moves()[i].point, prior, utility, n, 0, amaf ? amaf[i] : Amaf{}}, urgency);
    };
    const float bar = score(best, visits[best]);
    for (std::size_t i = 0; i < visits.size(); ++i) {
        if (i == best || visits[i] == 0) continue;
        const float forced =
            std::sqrt(params.forced_playouts * at.prior(static_cast<int>(i)) * static_cast<float>(all.visits));
        const float whole = visits[i], minimum = std::max(whole - std::floor(forced), 0.0f);
        while (visits[i] > minimum && score(i, visits[i] - 1) < bar) --visits[i];
        if (visits[i] < whole && visits[i] <= 1) visits[i] = 0;
    }
    return visits;
}

}  // namespace

int select_puct(const SelectionContext& at, const SearchParams& params) { return select<AlphaZero>(at, params); }
int select_puct_alphago(const SelectionContext& at, const SearchParams& params) { return select<AlphaGo>(at, params); }
int select_puct_leela_zero(const SelectionContext& at, const SearchParams& params) {
    return select<LeelaZero>(at, params);
}
int select_puct_darkforest(const SelectionContext& at, const SearchParams& params) {
    return select<DarkForest>(at, params);
}

std::vector<float> puct_target(const SelectionContext& root, const SearchParams& params) {
    return target<AlphaZero>(root, params);
}
std::vector<float> puct_alphago_target(const SelectionContext& root, const SearchParams& params) {
    return target<AlphaGo>(root, params);
}
std::vector<float> puct_leela_zero_target(const SelectionContext& root, const SearchParams& params) {
    return target<LeelaZero>(root, params);
}
std::vector<float> puct_darkforest_target(const SelectionContext& root, const SearchParams& params) {
    return target<DarkForest>(root, params);
}

}  // namespace tengen
