// The playouts from a leaf and their value to the search.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "board/random.h"
#include "playout/policy.h"
#include "search/leaf.h"
#include "search/params.h"

namespace tengen {

// The end of a playout: the area of each color, and the outcome for Black.
struct PlayoutResult {
    PlayoutTrace trace;
    std::array<PointSet, 2> area;
    Outcome black;
};

// Plays games from one leaf after another. One a thread: the games, and the chance in them, are its own.
class LeafPlayouts {
  public:
    LeafPlayouts(const SearchParams& params, std::uint64_t seed);

    // Plays params.playouts games on from the leaf; their mean for the side to move there.
    Outcome play(const Game& leaf);
    // Komi for the value of all playouts to come, not for their score.
    void add_komi(float points) { added_komi_ = points; }
    void shuffle(std::span<Point> moves);

    // Of the last play().
    std::span<const PlayoutResult> ends() const { return ends_; }

  private:
    void play_one(const Game& leaf, PlayoutResult& end);

    float slope_, decay_, added_komi_ = 0;
    std::shared_ptr<const PlayoutPolicy> policy_;
    SplitMix64 random_;
    Board board_;  // kept for its memory
    std::vector<PlayoutResult> ends_;
};

}  // namespace tengen
