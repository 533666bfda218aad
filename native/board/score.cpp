#include "board/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "board/pass_alive.h"
#include "board/seki.h"

namespace tengen {

namespace {

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

// The eyes that count nothing by the game's rules.
PointSet taxed_eyes(const Game& game, const PointSet& dead) {
    return game.rules().tax == Tax::none ? PointSet() : seki_eyes(game.board(), dead);
}

// Points that an empty board's owner has: what area and territory scoring count alike, and how they are taxed.
struct Count {
    PointSet gone, eyes, surrounded;  // dead stones; eyes that count nothing; empty points otherwise
    Owners owner;
    int tax;
};

Count count_of(const Game& game, const PointSet& dead) {
    const Board& board = game.board();
    Count count{whole_chains(board, dead), taxed_eyes(game, dead), {}, owners(board, dead), 0};
    count.surrounded = (board.empty_points() | count.gone).minus(count.eyes);
    if (game.rules().tax == Tax::all) {
        std::array<PointSet, 2> owned;
        for (Point p = 0; p < board.points(); ++p)
            if (count.owner[p] != Color::empty) owned[index(count.owner[p])].add(p);
        count.tax = group_tax(board, owned, count.surrounded);
    }
    return count;
}

int owned(const Owners& owner, const PointSet& points) {
    int difference = 0;
    points.for_each([&](Point p) { difference += (owner[p] == Color::black) - (owner[p] == Color::white); });
    return difference;
}

// Where each resumption of play begins: the index of the first stone after two passes in a row or more.
std::vector<std::size_t> resumptions(const Game& game) {
    std::vector<std::size_t> found;
    int passes = game.rules().button ? -1 : 0;  // the first pass only takes the button
    for (std::size_t i = 0; i < game.moves().size(); ++i) {
        const bool pass = game.moves()[i].point == game.board().pass();
        if (!pass && passes >= 2) found.push_back(i);
        passes = pass ? passes + 1 : std::min(passes, 0);
    }
    return found;
}

// Black's points minus White's for the stones of resumed play that changed nothing. `owner`: of the points now.
int free_stones(const Game& game, const PointSet& gone, const Owners& owner) {
    const auto& moves = game.moves();
    int points = 0;
    std::size_t end = moves.size();
    const auto starts = resumptions(game);
    for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
        Board before = game.board();
        for (std::size_t i = *start; i < moves.size(); ++i)
            if (moves[i].point != before.pass() && before.at(moves[i].point) != Color::empty)
                before.remove(moves[i].point);
        Owners was = owners(before, gone);
        if (game.rules().tax != Tax::none) seki_eyes(before, gone).for_each([&](Point p) { was[p] = Color::empty; });
        for (std::size_t i = *start; i < end; ++i) {
            const auto [p, color] = moves[i];
            if (p != before.pass() && owner[p] != Color::empty && was[p] == owner[p])
                points += color == Color::black ? 1 : -1;
        }
        end = *start;
    }
    return points;
}

// The points of each color, stones dead that stand in pass-alive territory of the other.
Owners area_owners(const Game& game) { return owners(game.board(), pass_dead(game.board(), game.rules().suicide)); }

}  // namespace

int group_tax(const Board& board, const std::array<PointSet, 2>& owned, const PointSet& surrounded) {
    int tax = 0;
    for (const Color color : {Color::black, Color::white}) {
        for_each_region(board.table(), owned[index(color)], [&](const PointSet& group) {
            tax += std::min((group & surrounded).count(), 2) * (color == Color::black ? 1 : -1);
        });
    }
    return tax;
}

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

    for_each_region(board.table(), board.empty_points() | gone, [&](const PointSet& region) {
        PointSet border;
        region.for_each([&](Point p) { border |= board.table().neighbor_sets[p]; });
        const bool touches_black = border.intersects(black), touches_white = border.intersects(white);
        if (touches_black == touches_white) return;
        const Color owner = touches_black ? Color::black : Color::white;
        region.for_each([&](Point p) { result[p] = owner; });
    });
    return result;
}

float area_score(const Game& game, const PointSet& dead) {
    const Count count = count_of(game, dead);
    const int points = owned(count.owner, game.board().table().all.minus(count.eyes));
    return static_cast<float>(points - count.tax) - game.white_compensation();
}

float territory_score(const Game& game, const PointSet& dead) {
    const Board& board = game.board();
    const Count count = count_of(game, dead);
    const PointSet prisoners = count.gone.minus(count.eyes);
    int points = game.captures(Color::black) - game.captures(Color::white);
    points += (prisoners & board.stones(Color::white)).count() - (prisoners & board.stones(Color::black)).count();
    points += owned(count.owner, count.surrounded);
    points += free_stones(game, count.gone, counted_owners(game, dead));
    return static_cast<float>(points - count.tax) - game.white_compensation();
}

PointSet independent_area(const Board& board, const Owners& area, Color color) {
    PointSet all, neutral;
    for (Point p = 0; p < board.points(); ++p) {
        if (area[p] == color) all.add(p);
        if (area[p] == Color::empty && board.at(p) == Color::empty) neutral.add(p);
    }
    PointSet found;
    for_each_region(board.table(), all, [&](const PointSet& group) {
        bool dependent = false;
        group.for_each([&](Point p) {
            dependent |= board.at(p) == color && board.liberties(p) == 1;
            dependent |= board.table().neighbor_sets[p].intersects(neutral);
        });
        if (!dependent) found |= group;
    });
    return found;
}

Owners encore_owners(const Game& game, const Owners& area) {
    const Board& board = game.board();
    Owners owner;
    owner.fill(Color::empty);
    for (const Color color : {Color::black, Color::white}) {
        PointSet points = independent_area(board, area, color);
        for (Point p = 0; p < board.points() && game.rules().tax == Tax::none; ++p)
            if (area[p] == color && board.at(p) != color) points.add(p);
        points.for_each([&](Point p) { owner[p] = color; });
    }
    for (const Color color : {Color::black, Color::white})
        (board.stones(color) & game.encore().first_stones[index(color)]).for_each([&](Point p) {
            if (owner[p] == Color::empty) owner[p] = color;
        });
    return owner;
}

float encore_score(const Game& game) {
    const Board& board = game.board();
    const Owners area = area_owners(game);
    int points = owned(encore_owners(game, area), board.table().all);
    points -= game.placed_stones(Color::black) - game.placed_stones(Color::white);
    if (game.rules().tax == Tax::all) {
        for (const Color color : {Color::black, Color::white})
            for_each_region(board.table(), independent_area(board, area, color),
                            [&](const PointSet&) { points -= color == Color::black ? 2 : -2; });
    }
    return static_cast<float>(points) - game.white_compensation();
}

float score(const Game& game, const PointSet& dead) {
    if (game.encore().phase == 2) return encore_score(game);
    return game.rules().scoring == Scoring::area ? area_score(game, dead) : territory_score(game, dead);
}

Owners counted_owners(const Game& game, const PointSet& dead) {
    if (game.encore().phase == 2) return encore_owners(game, area_owners(game));
    Owners owner = owners(game.board(), dead);
    taxed_eyes(game, dead).for_each([&](Point p) { owner[p] = Color::empty; });
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
