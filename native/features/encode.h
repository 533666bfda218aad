// Positions into the arrays that networks read.
#pragma once

#include "features/plane_set.h"

namespace tengen {

// Where the points of a board of `size`, turned by `symmetry`, lie in a row-major tensor of `edge` >= size: at its
// top-left. This is also the policy index of a point; pass is edge * edge.
class Layout {
  public:
    Layout(int size, int symmetry, int edge);
    int points() const { return points_; }
    int edge() const { return edge_; }
    int operator[](Point p) const { return at_[p]; }
    int policy_index(Point p) const { return p == points_ ? edge_ * edge_ : at_[p]; }

  private:
    int points_, edge_;
    std::array<std::int16_t, kMaxPoints> at_;
};

// Writes the position of `context` into planes [C, edge, edge], scalars [S] and mask [edge, edge] (1 on the board);
// what lies off the board is 0.
void encode(const PlaneSet& set, FeatureContext& context, const Layout& layout, float* planes, float* scalars,
            float* mask);

// The same for the side to move of `game`.
void encode(const PlaneSet& set, const Game& game, int symmetry, int edge, float* planes, float* scalars, float* mask);

}  // namespace tengen
