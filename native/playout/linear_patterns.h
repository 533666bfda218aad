// The patterns around every point of a board as keys that no symmetry changes, kept up to date from move to move.
#pragma once

#include "playout/linear_features.h"

namespace tengen {

// Eight words, one for each symmetry: a pattern turned or mirrored has the same words in another order, so their least
// is a key for all eight (as in Zobrist 1970, once for each symmetry).
using SymmetricKey = std::array<std::uint32_t, 8>;

// A key of the shape of `region` as seen from its point p; `walls` is mixed in.
std::uint32_t shape_key(const PointSet& region, Point p, int size, int walls);

// The three nested patterns around an empty point, as features.
struct PatternFeatures {
    Feature pattern8, pattern12, pattern28;
    friend bool operator==(const PatternFeatures&, const PatternFeatures&) = default;
};

class LinearPatterns {
  public:
    explicit LinearPatterns(const Board& board);

    // Plays a move on the board (which must be the one that this object has followed) and keeps up.
    void play(Board& board, Point p, Color color);

    // Calls f(Point) for every point whose patterns or playability may have changed for `side` since it was last asked,
    // at first for all; occupied points among them.
    template <class F>
    void refresh(Color side, F f) {
        stale_[index(side)].for_each(f);
        stale_[index(side)].clear();
    }

    PatternFeatures at(const Board& board, Point p, Color side) const;

    // Adds the features kResponse of the points around `last`.
    void add_response(const Board& board, Color side, Point last, LocalFeatures& found) const;

  private:
    static constexpr int kRanges = 3;
    // Words as Black and as White sees it.
    struct alignas(64) Keys {
        std::array<SymmetricKey, 2> seen_by{};
    };
    struct Constants;
    struct Reach;
    static const Constants& constants();
    static const Reach& reach(int size);

    void toggle(Point p, Color color);
    SymmetricKey with_liberties(const Board& board, Point p, Color side) const;

    const Constants* constants_;
    const Reach* reach_;
    std::array<PointSet, 2> stale_;
    std::array<std::array<Keys, kMaxPoints>, kRanges> keys_;
};

}  // namespace tengen
