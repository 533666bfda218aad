// When a player passes, and which moves are worth playing at the end of a game.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/game.h"

namespace tengen {

// When a pass is allowed beside other moves.
enum class PassPolicy : std::uint8_t {
    free,            // always
    no_legal_move,   // only when no other move is legal
    no_useful_move,  // only when no move is useful (useful_moves()), and only useful moves are played
};

// Which stones are taken off the board when a game is counted.
enum class DeadStones : std::uint8_t {
    pass_alive,  // those in the opponent's pass-alive territory
    none,        // no stone: the board counts as it stands
};

std::string_view name(PassPolicy value);
std::string_view name(DeadStones value);
// Both throw std::invalid_argument that lists the known names.
void parse(std::string_view text, PassPolicy& value);
void parse(std::string_view text, DeadStones& value);
std::vector<std::string> names(PassPolicy);
std::vector<std::string> names(DeadStones);

// The true eyes of a player: empty points that Board::is_true_eye accepts.
PointSet true_eyes(const Board& board, Color color);

// Moves of the side to play that can change the result: legal, not into an own true eye and, unless the board counts as
// it stands, not inside pass-alive area of either side. With DeadStones::none dead stones must be captured, so that
// moves in pass-alive area are useful.
PointSet useful_moves(const Game& game, DeadStones dead_stones = DeadStones::pass_alive);

// The moves on the board that a policy allows the side to play; a pass is allowed by `free`, and where they are none.
PointSet allowed_moves(const Game& game, PassPolicy policy, DeadStones dead_stones = DeadStones::pass_alive);

// Points where nothing can change any more: the pass-alive area of both sides. A move there changes no result by area.
PointSet settled_area(const Game& game);

}  // namespace tengen
