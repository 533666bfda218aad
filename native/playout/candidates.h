// What all playout policies share: the empty points to draw from, and the loop to the end of a game.
#pragma once

#include <utility>

#include "playout/policy.h"

namespace tengen {

// Legal by simple ko without suicide, and no filling of an own true eye.
inline bool is_playable(const Board& board, Point p, Color color) {
    return !board.is_true_eye(p, color) && board.is_legal(p, color, false);
}

// The empty points of a board in no particular order, kept up to date from move to move.
class Candidates {
  public:
    explicit Candidates(const Board& board) : known_(board.empty_points()) {
        known_.for_each([this](Point p) { append(p); });
    }

    // A point drawn evenly from those that are playable and that accept(point) takes, or pass if there is none.
    template <class Accept>
    Point draw(const Board& board, Color color, SplitMix64& random, Accept accept) {
        for (int untried = count_; untried > 0;) {
            const int at = static_cast<int>(random.below(untried));
            const Point p = points_[at];
            if (is_playable(board, p, color) && accept(p)) return p;
            swap(at, --untried);
        }
        return board.pass();
    }
    Point draw(const Board& board, Color color, SplitMix64& random) {
        return draw(board, color, random, [](Point) { return true; });
    }

    // To be called after each move.
    void update(const Board& board, Point played) {
        if (played == board.pass()) return;
        known_.remove(played);
        swap(place_[played], --count_);
        const PointSet captured = board.empty_points().minus(known_);
        if (captured.empty()) return;
        captured.for_each([this](Point p) { append(p); });
        known_ |= captured;
    }

  private:
    void append(Point p) {
        place_[p] = static_cast<std::int16_t>(count_);
        points_[count_++] = p;
    }

    void swap(int a, int b) {
        std::swap(points_[a], points_[b]);
        place_[points_[a]] = static_cast<std::int16_t>(a);
        place_[points_[b]] = static_cast<std::int16_t>(b);
    }

    PointSet known_;
    std::array<Point, kMaxPoints> points_;
    std::array<std::int16_t, kMaxPoints> place_;  // of a point in points_
    int count_ = 0;
};

// Plays the moves of choose(color to move) by play(point, color) until both sides pass or `limit` moves are played.
// Returns their number.
template <class Choose, class Play>
int play_moves(const Board& board, Color to_play, PlayoutTrace* trace, int limit, Choose choose, Play play) {
    int moves = 0, passes = 0;
    for (Color color = to_play; passes < 2 && moves < limit; color = opponent(color), ++moves) {
        const Point p = choose(color);
        play(p, color);
        const bool pass = p == board.pass();
        passes = pass ? passes + 1 : 0;
        if (trace && !pass) trace->note(p, color);
    }
    return moves;
}
template <class Choose>
int play_moves(Board& board, Color to_play, PlayoutTrace* trace, int limit, Choose choose) {
    return play_moves(board, to_play, trace, limit, choose, [&](Point p, Color color) { board.play(p, color); });
}

// The same for those who draw: choose(color to move, candidates), and 3 * points() moves at most.
template <class Choose>
int play_out(Board& board, Color to_play, PlayoutTrace* trace, Choose choose) {
    Candidates candidates(board);
    Point last = board.pass();
    return play_moves(board, to_play, trace, 3 * board.points(), [&](Color color) {
        candidates.update(board, last);
        return last = choose(color, candidates);
    });
}

// Where the last move was played, or kNoPoint before the first.
inline Point last_point(std::span<const Move> before) { return before.empty() ? kNoPoint : before.back().point; }

}  // namespace tengen
