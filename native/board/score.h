// Counting a finished game.
#pragma once

#include "board/game.h"

namespace tengen {

using Owners = std::array<Color, kMaxPoints>;  // of every point; Color::empty is neutral

// Who owns each point once the dead stones are gone: stones their owner's, empty regions his whose stones alone
// surround them. A chain with one stone in `dead` is dead as a whole; empty points in `dead` say nothing.
Owners owners(const Board& board, const PointSet& dead);

// The chains of the board that have a stone in `stones`, in full.
PointSet whole_chains(const Board& board, const PointSet& stones);

// Points of Black minus points of White, komi and the bonus for a handicap included. Area: stones and surrounded
// points. Territory: surrounded points, prisoners and dead stones; eyes in a seki count like other territory.
float area_score(const Game& game, const PointSet& dead);
float territory_score(const Game& game, const PointSet& dead);
float score(const Game& game, const PointSet& dead);  // by the game's rules

}  // namespace tengen
