// Random playouts that see what is beside the last move.
#pragma once

#include "board/board.h"
#include "board/random.h"

namespace tengen {

// As play_uniform(), but a side first captures the chain that has just put itself into atari, or saves an own chain
// that the last move put into atari (by a capture, or by an extension to two liberties), and draws again, up to
// three times, rather than play itself into atari.
int play_local(Board& board, Color to_play, SplitMix64& random);

}  // namespace tengen
