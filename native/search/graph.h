// Transpositions: which positions may share a node, and which moves a line may not make although others may.
//
// A node is shared by all lines with the same stones, side to move, simple ko and passes, if no line to it has captured
// since the root; then nothing but the order of the moves differs. After a capture the key holds all positions of the
// line too, so that lines that differ in kos, superko or cycles do not share nodes, and no line returns to a node of
// its own. A node's moves are those that the board allows; superko looks at the line itself, at each step down (see
// Search::is_superko_illegal). What does stay mixed: the network saw the moves of the first line that came by, and a
// mean may hold lines that superko would stop far below.
#pragma once

#include <cstdint>
#include <span>

#include "board/game.h"

namespace tengen {

class PositionKeys {
  public:
    // Starts at the root of the search.
    explicit PositionKeys(const Game& root);

    // To be called with the game after each move.
    void follow(const Game& game);
    std::uint64_t key() const;

  private:
    std::uint64_t state_ = 0, line_ = 0;
    int count_;  // of stones
    bool captured_ = false;
};

}  // namespace tengen
