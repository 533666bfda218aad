// What a search may expect of each move before it has looked at one.
#pragma once

#include "playout/policy.h"
#include "playout/tactics.h"

namespace tengen {

class Neighborhoods;

// Factors of a move's weight; a move of which nothing is known has 1. Derived from the priors of Michi as odds of a
// win: w wins in n trials before the first visit are w / (n - w).
struct PriorWeights {
    float capture = 4, big_capture = 7;        // of one stone; of more
    float capture_last = 2;                    // of the chain that the last move put into atari, besides
    float save = 4;                            // of a chain in atari
    float atari = 1.5f;                        // on a chain with two liberties
    float self_atari = 0.33f;                  // that captures nothing
    float pattern = 3;                         // a 3x3 pattern beside the last move
    std::array<float, 3> near = {6, 5, 2.5f};  // one, two, three steps from the last move, chains counted as points
    float empty_low = 0.33f, empty_high = 3;   // no stone within three steps: lines 1 and 2; lines 3 and 4
    float eye = 0.01f;                         // filling an own true eye
    float pass = 0.05f;
};

// The weights of one position.
class LocalPrior {
  public:
    LocalPrior(const Board& board, Color color, std::span<const Move> before);
    float weight(Point p) const;  // of a legal move or pass

  private:
    void read_chains();
    float region(Point p) const;

    const Board& board_;
    const Color color_;
    const Neighborhoods& around_;
    PriorWeights weights_;
    Point capture_last_ = kNoPoint;
    PointSet captures_, saves_, ataris_, beside_last_;
    std::array<PointSet, 3> steps_;  // the points that are one, two and three steps from the last move
};

}  // namespace tengen
