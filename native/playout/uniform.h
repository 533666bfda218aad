// Uniform random playouts.
#pragma once

#include "playout/policy.h"

namespace tengen {

// Random moves for both sides until neither has one: each is drawn evenly from the moves that are legal by simple ko
// without suicide and fill no own true eye.
class UniformPolicy final : public PlayoutPolicy {
  public:
    int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
             PlayoutTrace* trace) const override;
};

}  // namespace tengen
