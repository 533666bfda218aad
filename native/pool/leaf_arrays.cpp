#include "pool/leaf_arrays.h"

#include <algorithm>

namespace tengen {

namespace {

constexpr int kRangesPerThread = 4;

void move_rows(float* array, std::size_t width, int from, int to, int rows) {
    std::copy(array + from * width, array + (from + rows) * width, array + to * width);
}

}  // namespace

LeafArrays LeafArrays::from(const PlaneSet& set, int edge, int row) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge, skipped = row;
    return {planes + skipped * set.planes.size() * area, scalars + skipped * set.scalars.size(), mask + skipped * area};
}

std::vector<GameRange> make_game_ranges(int games, int threads) {
    std::vector<GameRange> ranges;
    const int count = threads == 1 ? 1 : std::min(games, kRangesPerThread * threads);
    for (int i = 0; i < count; ++i) ranges.push_back({games * i / count, games * (i + 1) / count});
    return ranges;
}

int compact_rows(std::span<const GameRange> ranges, const PlaneSet& set, int edge, const LeafArrays& out) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    int end = 0;
    for (const GameRange& range : ranges) {
        if (range.first_row != end && range.rows) {
            move_rows(out.planes, set.planes.size() * area, range.first_row, end, range.rows);
            move_rows(out.scalars, set.scalars.size(), range.first_row, end, range.rows);
            move_rows(out.mask, area, range.first_row, end, range.rows);
        }
        end += range.rows;
    }
    return end;
}

}  // namespace tengen
