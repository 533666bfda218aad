#include "pool/pool.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

namespace tengen {

namespace {

// More runs than threads, so that a thread with easy games takes over from one with hard ones; few, because every run
// but the first may have to be moved.
constexpr int kRunsPerThread = 4;

void move_rows(float* array, std::size_t width, int from, int to, int rows) {
    std::copy(array + from * width, array + (from + rows) * width, array + to * width);
}

}  // namespace

SearchPool::SearchPool(const SearchParams& params, std::span<const std::uint64_t> seeds, int threads)
    : workers_(threads) {
    if (seeds.empty()) throw std::invalid_argument("a pool needs at least one game");
    for (const auto seed : seeds) searches_.push_back(std::make_unique<Search>(params, seed));
    const int count = threads == 1 ? 1 : std::min(games(), kRunsPerThread * threads);
    for (int i = 0; i < count; ++i) runs_.push_back({games() * i / count, games() * (i + 1) / count, 0, 0});
}

int SearchPool::gather(const PlaneSet& set, int edge, std::span<const int> limits, const LeafArrays& out) {
    check(edge, limits);
    int row = 0;
    for (Run& run : runs_) {
        run.first_row = row;
        for (int i = run.begin; i < run.end; ++i) row += limits[i];
    }
    try {
        workers_.run(static_cast<int>(runs_.size()),
                     [&](int i) { runs_[i].rows = fill(set, edge, limits, out, runs_[i]); });
    } catch (...) {
        forget_waiting();
        throw;
    }
    return close_gaps(set, edge, out);
}

void SearchPool::check(int edge, std::span<const int> limits) const {
    if (static_cast<int>(limits.size()) != games())
        throw std::invalid_argument("a pool of " + std::to_string(games()) + " games needs as many limits, not " +
                                    std::to_string(limits.size()));
    for (int i = 0; i < games(); ++i) {
        const std::string name = "game " + std::to_string(i);
        if (limits[i] < 0) throw std::invalid_argument(name + " has a limit of " + std::to_string(limits[i]));
        if (searches_[i]->waiting()) throw std::logic_error(name + " still waits for the results of the last gather");
        if (limits[i] == 0) continue;
        if (const int size = searches_[i]->game().board().size(); size > edge)
            throw std::invalid_argument(name + " has a board of " + std::to_string(size) +
                                        ", too large for arrays of edge " + std::to_string(edge));
    }
}

int SearchPool::fill(const PlaneSet& set, int edge, std::span<const int> limits, const LeafArrays& out,
                     const Run& run) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    std::size_t row = run.first_row;
    for (int i = run.begin; i < run.end; ++i) {
        if (limits[i] == 0) continue;
        row += searches_[i]->gather(set, edge, out.planes + row * set.planes.size() * area,
                                    out.scalars + row * set.scalars.size(), out.mask + row * area, limits[i]);
    }
    return static_cast<int>(row) - run.first_row;
}

// Moves every run up to the one before; returns the number of rows.
int SearchPool::close_gaps(const PlaneSet& set, int edge, const LeafArrays& out) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    int end = 0;
    for (const Run& run : runs_) {
        if (run.first_row != end && run.rows) {
            move_rows(out.planes, set.planes.size() * area, run.first_row, end, run.rows);
            move_rows(out.scalars, set.scalars.size(), run.first_row, end, run.rows);
            move_rows(out.mask, area, run.first_row, end, run.rows);
        }
        end += run.rows;
    }
    return end;
}

void SearchPool::scatter(const LeafResults& results, int edge) {
    int row = 0;
    for (Run& run : runs_) {
        run.first_row = row;
        for (int i = run.begin; i < run.end; ++i) row += searches_[i]->waiting();
        run.rows = row - run.first_row;
    }
    const std::size_t n = row, area = static_cast<std::size_t>(edge) * edge;
    if (results.value.size() != n || results.score.size() != n || results.policy.size() != n * (area + 1) ||
        results.ownership.size() != n * area)
        throw std::logic_error(std::to_string(n) + " leaves wait, results came for " +
                               std::to_string(results.value.size()));
    workers_.run(static_cast<int>(runs_.size()), [&](int i) { take(runs_[i], results, edge); });
}

void SearchPool::take(const Run& run, const LeafResults& results, int edge) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    std::size_t row = run.first_row;
    std::exception_ptr failure;
    for (int i = run.begin; i < run.end; ++i) {
        const std::size_t n = searches_[i]->waiting();
        if (n == 0) continue;
        try {
            searches_[i]->scatter(
                {results.policy.subspan(row * (area + 1), n * (area + 1)), results.value.subspan(row, n),
                 results.score.subspan(row, n), results.ownership.subspan(row * area, n * area)},
                edge);
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
        row += n;
    }
    if (failure) std::rethrow_exception(failure);
}

void SearchPool::forget_waiting() {
    for (const auto& search : searches_) search->forget_waiting();
}

int SearchPool::waiting() const {
    int total = 0;
    for (const auto& search : searches_) total += search->waiting();
    return total;
}

}  // namespace tengen
