// Selection for searches that rest on playouts: UCT, and UCT with all-moves-as-first means.
#include <algorithm>
#include <cmath>

#include "search/select.h"

namespace tengen {

int select_uct(const SelectionContext& at, const SearchParams& params) {
    const Node& node = at.node;
    if (const int next = node.edge_count; at.untried_are_open() && next < node.move_count && at.prior(next) >= 0)
        return next;
    const float logarithm = std::log(static_cast<float>(std::max(at.self.visits + at.self.pending, 1u)));
    int best = -1;
    float best_score = 0;
    for (int i = 0; i < node.edge_count; ++i) {
        const EdgeStats& stats = node.edges[i];
        if (at.prior(i) < 0 || !at.is_open(stats)) continue;
        const auto visits = static_cast<float>(stats.visits);
        const float lost = static_cast<float>(stats.pending) * params.virtual_loss, n = visits + lost;
        if (n == 0) return i;
        const float score = (stats.utility * visits - lost) / n + params.uct_exploration * std::sqrt(logarithm / n);
        if (best < 0 || score > best_score) best = i, best_score = score;
    }
    return best;
}

// Every move has its all-moves-as-first mean, so that all moves are compared, tried or not. One visit of the parent's
// own mean is added, so that a move without any statistics has the value of its parent.
int select_rave(const SelectionContext& at, const SearchParams& params) {
    const Node& node = at.node;
    const Amaf* const amaf = node.amaf();
    const float explore = params.rave_exploration * std::sqrt(static_cast<float>(at.self.visits + at.self.pending + 1));
    const float parent = -at.self.utility, equivalence = params.rave_equivalence;
    int best = -1;
    float best_score = 0;
    for (int i = 0, tried = node.edge_count; i < node.move_count; ++i) {
        if (i >= tried && !at.untried_are_open()) break;
        const float prior = at.prior(i);
        if (prior < 0) continue;
        float n = 0, sum = 0;
        if (i < tried) {
            const EdgeStats& stats = node.edges[i];
            if (!at.is_open(stats)) continue;
            const float lost = static_cast<float>(stats.pending) * params.virtual_loss;
            n = static_cast<float>(stats.visits) + lost;
            sum = stats.utility * static_cast<float>(stats.visits) - lost;
        }
        const float weight = amaf[i].visits * equivalence / (amaf[i].visits + equivalence);
        const float mean = (sum + weight * amaf[i].utility + parent) / (n + weight + 1);
        const float score = mean + explore * prior / (n + 1);
        if (best < 0 || score > best_score) best = i, best_score = score;
    }
    return best;
}

}  // namespace tengen
