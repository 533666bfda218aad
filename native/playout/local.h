// Random playouts that see what is beside the last move.
#pragma once

#include "playout/policy.h"

namespace tengen {

// As UniformPolicy, but a side first captures the chain that has just put itself into atari, or saves an own chain
// that the last move put into atari (by a capture, or by an extension to two liberties), and draws again, up to
// three times, rather than play itself into atari.
class LocalPolicy final : public PlayoutPolicy {
  public:
    int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
             PlayoutTrace* trace) const override;
};

}  // namespace tengen
