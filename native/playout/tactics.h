// Small readings about chains of few liberties, for playouts: cheap, and mostly right.
#pragma once

#include "board/board.h"

namespace tengen {

// A handful of points to choose from, without doubles.
class Choices {
  public:
    void add(Point p) {
        for (int i = 0; i < count_; ++i)
            if (points_[i] == p) return;
        if (count_ < static_cast<int>(points_.size())) points_[count_++] = p;
    }
    bool empty() const { return count_ == 0; }
    int size() const { return count_; }
    Point operator[](int i) const { return points_[i]; }

  private:
    std::array<Point, 24> points_;
    int count_ = 0;
};

inline bool in_atari(const Board& board, Point stone) { return board.liberties(stone) == 1; }

// The only liberty of a chain in atari.
inline Point last_liberty(const Board& board, Point stone) { return board.liberty_set(stone).first(); }

// Whether the mover's chain would have one liberty, or none.
bool is_self_atari(const Board& board, Point p, Color color);

// A self-atari that captures nothing.
inline bool is_plain_self_atari(const Board& board, Point p, Color color) {
    return is_self_atari(board, p, color) && board.capture_size(p, color) == 0;
}

// Whether a self-atari is worth a stone: it captures, or all that it gives away is a shape that makes one eye at most
// once the other side has taken it, at a place where nothing else could come of it.
bool is_useful_self_atari(const Board& board, Point p, Color color);

// Legal moves that save the chain of `stone`, which is in atari: captures beside it, and an extension to more than two
// liberties, or to two where no ladder of `nodes` nodes catches it. The board is restored.
void add_saves(Board& board, Point stone, int nodes, Choices& choices);

}  // namespace tengen
