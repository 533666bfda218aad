// Transpositions: which positions may share a node, and which moves a line may not make although others may.
//
// A node is shared by all lines with the same stones, side to move, simple ko and passes, on which both sides have
// captured as many stones. Stones come back only after captures, so no line returns to a node of its own. A node's
// moves are those that the board allows; superko looks at the line itself, at each step down (see
// Search::is_superko_illegal). What does stay mixed: the network saw the moves of the first line that came by, a mean
// may hold lines that superko would stop far below, and of lines that went through other positions the first one says
// whether a move ends the game by a long cycle or a repeated pass.
#pragma once

#include <cstdint>

#include "board/game.h"

namespace tengen {

// Equal for games below one root that share a node, as far as a hash tells.
std::uint64_t position_key(const Game& game);

}  // namespace tengen
