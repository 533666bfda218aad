#include "playout/local.h"

#include "playout/candidates.h"

namespace tengen {

namespace {

constexpr int kDraws = 4;

// The capture of a chain in atari that touches the chain of `stone`, or kNoPoint.
Point counter_capture(const Board& board, Point stone, Color color) {
    Point capture = kNoPoint;
    board.for_each_stone(stone, [&](Point s) {
        for (const Point n : board.neighbors(s))
            if (board.at(n) == opponent(color) && board.liberties(n) == 1) capture = board.liberty_set(n).first();
    });
    return capture != kNoPoint && board.is_legal(capture, color, false) ? capture : kNoPoint;
}

// The answer that the last move asks for, or kNoPoint.
Point reply(const Board& board, Color color, Point last) {
    if (last == kNoPoint || last == board.pass()) return kNoPoint;
    if (board.at(last) == opponent(color) && board.liberties(last) == 1) {
        const Point capture = board.liberty_set(last).first();
        if (board.is_legal(capture, color, false)) return capture;
    }
    for (const Point n : board.neighbors(last)) {
        if (board.at(n) != color || board.liberties(n) != 1) continue;
        if (const Point capture = counter_capture(board, n, color); capture != kNoPoint) return capture;
        const Point escape = board.liberty_set(n).first();
        if (board.is_legal(escape, color, false) && board.liberties_after(escape, color) >= 2) return escape;
    }
    return kNoPoint;
}

bool is_self_atari(const Board& board, Point p, Color color) {
    const PointSet open = board.table().neighbor_sets[p] & board.empty_points();
    return open.count() < 2 && board.liberties_after(p, color) < 2;
}

}  // namespace

int LocalPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                      PlayoutTrace* trace) const {
    const auto choose = [&](const Board& now, Color color, Point last, Candidates& candidates) {
        Point p = reply(now, color, last);
        if (p != kNoPoint) return p;
        for (int draws = 0; draws < kDraws; ++draws) {
            p = candidates.draw(now, color, random);
            if (p == now.pass() || !is_self_atari(now, p, color)) break;
        }
        return p;
    };
    return play_out(board, to_play, last_point(before), trace, choose);
}

}  // namespace tengen
