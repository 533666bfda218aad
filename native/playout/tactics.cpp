#include "playout/tactics.h"

#include <algorithm>

#include "board/ladder.h"

namespace tengen {

namespace {

// Whether a connected shape of up to six stones leaves its captor one eye at most, if he has to take it: one or two
// stones, three, four as a square or a T, five as a cross or a square with a tail, six as a square with two tails at
// the same corner.
bool leaves_one_eye(const Board& board, const PointSet& shape) {
    int edges = 0, highest = 0;
    shape.for_each([&](Point p) {
        int degree = 0;
        for (const Point n : board.neighbors(p)) degree += shape.contains(n);
        edges += degree;
        highest = std::max(highest, degree);
    });
    edges /= 2;
    switch (shape.count()) {
        case 4:
            return highest == 3 || edges == 4;
        case 5:
            return highest == 4 || (edges == 5 && highest == 3);
        case 6:
            return edges == 6 && highest == 4;
        default:
            return true;
    }
}

}  // namespace

bool is_self_atari(const Board& board, Point p, Color color) {
    int open = 0;
    for (const Point n : board.neighbors(p)) open += board.at(n) == Color::empty;
    if (open >= 2) return false;
    for (const Point n : board.neighbors(p))
        if (board.at(n) == color && board.liberties(n) > 2) return false;
    return board.liberties_after(p, color) < 2;
}

bool is_useful_self_atari(const Board& board, Point p, Color color) {
    PointSet shape, liberties = board.table().neighbor_sets[p] & board.empty_points();
    shape.add(p);
    int size = 1;
    for (const Point n : board.neighbors(p)) {
        if (board.at(n) == opponent(color) && in_atari(board, n)) return true;
        if (board.at(n) != color || shape.contains(n)) continue;
        size += board.chain_size(n);
        if (size > 6) return false;
        board.for_each_stone(n, [&](Point s) { shape.add(s); });
        liberties |= board.liberty_set(n);
    }
    liberties.remove(p);
    const Point last = liberties.first();
    if (last == kNoPoint) return false;
    for (const Point n : board.neighbors(last))
        if (board.at(n) != opponent(color) && !shape.contains(n)) return false;
    return leaves_one_eye(board, shape);
}

void add_saves(Board& board, Point stone, int nodes, Choices& choices) {
    const Color color = board.at(stone);
    const auto enter = [&](Point p) {
        if (board.is_legal(p, color, false)) choices.add(p);
    };
    board.for_each_stone(stone, [&](Point s) {
        for (const Point n : board.neighbors(s))
            if (board.at(n) == opponent(color) && in_atari(board, n)) enter(last_liberty(board, n));
    });
    const Point p = last_liberty(board, stone);
    const int room = board.liberties_after(p, color);
    if (room < 2 || !board.is_legal(p, color, false)) return;
    if (room == 2 && nodes > 0) {
        Board::Undo record;
        board.play(p, color, record);
        const bool caught = captured_in_ladder(board, p, nullptr, nodes);
        board.undo(record);
        if (caught) return;
    }
    choices.add(p);
}

}  // namespace tengen
