#include "board/score.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "board/seki.h"

namespace tengen {

namespace {

float compensation(const Game& game) { return game.komi() + game.white_bonus(); }

// The surrounded regions beside stones in seki of the same color.
PointSet seki_eyes(const Board& board, const PointSet& dead) {
    PointSet eyes;
    const PointSet seki = seki_stones(board, dead);
    if (seki.empty()) return eyes;
    const Owners owner = owners(board, dead);
    const PointSet open = board.empty_points() | whole_chains(board, dead);
    seki.for_each([&](Point stone) {
        for (const Point n : board.neighbors(stone))
            if (open.contains(n) && !eyes.contains(n) && owner[n] == board.at(stone))
                eyes |= region_of(board.table(), open, n);
    });
    return eyes;
}

}  // namespace

PointSet region_of(const Geometry& table, const PointSet& within, Point start) {
    std::array<Point, kMaxPoints> open;
    int count = 0;
    PointSet region, rest = within;
    const auto enter = [&](Point p) {
        rest.remove(p);
        region.add(p);
        open[count++] = p;
    };
    enter(start);
    while (count) {
        for (const Point n : table.neighbors[open[--count]].span())
            if (rest.contains(n)) enter(n);
    }
    return region;
}

PointSet whole_chains(const Board& board, const PointSet& stones) {
    PointSet chains;
    stones.for_each([&](Point p) {
        if (board.at(p) != Color::empty && !chains.contains(p))
            board.for_each_stone(p, [&](Point s) { chains.add(s); });
    });
    return chains;
}

Owners owners(const Board& board, const PointSet& dead) {
    const PointSet gone = whole_chains(board, dead);
    const PointSet black = board.stones(Color::black).minus(gone), white = board.stones(Color::white).minus(gone);
    Owners result;
    result.fill(Color::empty);
    black.for_each([&](Point p) { result[p] = Color::black; });
    white.for_each([&](Point p) { result[p] = Color::white; });

    PointSet open = board.empty_points() | gone;
    while (!open.empty()) {
        const PointSet region = region_of(board.table(), open, open.first());
        open = open.minus(region);
        PointSet border;
        region.for_each([&](Point p) { border |= board.table().neighbor_sets[p]; });
        const bool touches_black = border.intersects(black), touches_white = border.intersects(white);
        if (touches_black == touches_white) continue;
        const Color owner = touches_black ? Color::black : Color::white;
        region.for_each([&](Point p) { result[p] = owner; });
    }
    return result;
}

float area_score(const Game& game, const PointSet& dead) {
    const Owners owner = owners(game.board(), dead);
    int difference = 0;
    for (Point p = 0; p < game.board().points(); ++p)
        difference += (owner[p] == Color::black) - (owner[p] == Color::white);
    return static_cast<float>(difference) - compensation(game);
}

float territory_score(const Game& game, const PointSet& dead) {
    const Board& board = game.board();
    const PointSet gone = whole_chains(board, dead), eyes = seki_eyes(board, dead);
    const PointSet prisoners = gone.minus(eyes);
    const Owners owner = owners(board, dead);
    int difference = game.captures(Color::black) - game.captures(Color::white);
    difference += (prisoners & board.stones(Color::white)).count() - (prisoners & board.stones(Color::black)).count();
    (board.empty_points() | gone).minus(eyes).for_each([&](Point p) {
        difference += (owner[p] == Color::black) - (owner[p] == Color::white);
    });
    return static_cast<float>(difference) - compensation(game);
}

float score(const Game& game, const PointSet& dead) {
    return game.rules().scoring == Scoring::area ? area_score(game, dead) : territory_score(game, dead);
}

Owners counted_owners(const Game& game, const PointSet& dead) {
    Owners owner = owners(game.board(), dead);
    if (game.rules().scoring == Scoring::territory)
        seki_eyes(game.board(), dead).for_each([&](Point p) { owner[p] = Color::empty; });
    return owner;
}

std::string result(const Game& game, const PointSet& dead) {
    if (!game.is_over()) return "";
    if (game.is_no_result()) return "Void";
    if (game.resigned() != Color::empty) return game.resigned() == Color::black ? "W+R" : "B+R";
    const float points = score(game, dead);
    if (points == 0) return "0";
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%c+%g", points > 0 ? 'B' : 'W', std::abs(points));
    return text.data();
}

}  // namespace tengen
