#include "pool/pool.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace tengen {

SearchPool::SearchPool(const SearchParams& params, std::span<const std::uint64_t> seeds, int threads)
    : workers_(threads) {
    if (seeds.empty()) throw std::invalid_argument("a pool needs at least one game");
    for (const auto seed : seeds) searches_.push_back(std::make_unique<Search>(params, seed));
    ranges_ = make_game_ranges(games(), threads);
}

int SearchPool::gather(const PlaneSet& set, int edge, std::span<const int> limits, const LeafArrays& out) {
    check(edge, limits);
    int row = 0;
    for (GameRange& range : ranges_) {
        range.first_row = row;
        for (int i = range.begin; i < range.end; ++i) row += limits[i];
    }
    try {
        workers_.run(static_cast<int>(ranges_.size()),
                     [&](int i) { ranges_[i].rows = fill(set, edge, limits, out, ranges_[i]); });
    } catch (...) {
        forget_waiting();
        throw;
    }
    return compact_rows(ranges_, set, edge, out);
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
                     const GameRange& range) {
    int row = range.first_row;
    for (int i = range.begin; i < range.end; ++i) {
        if (limits[i] == 0) continue;
        const auto [planes, scalars, mask] = out.from(set, edge, row);
        row += searches_[i]->gather(set, edge, planes, scalars, mask, limits[i]);
    }
    return row - range.first_row;
}

void SearchPool::scatter(const LeafResults& results, int edge) {
    int row = 0;
    for (GameRange& range : ranges_) {
        range.first_row = row;
        for (int i = range.begin; i < range.end; ++i) row += searches_[i]->waiting();
        range.rows = row - range.first_row;
    }
    results.check(row, edge);
    workers_.run(static_cast<int>(ranges_.size()), [&](int i) { take(ranges_[i], results, edge); });
}

void SearchPool::take(const GameRange& range, const LeafResults& results, int edge) {
    std::size_t row = range.first_row;
    std::exception_ptr failure;
    for (int i = range.begin; i < range.end; ++i) {
        const std::size_t n = searches_[i]->waiting();
        if (n == 0) continue;
        try {
            searches_[i]->scatter(results.rows(row, n), edge);
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
