// Where the positions of many searches go, row by row, when threads fill parts of it at once.
#pragma once

#include <span>
#include <vector>

#include "features/plane_set.h"

namespace tengen {

// Arrays that a gather fills: planes [rows, C, edge, edge], scalars [rows, S] and mask [rows, edge, edge].
struct LeafArrays {
    float *planes, *scalars, *mask;

    // The arrays from a row on.
    LeafArrays from(const PlaneSet& set, int edge, int row) const;
};

// Games that one thread takes one after another, and the rows that they have.
struct GameRange {
    int begin, end;
    int first_row = 0, rows = 0;
};

// `games` in runs of about the same length. More runs than threads, so that a thread with easy games takes over from
// one with hard ones; few, because every run but the first may have to be moved.
std::vector<GameRange> make_game_ranges(int games, int threads);

// Moves every run up to the one before; returns the number of rows.
int compact_rows(std::span<const GameRange> ranges, const PlaneSet& set, int edge, const LeafArrays& out);

}  // namespace tengen
