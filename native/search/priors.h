// The priors of a node, and which of its moves it keeps.
#pragma once

#include <cmath>
#include <span>

#include "features/encode.h"
#include "search/params.h"
#include "search/tree.h"

namespace tengen {

// Both give the edges priors of sum 1 and put them into falling order; the priors are equal where nothing has weight.
// From a policy over the points of `layout` and pass to the power 1 / `temperature`; what it gives to illegal moves is
// dropped, and with `raw` missing in the sum. Without an entry for pass its prior is 0.
void set_priors_from_policy(Node& node, std::span<const float> policy, const Layout& layout, float temperature,
                            bool raw = false);
// From weights, one an edge.
void set_priors_from_weights(Node& node, std::span<const float> weights);

// Replaces the priors of a node that may have edges by those of a policy; the order of its moves stays.
void replace_priors(Node& node, std::span<const float> policy, const Layout& layout, float temperature,
                    bool raw = false);

// `p` to the power 1 / `temperature`, in units of the `largest` so that a low temperature leaves more than zeros.
inline float tempered(float p, float largest, float temperature) {
    return temperature == 1 || largest <= 0 ? p : std::pow(p / largest, 1 / temperature);
}

// Keeps the moves that the params' candidates leave and the move `beside`, if it is there, with the sum of the priors
// as it was, or with raw_priors with the priors themselves. For a new node in order, on a board of `points` after
// `moves` moves of the game.
void cut_candidates(Tree& tree, Node& node, const SearchParams& params, int points, std::size_t moves,
                    Point beside = kNoPoint);

}  // namespace tengen
