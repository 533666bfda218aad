// Uniform random playouts.
#pragma once

#include "board/board.h"
#include "board/random.h"

namespace tengen {

// Plays random moves for both sides until neither has one: each is drawn evenly from the moves that are legal by simple
// ko without suicide and fill no own true eye. Stops after 3 * points() moves at the latest. Returns their number.
int play_uniform(Board& board, Color to_play, SplitMix64& random);

}  // namespace tengen
