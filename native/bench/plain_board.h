// The board that one writes first: colors in an array, chains found by flood fill whenever they are asked for. What
// the benchmarks of the board compare with.
#pragma once

#include <array>
#include <vector>

#include "board/geometry.h"
#include "board/types.h"

namespace tengen::bench {

class PlainBoard {
  public:
    explicit PlainBoard(int size) : geometry_(&geometry(size)) { colors_.fill(Color::empty); }

    // Not taken, not the ko, and with a liberty or a capture; a suicide of two or more stones is legal.
    bool is_legal(Point p, Color color) {
        if (colors_[p] != Color::empty || p == ko_) return false;
        bool joins = false;
        for (const Point n : neighbors(p)) {
            if (colors_[n] == Color::empty) return true;
            if (colors_[n] == color) joins = true;
        }
        colors_[p] = color;
        bool captures = false;
        for (const Point n : neighbors(p)) captures = captures || (colors_[n] == opponent(color) && !has_liberty(n));
        colors_[p] = Color::empty;
        return captures || joins;
    }

    void play(Point p, Color color) {
        ko_ = kNoPoint;
        if (p == geometry_->points) return;
        colors_[p] = color;
        int captured = 0;
        Point last = kNoPoint;
        for (const Point n : neighbors(p)) {
            if (colors_[n] != opponent(color) || has_liberty(n)) continue;
            captured += static_cast<int>(chain_.size());
            last = n;
            lift();
        }
        if (!has_liberty(p)) return lift();
        if (captured == 1 && count_around(p, color) == 0 && count_around(p, Color::empty) == 1) ko_ = last;
    }

    Color at(Point p) const { return colors_[p]; }
    int points() const { return geometry_->points; }

  private:
    std::span<const Point> neighbors(Point p) const { return geometry_->neighbors[p].span(); }

    int count_around(Point p, Color color) const {
        int count = 0;
        for (const Point n : neighbors(p)) count += colors_[n] == color;
        return count;
    }

    // Leaves the whole chain in chain_ if it has none.
    bool has_liberty(Point stone) {
        ++mark_;
        chain_.assign(1, stone);
        seen_[stone] = mark_;
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            for (const Point n : neighbors(chain_[i])) {
                if (colors_[n] == Color::empty) return true;
                if (colors_[n] != colors_[stone] || seen_[n] == mark_) continue;
                seen_[n] = mark_;
                chain_.push_back(n);
            }
        }
        return false;
    }

    void lift() {
        for (const Point p : chain_) colors_[p] = Color::empty;
    }

    const Geometry* geometry_;
    std::array<Color, kMaxPoints> colors_;
    std::array<int, kMaxPoints> seen_{};
    int mark_ = 0;
    Point ko_ = kNoPoint;
    std::vector<Point> chain_;
};

}  // namespace tengen::bench
