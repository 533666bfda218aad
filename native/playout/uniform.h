// Uniform random playouts: to the end of the game, and what they say about who owns what.
#pragma once

#include "board/game.h"
#include "board/random.h"

namespace tengen {

// Plays random moves for both sides until neither has one: each is drawn evenly from the moves that are legal by simple
// ko without suicide and fill no own true eye. Stops after 3 * points() moves at the latest. Returns their number.
int play_uniform(Board& board, Color to_play, SplitMix64& random);

// For each point, the playouts that ended with it Black's minus those that ended with it White's.
using Tally = std::array<std::int32_t, kMaxPoints>;
Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed);

// Stones of chains whose points the other side owned more often than not when the playouts ended, and all stones in the
// other side's pass-alive territory; never pass-alive stones.
PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed);

}  // namespace tengen
