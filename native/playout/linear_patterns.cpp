#include "playout/linear_patterns.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "board/random.h"
#include "board/symmetry.h"

namespace tengen {

namespace {

constexpr int kNear = 28;  // points of the widest pattern
constexpr int kReachSteps = 3;
constexpr int kShapeSteps = 5;
constexpr int kWidth = 2 * kShapeSteps + 1;

struct Step {
    int down, right;
    int length() const {  // of Stern, Herbrich and Graepel's nested patterns: 2 and 3 are the eight points around
        return std::abs(down) + std::abs(right) + std::max(std::abs(down), std::abs(right));
    }
    int index() const { return (down + kShapeSteps) * kWidth + right + kShapeSteps; }
    bool operator==(const Step&) const = default;
};

Step turned(Step step, int symmetry) {
    if (symmetry & 1) step.down = -step.down;
    if (symmetry & 2) step.right = -step.right;
    if (symmetry & 4) std::swap(step.down, step.right);
    return step;
}

// The eight points around, then those of the 12-point diamond, then the rest of the 28; the four neighbours first.
std::vector<Step> near_steps() {
    std::vector<Step> steps;
    for (int length = 2; length <= 6; ++length)
        for (int down = -kReachSteps; down <= kReachSteps; ++down)
            for (int right = -kReachSteps; right <= kReachSteps; ++right)
                if (const Step step{down, right}; step.length() == length) steps.push_back(step);
    return steps;
}

int range_of(int near) { return near < 8 ? 0 : near < 12 ? 1 : 2; }

// Vectors of GCC and Clang: left to themselves both take these few words apart.
using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;
using Eight [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;

std::uint32_t least(const SymmetricKey& key) {
    const Four first = *reinterpret_cast<const Four*>(key.data());
    const Four second = *reinterpret_cast<const Four*>(key.data() + 4);
    const Four less = first < second ? first : second;
    return std::min(std::min(less[0], less[1]), std::min(less[2], less[3]));
}

void mix(SymmetricKey& key, const SymmetricKey& other) {
    *reinterpret_cast<Eight*>(key.data()) ^= *reinterpret_cast<const Eight*>(other.data());
}

// A key for each of `count` things that may be at a step, the same thing at turned steps in turned order.
class StepKeys {
  public:
    StepKeys(std::uint64_t seed, int count) : count_(count), words_(kWidth * kWidth * count) {
        SplitMix64 random(seed);
        for (auto& word : words_) word = static_cast<std::uint32_t>(random.next() >> 32);
    }
    SymmetricKey operator()(Step step, int thing) const {
        SymmetricKey key;
        for (int s = 0; s < kSymmetries; ++s) key[s] = words_[turned(step, s).index() * count_ + thing];
        return key;
    }

  private:
    int count_;
    std::vector<std::uint32_t> words_;
};

// Any seeds; the weights belong to them.
const StepKeys& shape_keys() {
    static const StepKeys keys(20161120, 1);
    return keys;
}

}  // namespace

std::uint32_t shape_key(const PointSet& region, Point p, int size, int walls) {
    static const auto table = [] {
        std::array<SymmetricKey, kWidth * kWidth> keys;
        for (int down = -kShapeSteps; down <= kShapeSteps; ++down)
            for (int right = -kShapeSteps; right <= kShapeSteps; ++right)
                keys[Step{down, right}.index()] = shape_keys()(Step{down, right}, 0);
        return keys;
    }();
    SymmetricKey key{};
    region.for_each([&](Point q) { mix(key, table[Step{q / size - p / size, q % size - p % size}.index()]); });
    return least(key) * 4 + static_cast<std::uint32_t>(walls);
}

struct LinearPatterns::Constants {
    std::vector<Step> steps = near_steps();
    std::array<std::array<Keys, 2>, kNear> stone;  // at a step, by its color
    std::array<SymmetricKey, kNear> off_board;
    std::array<std::array<std::array<Keys, 3>, 2>, 4> liberties;  // of a neighbour, by its color and class less 1
    std::array<std::array<SymmetricKey, 3>, 12> answer;           // a step from the last move, by its liberties

    Constants() {
        const StepKeys stones(20161121, 3), weak(20161122, 6), answers(20161123, 3);
        const auto both = [](const StepKeys& keys, Step step, int own, int enemy, Color color) {
            const bool black = color == Color::black;
            return Keys{{keys(step, black ? own : enemy), keys(step, black ? enemy : own)}};
        };
        for (int near = 0; near < kNear; ++near) {
            off_board[near] = stones(steps[near], 2);
            for (const Color color : {Color::black, Color::white}) {
                stone[near][index(color)] = both(stones, steps[near], 0, 1, color);
                for (int few = 0; few < 3 && near < 4; ++few)
                    liberties[near][index(color)][few] = both(weak, steps[near], few, 3 + few, color);
            }
        }
        for (int near = 0; near < 12; ++near)
            for (int few = 0; few < 3; ++few) answer[near][few] = answers(steps[near], few);
    }
};

// Where the steps lead on a board of one size.
struct LinearPatterns::Reach {
    struct Item {
        Point point;
        std::uint8_t near;  // the step that leads back from it
    };
    std::array<std::array<Item, kNear>, kMaxPoints> items;  // of the widest pattern, by range
    std::array<std::uint8_t, kMaxPoints> counts{};
    std::array<PointSet, kMaxPoints> points;
    std::array<std::array<Keys, kMaxPoints>, kRanges> empty_board{};
    std::array<std::array<Point, 12>, kMaxPoints> around;  // kNoPoint off the board

