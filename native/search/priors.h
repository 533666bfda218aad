// The priors of a node, and which of its moves it keeps.
#pragma once

#include <span>

#include "features/encode.h"
#include "search/params.h"
#include "search/tree.h"

namespace tengen {

// Both give the edges priors of sum 1 and put them into falling order; the priors are equal where nothing has weight.
// From a policy over the points of `layout` and pass to the power 1 / `temperature`; what it gives to illegal moves is
// dropped. Without an entry for pass its prior is 0.
void set_priors_from_policy(Node& node, std::span<const float> policy, const Layout& layout, float temperature);
// From weights, one an edge.
// Replaces the priors of a node that may have edges; the order of its moves stays.
void replace_priors(Node& node, std::span<const float> policy, const Layout& layout, float temperature);

void set_priors_from_weights(Node& node, std::span<const float> weights);

// Keeps the moves that the params' candidates leave, with priors of sum 1. For a new node in order, on a board of
// `points` after `moves` moves of the game.
void cut_candidates(Tree& tree, Node& node, const SearchParams& params, int points, std::size_t moves);

}  // namespace tengen
