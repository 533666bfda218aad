#include "playout/tactics.h"

#include "board/capture_reader.h"
#include "board/ladder.h"

namespace tengen {

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
    return is_killing_shape(board.table(), shape);
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