    explicit Reach(int size) {
        const Constants& known = constants();
        for (Point p = 0; p < size * size; ++p) {
            for (int near = 0; near < kNear; ++near) {
                const int row = p / size + known.steps[near].down, column = p % size + known.steps[near].right;
                const bool on = row >= 0 && row < size && column >= 0 && column < size;
                const auto q = static_cast<Point>(on ? row * size + column : kNoPoint);
                if (near < 12) around[p][near] = q;
                if (!on) {
                    for (auto& key : empty_board[range_of(near)][p].seen_by) mix(key, known.off_board[near]);
                    continue;
                }
                const Step back{-known.steps[near].down, -known.steps[near].right};
                const auto at = std::ranges::find(known.steps, back) - known.steps.begin();
                items[p][counts[p]++] = {q, static_cast<std::uint8_t>(at)};
                points[p].add(q);
            }
        }
    }
};

const LinearPatterns::Constants& LinearPatterns::constants() {
    static const Constants built;
    return built;
}

const LinearPatterns::Reach& LinearPatterns::reach(int size) {
    static const auto tables = [] {
        std::vector<std::unique_ptr<const Reach>> built;
        for (int s = kMinSize; s <= kMaxSize; ++s) built.push_back(std::make_unique<const Reach>(s));
        return built;
    }();
    return *tables[size - kMinSize];
}

LinearPatterns::LinearPatterns(const Board& board) : constants_(&constants()), reach_(&reach(board.size())) {
    for (int range = 0; range < kRanges; ++range)
        std::copy_n(reach_->empty_board[range].begin(), board.points(), keys_[range].begin());
    for (const Color color : {Color::black, Color::white})
        board.stones(color).for_each([&](Point p) { toggle(p, color); });
    stale_.fill(board.table().all);
}

void LinearPatterns::toggle(Point p, Color color) {
    for (int i = 0; i < reach_->counts[p]; ++i) {
        const auto [q, near] = reach_->items[p][i];
        Keys& keys = keys_[range_of(near)][q];
        const Keys& stone = constants_->stone[near][index(color)];
        for (int view = 0; view < 2; ++view) mix(keys.seen_by[view], stone.seen_by[view]);
    }
}

void LinearPatterns::play(Board& board, Point p, Color color) {
    PointSet stale;
    if (board.ko() != kNoPoint) stale.add(board.ko());
    if (p == board.pass()) {
        board.play(p, color);
        for (auto& set : stale_) set |= stale;
        return;
    }
    const auto neighbors = board.neighbors(p);
    std::array<int, 4> before{};
    for (std::size_t i = 0; i < neighbors.size(); ++i)
        if (board.at(neighbors[i]) != Color::empty) before[i] = std::min(3, board.liberties(neighbors[i]));
    const PointSet empty = board.empty_points();
    board.play(p, color);
    if (board.ko() != kNoPoint) stale.add(board.ko());

    // Stones that came and went.
    stale |= reach_->points[p];
    stale.add(p);
    const bool suicide = board.at(p) == Color::empty;
    if (!suicide) toggle(p, color);
    const Color lifted = suicide ? color : opponent(color);
    board.empty_points().minus(empty).for_each([&](Point q) {
        toggle(q, lifted);
        stale |= reach_->points[q];
        stale.add(q);
        for (const Point n : board.neighbors(q))
            if (board.at(n) != Color::empty) stale |= board.liberty_set(n);
    });

    // Chains beside the move whose liberties are now of another class: it shows at their liberties.
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        const Point n = neighbors[i];
        if (before[i] && board.at(n) != Color::empty && std::min(3, board.liberties(n)) != before[i])
            stale |= board.liberty_set(n);
    }
    for (auto& set : stale_) set |= stale;
}

SymmetricKey LinearPatterns::with_liberties(const Board& board, Point p, Color side) const {
    SymmetricKey key = keys_[0][p].seen_by[index(side)];
    for (int near = 0; near < 4; ++near) {
        const Point n = reach_->around[p][near];
        if (n == kNoPoint || board.at(n) == Color::empty) continue;
        const int few = std::min(3, board.liberties(n)) - 1;
        mix(key, constants_->liberties[near][index(board.at(n))][few].seen_by[index(side)]);
    }
    return key;
}

PatternFeatures LinearPatterns::at(const Board& board, Point p, Color side) const {
    SymmetricKey key = with_liberties(board, p, side);
    PatternFeatures found;
    found.pattern8 = kPattern8.first + least(key) % kPattern8.count;
    mix(key, keys_[1][p].seen_by[index(side)]);
    found.pattern12 = kPattern12.first + least(key) % kPattern12.count;
    mix(key, keys_[2][p].seen_by[index(side)]);
    found.pattern28 = kPattern28.first + least(key) % kPattern28.count;
    return found;
}

void LinearPatterns::add_response(const Board& board, Color side, Point last, LocalFeatures& found) const {
    if (last == kNoPoint || board.at(last) == Color::empty) return;
    SymmetricKey key = with_liberties(board, last, side);
    mix(key, keys_[1][last].seen_by[index(side)]);
    const int few = std::min(3, board.liberties(last)) - 1;
    for (int near = 0; near < 12; ++near) {
        const Point p = reach_->around[last][near];
        if (p == kNoPoint || board.at(p) != Color::empty) continue;
        SymmetricKey here = key;
        mix(here, constants_->answer[near][few]);
        found.add(p, kResponse.first + least(here) % kResponse.count);
    }
}

}  // namespace tengen
