// KataGo's selection of the move to play; its selection rule in the tree is select_puct_katago of select.h.
#pragma once

#include <span>
#include <vector>

#include "search/select.h"
#include "search/weights.h"

namespace tengen {

// A weight for each move of the root by which it is played, and the policy target: those of the visits, but of every
// move except the best no more than PUCT would give it in hindsight.
std::vector<float> katago_selection_weights(const SelectionContext& root, const SearchParams& params);

// Of the moves with `share` of the largest weight raises the one with the best lower bound over every move whose bound
// is lower, by how much wider that bound would have to be.
void favor_lower_bound(std::vector<float>& weights, std::span<const Bound> bounds, float share);

}  // namespace tengen
