// KataGo's selection of the move to play; its selection rule in the tree is select_puct_katago of select.h.
#pragma once

#include <span>
#include <vector>

#include "search/select.h"
#include "search/weights.h"

namespace tengen {

// The edge with the largest weight, less that of one visit because the last may count too much, and with a little of
// the prior; -1 where none was visited.
int katago_best_explored(const SelectionContext& at);

// A weight for each move by which it is played, and of the root the policy target: those of the visits, but of every
// move of the root except the best explored no more than PUCT would give it in hindsight.
std::vector<float> katago_selection_weights(const SelectionContext& at, const SearchParams& params);

// Of the moves with the weight `min_weight` raises the one with the best lower bound over every move whose bound
// is lower, by how much wider that bound would have to be.
void favor_lower_bound(std::vector<float>& weights, std::span<const Bound> bounds, float min_weight);

}  // namespace tengen
