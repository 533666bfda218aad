// Seki: stones that live although they have no two eyes, because nobody can afford to attack them.
#pragma once

#include "board/board.h"

namespace tengen {

// The stones in seki once the `dead` ones (a stone or more of each dead chain) are gone. The position is one that has
// been played out, but dame may be open: they are filled here first, on a copy, by the strong chains and then by the
// others as the players would, and ataris come last. A side fills a dame if its chain there cannot be caught at once by
// the ladder reader, where needed after connecting at a point of its own. Dame that neither side can fill so are the
// shared liberties of a seki, and the chains beside them, which are not pass-alive, stand in it. Open regions of more
// than eight points between the colors are no dame but unfinished, and none of their points is a shared liberty. A
// stone that a ko between chains in seki would take stands in it too. The order of points and colors decides what can
// be filled: what stands in seki does so in all 16 orders that the symmetries of the board and of the colors give.
//
// A seki in which both sides have eyes of three points or more is not seen: filling looks safe to the reader.
PointSet seki_stones(const Board& board, const PointSet& dead);

// Of the dead stones those that stand in seki if they and all other dead ones in the same open region live after all.
// To playouts, which fill everything, a seki looks like a death: these are what to look at twice.
PointSet dead_or_seki(const Board& board, const PointSet& dead);

// The dead stones that live in seki whatever the playouts say: those in seki, alone or with all other dead ones, that
// the opponent cannot capture with profit although he moves first (capture_reader.h).
PointSet proven_seki(const Board& board, const PointSet& dead);

}  // namespace tengen
