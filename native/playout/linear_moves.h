// The weights of all moves of a position under the linear policy, kept up to date from move to move.
#pragma once

#include "board/random.h"
#include "playout/linear_patterns.h"
#include "playout/linear_weights.h"

namespace tengen {

// Follows one board. A move weighs e to the sum of its features' weights; what is illegal by simple ko, a suicide or
// fills an own true eye weighs 0.
class LinearMoves {
  public:
    // `last` and `before` are the last move and the one before it, kNoPoint where there is none; the weights must live
    // as long as this.
    LinearMoves(const LinearWeights& weights, const Board& board, Point last, Point before);

    void play(Board& board, Point p, Color color);

    // Draws a move by its weight to this power; pass if all weights are 0.
    Point draw(const Board& board, Color side, SplitMix64& random, float power = 1);

    // The weights of all points for the side, valid until the next call of any method.
    void weigh(const Board& board, Color side);
    float weight(Point p) const { return product_[cell(p)]; }

  private:
    static constexpr int kStride = kMaxSize <= 24 ? 24 : 32;  // of a row: points and zeros, a whole number of vectors
    static constexpr std::int16_t kNever = INT16_MIN;

    int cell(Point p) const { return cells_[p]; }
    void set_stage(const Board& board);
    void refresh(const Board& board, Color side);
    void raise(float power);
    template <int kColumns>
    void multiply(const Board& board, Color side, const Situation& now);

    const LinearWeights* weights_;
    LinearPatterns patterns_;
    Point last_, before_;
    int stage_ = -1;
    std::array<std::int16_t, kMaxPoints> cells_;
    std::array<std::uint8_t, kMaxPoints> places_;
    std::array<std::array<std::int16_t, kMaxPoints>, 2> pattern_steps_;  // kNever where not playable
    std::array<std::array<float, kMaxSize * kStride>, 2> standing_{};    // patterns and places, by cell
    std::array<float, kMaxSize * kStride> product_{};
};

}  // namespace tengen
