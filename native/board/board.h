// The stones on the board: chains with exact liberties, captures, simple ko and the hash of the position.
#pragma once

#include <span>

#include "board/geometry.h"
#include "board/types.h"

namespace tengen {

// A value of about 25 KB (65 KB in a build for 25x25) without pointers of its own, a copy of which costs a memcpy.
// Unless said otherwise, a point given to a method must be on the board, and what is called `stone` must hold one;
// nothing checks this.
class Board {
  public:
    struct Undo;

    // An empty board. Throws std::invalid_argument on a size outside kMinSize..kMaxSize.
    explicit Board(int size);
    Board(const Board&) = default;
    // Copies what a board of that size uses: on 7x7 a seventh of the bytes.
    Board& operator=(const Board& other);

    int size() const { return geometry_->size; }
    int points() const { return geometry_->points; }
    Point pass() const { return static_cast<Point>(geometry_->points); }
    const Geometry& table() const { return *geometry_; }
    std::span<const Point> neighbors(Point p) const { return geometry_->neighbors[p].span(); }
    std::span<const Point> diagonals(Point p) const { return geometry_->diagonals[p].span(); }

    Color at(Point p) const { return colors_[p]; }
    const PointSet& stones(Color color) const { return sets_[index(color)]; }
    const PointSet& empty_points() const { return sets_[index(Color::empty)]; }
    std::uint64_t hash() const { return hash_; }  // of the stones alone

    // The point where ko_color() may not play at once, or kNoPoint.
    Point ko() const { return ko_; }
    Color ko_color() const { return ko_color_; }

    // Chains. chain() is one stone that stands for all of its chain until the next change of the board.
    Point chain(Point stone) const { return head_[stone]; }
    int chain_size(Point stone) const { return chains_[head_[stone]].size; }
    int liberties(Point stone) const { return chains_[head_[stone]].liberties.count(); }
    const PointSet& liberty_set(Point stone) const { return chains_[head_[stone]].liberties; }
    template <class F>
    void for_each_stone(Point stone, F f) const {
        Point s = stone;
        do {
            const Point following = next_[s];
            f(s);
            s = following;
        } while (s != stone);
    }

    // Questions about a move that is not yet played; the point must be empty, is_legal apart.
    bool is_suicide(Point p, Color color) const;  // no liberty afterwards and nothing captured
    // Empty, not forbidden by simple ko, and no suicide unless of two or more stones and allowed. Pass is legal.
    bool is_legal(Point p, Color color, bool suicide) const;
    int capture_size(Point p, Color color) const;          // stones that it would capture
    int liberties_after(Point p, Color color) const;       // exact liberties of the mover's chain; 0 for a suicide
    int chain_size_after(Point p, Color color) const;      // stones of the mover's chain, a suicide's too
    std::uint64_t hash_after(Point p, Color color) const;  // hash() after the move, captures and suicide included
    // All neighbours are of the color, and no more diagonals are the opponent's than a real eye bears:
    // one in the middle, none at the edge.
    bool is_true_eye(Point p, Color color) const;

    // Plays a move that is_legal() allows; trusted. A pass only clears the ko.
    void play(Point p, Color color);
    // The same, and fills a record with which undo() restores the board exactly. Undo in reverse order of play.
    void play(Point p, Color color, Undo& record);
    void undo(const Undo& record);

    // Setup stones; both clear the ko. place() throws std::invalid_argument and changes nothing when the point is taken
    // or some chain would be left without a liberty; remove() when there is no stone.
    void place(Point p, Color color);
    void remove(Point p);

  private:
    struct alignas(64) Chain {
        PointSet liberties;
        std::uint64_t hash = 0;
        std::int16_t size = 0;
    };

    template <bool kRecord>
    void play_stone(Point p, Color color, Undo* record);
    Point start_chain(Point p, Color color) const;
    void absorb(Point chain, Point other);
    void lift(Point chain);
    void put_back(Point chain, Color color);
    void set_color(Point p, Color from, Color to);
    std::uint64_t captured_hash(Point p, Color color) const;

    const Geometry* geometry_;
    std::uint64_t hash_ = 0;
    Point ko_ = kNoPoint;
    Color ko_color_ = Color::empty;
    std::array<PointSet, 3> sets_;
    std::array<Color, kMaxPoints> colors_;
    std::array<Point, kMaxPoints> head_{};    // of a stone: the representative of its chain
    std::array<Point, kMaxPoints> next_{};    // of a stone: the next stone in the ring of its chain
    std::array<Chain, kMaxPoints> chains_{};  // valid at representatives
};

struct Board::Undo {
    Chain chain;  // the slot of the mover's chain before the move
    std::uint64_t hash;
    std::array<Point, 4> captured;  // representatives of the chains that the move took
    std::array<Point, 3> absorbed;  // representatives of the own chains that it joined to the largest
    Point point, ko, head, next, own;
    Color color, ko_color;
    std::uint8_t captures, joins;
    bool suicide;
};

}  // namespace tengen
