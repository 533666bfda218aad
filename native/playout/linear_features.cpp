#include "playout/linear_features.h"

#include <algorithm>
#include <cstdlib>

#include "board/symmetry.h"
#include "playout/linear_patterns.h"

namespace tengen {

namespace {

constexpr std::array kGroups = {kPattern8, kPattern12, kPattern28, kPlace, kReply,
                                kFollow,   kResponse,  kNakade,    kTactic};

// Places of kTactic.
constexpr int kExtend = 0;  // by liberties after it: 1, 2, 3 or more
constexpr int kCounter = 3, kCaptureLast = 4, kCaptureLastMany = 5;

constexpr int kSmallestEye = 3, kLargestEye = 6;

int liberty_class(const Board& board, Point stone) { return std::min(3, board.liberties(stone)); }

// 0 to 3: touching, near, in the same part of the board, elsewhere.
int distance_class(Point a, Point b, int size) {
    const int rows = std::abs(a / size - b / size), columns = std::abs(a % size - b % size);
    const int distance = rows + columns + std::max(rows, columns);
    return distance <= 3 ? 0 : distance <= 6 ? 1 : distance <= 10 ? 2 : 3;
}

int line(Point p, int size) {
    const int row = p / size, column = p % size;
    return std::min({row, size - 1 - row, column, size - 1 - column, 4});
}

// 0 touches no stone of the side; 1 to 3: the weakest chain that it touches has 3 or more, 2, 1 liberties.
int touch(const Board& board, Point last, Color side) {
    int found = 0;
    for (const Point n : board.neighbors(last))
        if (board.at(n) == side) found = std::max(found, 4 - liberty_class(board, n));
    return found;
}

// Moves that save the chains that the last move put into atari.
void add_saves(const Board& board, Color side, Point last, LocalFeatures& found) {
    PointSet escapes, counters;
    for (const Point n : board.neighbors(last)) {
        if (board.at(n) != side || board.liberties(n) != 1) continue;
        escapes |= board.liberty_set(n);
        board.for_each_stone(n, [&](Point s) {
            for (const Point enemy : board.neighbors(s))
                if (board.at(enemy) == opponent(side) && board.liberties(enemy) == 1)
                    counters |= board.liberty_set(enemy);
        });
    }
    escapes.for_each([&](Point p) {
        const int after = std::clamp(board.liberties_after(p, side), 1, 3);
        found.add(p, kTactic.first + kExtend + after - 1);
    });
    counters.for_each([&](Point p) { found.add(p, kTactic.first + kCounter); });
}

// The empty points connected to p, or an empty set if they are more than an eye space worth thinking about.
PointSet small_region(const Board& board, Point p) {
    PointSet region;
    std::array<Point, kLargestEye> queue;
    int size = 0;
    region.add(p);
    queue[size++] = p;
    for (int i = 0; i < size; ++i) {
        for (const Point n : board.neighbors(queue[i])) {
            if (board.at(n) != Color::empty || region.contains(n)) continue;
            if (size == kLargestEye) return {};
            region.add(n);
            queue[size++] = n;
        }
    }
    return region;
}

// Every point of a small empty region beside the last move, by the shape of the region around it and whose stones
// enclose it.
void add_nakade(const Board& board, Color side, Point last, LocalFeatures& found) {
    PointSet seen;
    for (const Point n : board.neighbors(last)) {
        if (board.at(n) != Color::empty || seen.contains(n)) continue;
        const PointSet region = small_region(board, n);
        seen |= region;
        if (region.count() < kSmallestEye) continue;
        bool own = false, enemy = false;
        region.for_each([&](Point p) {
            for (const Point beside : board.neighbors(p)) {
                own |= board.at(beside) == side;
                enemy |= board.at(beside) == opponent(side);
            }
        });
        const int walls = own + 2 * enemy;
        region.for_each(
            [&](Point p) { found.add(p, kNakade.first + shape_key(region, p, board.size(), walls) % kNakade.count); });
    }
}

}  // namespace

std::span<const FeatureGroup> feature_groups() { return kGroups; }

int offset_index(int rows, int columns) {
    const int larger = std::min(18, std::max(rows, columns)), smaller = std::min(18, std::min(rows, columns));
    return larger * (larger + 1) / 2 + smaller;
}

int place_index(Point p, int size) {
    const int row = p / size, column = p % size;
    return offset_index(std::min({row, size - 1 - row, 9}), std::min({column, size - 1 - column, 9}));
}

int stage(const Board& board) {
    const int stones = board.points() - board.empty_points().count();
    return std::min(kStages - 1, 12 * stones / board.points());
}

Situation::Situation(const Board& board, Color side, Point last, Point before)
    : last(last == board.pass() ? kNoPoint : last), before(before == board.pass() ? kNoPoint : before) {
    if (this->last == kNoPoint) return;
    const int size = board.size();
    const bool stands = board.at(last) != Color::empty;
    const int liberties = stands ? liberty_class(board, last) - 1 : 0;
    const int distance = this->before == kNoPoint ? 3 : distance_class(last, before, size);
    follow = liberties * 4 + distance;
    reply = (follow * 5 + line(last, size)) * 4 + touch(board, last, side);
}

void add_tactics(const Board& board, Color side, const Situation& now, LocalFeatures& found) {
    if (now.last == kNoPoint) return;
    add_saves(board, side, now.last, found);
    if (board.at(now.last) == opponent(side) && board.liberties(now.last) == 1) {
        const int many = board.chain_size(now.last) > 1;
        found.add(board.liberty_set(now.last).first(), kTactic.first + (many ? kCaptureLastMany : kCaptureLast));
    }
    add_nakade(board, side, now.last, found);
}

}  // namespace tengen
