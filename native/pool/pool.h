// Many searches at once: one batch of positions from all of them goes out, one batch of results comes back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pool/leaf_arrays.h"
#include "pool/workers.h"
#include "search/search.h"

namespace tengen {

// The searches are independent: each finds what it would find alone, whatever else is in the pool and however many
// threads there are, as long as a result depends on its own row alone. Boards may differ in size.
class SearchPool {
  public:
    // A search for each seed. Throws std::invalid_argument without seeds, for fewer than one thread, and as Search
    // does.
    SearchPool(const SearchParams& params, std::span<const std::uint64_t> seeds, int threads = 1);

    int games() const { return static_cast<int>(searches_.size()); }
    int threads() const { return workers_.threads(); }
    // For its root and for what it found. Not to be changed while its leaves wait.
    Search& search(int game) { return *searches_[game]; }
    const Search& search(int game) const { return *searches_[game]; }

    // Up to limits[i] simulations of search i, as in Search::gather; with limit 0 a search rests. The rows lie in the
    // order of the games without gaps; the arrays need as many as the limits sum to. Returns the number of rows that
    // wait. Throws std::invalid_argument unless there is a limit of 0 or more for each game and `edge` holds the board
    // of each that does not rest, std::logic_error if one of these has no root or waits already; then none waits.
    int gather(const PlaneSet& set, int edge, std::span<const int> limits, const LeafArrays& out);

    // The results for all rows, in their order. Throws std::logic_error when their number differs, and
    // std::invalid_argument when a result is not finite: then the leaves of such a game still wait, those of all others
    // have been counted.
    void scatter(const LeafResults& results, int edge);

    void forget_waiting();
    int waiting() const;

  private:
    void check(int edge, std::span<const int> limits) const;
    int fill(const PlaneSet& set, int edge, std::span<const int> limits, const LeafArrays& out, const GameRange& range);
    void take(const GameRange& range, const LeafResults& results, int edge);

    std::vector<std::unique_ptr<Search>> searches_;
    std::vector<GameRange> ranges_;
    Workers workers_;
};

}  // namespace tengen
