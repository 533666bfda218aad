// The 3x3 patterns that playouts answer with, as one table over all neighbourhoods.
#pragma once

#include <span>
#include <string_view>

#include "board/board.h"

namespace tengen {

// What lies around each point of one board size, for Neighborhood codes.
class Neighborhoods {
  public:
    explicit Neighborhoods(int size);

    // Two bits for each of the eight neighbours, rows from the top, columns from the left: 0 black, 1 white, 2 empty,
    // 3 off the board; the first neighbour in the lowest bits.
    std::uint16_t code(const Board& board, Point p) const {
        const Place& place = places_[p];
        unsigned code = place.edge;
        for (int i = 0; i < place.count; ++i)
            code |= static_cast<unsigned>(board.at(place.points[i])) << place.shifts[i];
        return static_cast<std::uint16_t>(code);
    }
    std::span<const Point> points(Point p) const { return {places_[p].points.data(), places_[p].count}; }

  private:
    struct Place {
        std::array<Point, 8> points;
        std::array<std::uint8_t, 8> shifts;
        std::uint8_t count = 0;
        std::uint16_t edge = 0;  // the code of what is off the board
    };
    std::array<Place, kMaxPoints> places_;
};

const Neighborhoods& neighborhoods(int size);

// A pattern of the table, for those who check it: three lines of three for the point in the middle, which is to be
// played by X. X own, O the other's, '.' empty, '#' off the board, 'x' not X, 'o' not O, '?' anything. Each stands for
// its rotations and reflections, and unless `mover_only` for the same with X and O exchanged, still played by X.
struct Pattern3x3 {
    std::string_view name;
    std::array<std::string_view, 3> rows;
    bool mover_only = false;
};
std::span<const Pattern3x3> patterns_3x3();

// Whether a pattern matches with this side to move; no word on whether the move is legal.
bool matches_3x3(std::uint16_t code, Color color);

}  // namespace tengen
