// Encoding of positions into the input arrays of networks.
#pragma once

#include "features/plane_set.h"

namespace tengen {

// Writes the position of `context` into planes [C, edge, edge], scalars [S] and mask [edge, edge] (1 on the board);
// points off the board are 0.
void encode(const PlaneSet& set, FeatureContext& context, const Layout& layout, float* planes, float* scalars,
            float* mask);

// The same for the side to move of `game`.
void encode(const PlaneSet& set, const Game& game, int symmetry, int edge, float* planes, float* scalars, float* mask,
            const Ranks& ranks = {});

}  // namespace tengen
