// Random playouts that see what is beside the last move.
#pragma once

#include "playout/policy.h"

namespace tengen {

// How often LocalPolicy follows each of its rules: chances from 0 (never) to 1 (always).
struct LocalParams {
    float capture = 0.95f;        // take the chain that has just put itself into atari
    float save = 0.95f;           // save the own chains that the last move put into atari
    float pattern = 0.9f;         // a 3x3 pattern around the last move
    float refuse_self_atari = 1;  // of a move at random
    int ladder_nodes = 20;        // read so far whether an extension to two liberties ends in a ladder; 0: it does not
};

// As UniformPolicy, but a side first looks for an answer to the last move, in the order of LocalParams, and does not
// play itself into atari when it moves at random, unless that captures or breaks an eye.
class LocalPolicy final : public PlayoutPolicy {
  public:
    explicit LocalPolicy(const LocalParams& params = {}) : params_(params) {}

    int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
             PlayoutTrace* trace) const override;
    void weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
               std::span<float> weights) const override;
    // The move that a playout would start with, or pass. The board comes back as it was.
    Point choose(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random) const;

  private:
    LocalParams params_;
};

}  // namespace tengen
