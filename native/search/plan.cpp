#include "search/plan.h"

#include <algorithm>
#include <cmath>

namespace tengen {

void RootPlan::begin(const Node* root, int count, const SearchParams& params) {
    simulations = static_cast<std::uint32_t>(count > 0 ? count : params.planned_visits);
    budget_is_exact = count > 0;
    before = {};
    if (!root || !root->ready) {  // the first simulation is the root's own
        simulations = std::max(simulations, 2u) - 1;
        return;
    }
    for (int i = 0; i < root->edge_count; ++i) before[root->moves()[i].point] = root->edges[i].visits;
}

void RootPlan::draw(int points, const SearchParams& params, Random& random) {
    gumbel = {};
    if (params.selection != Selection::gumbel || params.gumbel_scale == 0) return;
    for (int move = 0; move <= points; ++move)
        gumbel[move] = -params.gumbel_scale * static_cast<float>(std::log(-std::log1p(-random.uniform())));
}

}  // namespace tengen
