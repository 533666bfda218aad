// Boards as text that people write and read.
#pragma once

#include <string>
#include <string_view>

#include "board/board.h"

namespace tengen {

// Rows from the top with GTP coordinates around them: X black, O white, '.' empty, '+' an empty handicap point; the
// stone or point `last` stands in parentheses.
std::string diagram(const Board& board, Point last = kNoPoint);

// The board of a text with one line a row, coordinates optional: what diagram() writes, or plain lines such as
// ". X O .". Throws std::invalid_argument on a text that is not square, of a size out of range, with another character
// or with a chain without liberties.
Board parse_diagram(std::string_view text);

// `D4`, `pass`: a move as GTP writes it.
std::string vertex_name(Point move, int size);

// Whether a point is marked on a printed board and used for handicap stones.
bool is_star_point(Point p, int size);

}  // namespace tengen
