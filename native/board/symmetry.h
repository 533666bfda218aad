// The eight symmetries of the board. Bit 0 flips rows (top-bottom), bit 1 flips columns (left-right), bit 2 transposes;
// they act in that order.
#pragma once

#include "board/types.h"

namespace tengen {

inline constexpr int kSymmetries = 8;

// Where the symmetry takes a point; pass (size * size) stays.
constexpr Point transform(Point p, int size, int symmetry) {
    if (p == size * size) return p;
    int row = p / size, column = p % size;
    if (symmetry & 1) row = size - 1 - row;
    if (symmetry & 2) column = size - 1 - column;
    return static_cast<Point>(symmetry & 4 ? column * size + row : row * size + column);
}

// The symmetry that takes every point back. Behind a transposition the two flips change places.
constexpr int inverse_symmetry(int symmetry) {
    return symmetry & 4 ? 4 | (symmetry & 1) << 1 | (symmetry & 2) >> 1 : symmetry;
}

}  // namespace tengen
