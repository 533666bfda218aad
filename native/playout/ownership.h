// What playouts say about who owns what.
#pragma once

#include "board/game.h"

namespace tengen {

// What each color has on a board that was played out: its stones, and the empty points that only it touches.
std::array<PointSet, 2> final_area(const Board& board);

// For each point, the local playouts that ended with it Black's minus those that ended with it White's.
using Tally = std::array<std::int32_t, kMaxPoints>;
Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed);

// Stones of chains whose points the other side owned more often than not when the playouts ended, and all stones in the
// other side's pass-alive territory; never pass-alive stones, and no stones in a seki that is proven or that their
// owner keeps in more than 30% of the playouts.
PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed);

}  // namespace tengen
