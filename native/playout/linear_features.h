// What the linear playout policy sees of a move: sparse features, each with its place in one table of weights.
//
// In the manner of AlphaGo's rollout policy (Silver et al. 2016, extended data table 4) and of Coulom's move patterns
// (2007), with wider patterns. Everything is seen from the side to move and does not change under the eight symmetries.
#pragma once

#include <span>
#include <string_view>

#include "board/board.h"

namespace tengen {

using Feature = std::uint32_t;

// The groups of features, in the order of the table. Patterns and shapes are hashed, so that rare ones may share a
// weight; the others have exactly as many as there are.
struct FeatureGroup {
    std::string_view name;
    Feature first, count;
};

inline constexpr int kOffsets = 19 * 20 / 2;       // two distances on a 19x19 board, the larger first
inline constexpr int kPlaces = 10 * 11 / 2;        // distances to the nearer edges, up to 9
inline constexpr int kStages = 10;                 // twelfths of the board that hold stones; the last is open
inline constexpr int kFollows = 12;                // 3 classes of liberties * 4 of the distance of the last two moves
inline constexpr int kReplies = kFollows * 5 * 4;  // * line of the last move * how it touches the side to move
inline constexpr int kTactics = 6;

// Of a move, whatever was played before: the stones around it at three ranges, with the liberties (1, 2, 3 or more) of
// the chains beside it.
inline constexpr FeatureGroup kPattern8{"pattern 3x3", 0, 1 << 16};
inline constexpr FeatureGroup kPattern12{"pattern 12-point", kPattern8.first + kPattern8.count, 1 << 17};
inline constexpr FeatureGroup kPattern28{"pattern 28-point", kPattern12.first + kPattern12.count, 1 << 18};
inline constexpr FeatureGroup kPlace{"place and stage", kPattern28.first + kPattern28.count, kPlaces* kStages};
// Of a move after the last one and the one before it: where it lies from them.
inline constexpr FeatureGroup kReply{"from the last move", kPlace.first + kPlace.count, kOffsets* kReplies};
inline constexpr FeatureGroup kFollow{"from the move before", kReply.first + kReply.count, kOffsets* kFollows};
// Of few moves: within the 12-point pattern around the last move; in an eye space of 3 to 6 points beside it; saves
// from and uses of an atari.
inline constexpr FeatureGroup kResponse{"response", kFollow.first + kFollow.count, 1 << 16};
inline constexpr FeatureGroup kNakade{"nakade", kResponse.first + kResponse.count, 1 << 13};
inline constexpr FeatureGroup kTactic{"save from atari", kNakade.first + kNakade.count, kTactics};
inline constexpr Feature kFeatures = kTactic.first + kTactic.count;

std::span<const FeatureGroup> feature_groups();

// The index among kOffsets of how far two points are apart on a board of `size`, and among kPlaces of where one lies.
int offset_index(int rows, int columns);  // distances; above 18 they count as 18
int place_index(Point p, int size);
int stage(const Board& board);

// What the last two moves (points, or kNoPoint for none and for passes) are to the side to move.
struct Situation {
    Situation(const Board& board, Color side, Point last, Point before);

    Point last, before;
    int reply = 0, follow = 0;  // which weights of kReply and kFollow apply

    Feature reply_feature(int offset) const { return kReply.first + reply * kOffsets + offset; }
    Feature follow_feature(int offset) const { return kFollow.first + follow * kOffsets + offset; }
};

struct LocalFeature {
    Point point;
    Feature feature;
};

// A short list without heap.
class LocalFeatures {
  public:
    void add(Point point, Feature feature) {
        if (count_ < kMost) items_[count_++] = {point, feature};
    }
    std::span<const LocalFeature> span() const { return {items_.data(), static_cast<std::size_t>(count_)}; }

  private:
    static constexpr int kMost = 96;
    std::array<LocalFeature, kMost> items_;
    int count_ = 0;
};

// Adds the features kNakade and kTactic. A point may be named that cannot be played; one may be named more than once.
void add_tactics(const Board& board, Color side, const Situation& now, LocalFeatures& found);

}  // namespace tengen
