// The words of the board: points, colors, and sets of points.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace tengen {

using Point = std::int16_t;  // row * size + column from the top-left corner; size * size is pass

inline constexpr int kMinSize = 2;
inline constexpr int kMaxSize = TENGEN_MAX_SIZE;  // 19, or 25, which costs all sizes speed
static_assert(19 <= kMaxSize && kMaxSize <= 25);
inline constexpr int kMaxPoints = kMaxSize * kMaxSize;
inline constexpr Point kNoPoint = -1;

enum class Color : std::uint8_t { black = 0, white = 1, empty = 2 };

// The other player; empty is its own opponent.
constexpr Color opponent(Color color) { return color == Color::empty ? color : Color(std::uint8_t(color) ^ 1); }

constexpr int index(Color color) { return static_cast<int>(color); }

// A set of board points as one bit each, 384 for boards to 19x19. Points must lie in [0, kMaxPoints]; the set does not
// know the size of its board.
class PointSet {
  public:
    constexpr void add(Point p) { words_[word(p)] |= bit(p); }
    constexpr void remove(Point p) { words_[word(p)] &= ~bit(p); }
    constexpr bool contains(Point p) const { return words_[word(p)] & bit(p); }
    constexpr void clear() { words_ = {}; }

    constexpr int count() const {
        int total = 0;
        for (const auto w : words_) total += std::popcount(w);
        return total;
    }

    constexpr bool empty() const {
        std::uint64_t any = 0;
        for (const auto w : words_) any |= w;
        return any == 0;
    }

    // Smallest point of the set, or kNoPoint.
    constexpr Point first() const {
        for (int i = 0; i < kWords; ++i)
            if (words_[i]) return static_cast<Point>(i * 64 + std::countr_zero(words_[i]));
        return kNoPoint;
    }

    // Calls f(Point) in increasing order; f may change this set, the walk goes over the set as it was at each word.
    template <class F>
    constexpr void for_each(F f) const {
        for (int i = 0; i < kWords; ++i)
            for (auto w = words_[i]; w; w &= w - 1) f(static_cast<Point>(i * 64 + std::countr_zero(w)));
    }

    // A number that differs for most sets; for tables.
    constexpr std::uint64_t hash() const {
        std::uint64_t mixed = 0;
        for (const auto w : words_) {
            mixed = (mixed ^ w) * 0x9e3779b97f4a7c15ULL;
            mixed ^= mixed >> 32;
        }
        return mixed;
    }

    constexpr bool intersects(const PointSet& other) const {
        std::uint64_t any = 0;
        for (int i = 0; i < kWords; ++i) any |= words_[i] & other.words_[i];
        return any != 0;
    }

    constexpr PointSet& operator|=(const PointSet& other) {
        for (int i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
        return *this;
    }

    constexpr PointSet& operator&=(const PointSet& other) {
        for (int i = 0; i < kWords; ++i) words_[i] &= other.words_[i];
        return *this;
    }

    // The points of this set that are not in the other.
    constexpr PointSet minus(const PointSet& other) const {
        PointSet result;
        for (int i = 0; i < kWords; ++i) result.words_[i] = words_[i] & ~other.words_[i];
        return result;
    }

    friend constexpr PointSet operator|(PointSet a, const PointSet& b) { return a |= b; }
    friend constexpr PointSet operator&(PointSet a, const PointSet& b) { return a &= b; }
    friend constexpr bool operator==(const PointSet&, const PointSet&) = default;

  private:
    static constexpr int kWords = kMaxPoints / 64 + 1;
    static constexpr int word(Point p) { return static_cast<unsigned>(p) >> 6; }
    static constexpr std::uint64_t bit(Point p) { return std::uint64_t{1} << (static_cast<unsigned>(p) & 63); }

    std::array<std::uint64_t, kWords> words_{};
};

}  // namespace tengen
