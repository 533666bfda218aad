// What playouts say about who owns what.
#pragma once

#include "board/game.h"

namespace tengen {

// For each point, the local playouts that ended with it Black's minus those that ended with it White's.
using Tally = std::array<std::int32_t, kMaxPoints>;
Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed);

// Stones of chains whose points the other side owned more often than not when the playouts ended, and all stones in the
// other side's pass-alive territory; never pass-alive stones.
PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed);

}  // namespace tengen
