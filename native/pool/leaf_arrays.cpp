#include "pool/leaf_arrays.h"

#include <algorithm>

namespace tengen {

namespace {

constexpr int kRunsPerThread = 4;

void move_rows(float* array, std::size_t width, int from, int to, int rows) {
    std::copy(array + from * width, array + (from + rows) * width, array + to * width);
}

}  // namespace

LeafArrays LeafArrays::from(const PlaneSet& set, int edge, int row) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge, skipped = row;
    return {planes + skipped * set.planes.size() * area, scalars + skipped * set.scalars.size(), mask + skipped * area};
}

std::vector<Run> make_runs(int games, int threads) {
    std::vector<Run> runs;
    const int count = threads == 1 ? 1 : std::min(games, kRunsPerThread * threads);
    for (int i = 0; i < count; ++i) runs.push_back({games * i / count, games * (i + 1) / count});
    return runs;
}

int close_gaps(std::span<const Run> runs, const PlaneSet& set, int edge, const LeafArrays& out) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    int end = 0;
    for (const Run& run : runs) {
        if (run.first_row != end && run.rows) {
            move_rows(out.planes, set.planes.size() * area, run.first_row, end, run.rows);
            move_rows(out.scalars, set.scalars.size(), run.first_row, end, run.rows);
            move_rows(out.mask, area, run.first_row, end, run.rows);
        }
        end += run.rows;
    }
    return end;
}

}  // namespace tengen
