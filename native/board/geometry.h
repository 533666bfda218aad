// Which points touch which: one immutable table a board size.
#pragma once

#include <span>

#include "board/types.h"

namespace tengen {

struct Geometry {
    explicit Geometry(int size);

    struct Points {
        std::array<Point, 4> at;
        std::uint8_t count = 0;
        std::span<const Point> span() const { return {at.data(), count}; }
    };

    int size;
    int points;  // size * size
    std::array<Points, kMaxPoints> neighbors;
    std::array<Points, kMaxPoints> diagonals;
    std::array<PointSet, kMaxPoints> neighbor_sets;
    PointSet all, border;  // of the board, of its first line
};

// The table of a size; lives for ever. Throws std::invalid_argument unless kMinSize <= size <= kMaxSize.
const Geometry& geometry(int size);

}  // namespace tengen
