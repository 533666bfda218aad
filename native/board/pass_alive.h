// Stones and territory that live although their owner passes for ever (Benson 1976).
#pragma once

#include "board/board.h"

namespace tengen {

struct PassAlive {
    PointSet stones;     // of the chains that cannot be captured
    PointSet territory;  // empty points and dead opponent stones that these chains enclose
    PointSet area() const { return stones | territory; }
};

// Region: a connected set of points without a stone of `color`. A chain lives when two regions are vital to it, that
// is each of their empty points is its liberty, and all chains around these regions live too. Where the opponent may
// commit suicide of two or more stones (`suicide`), every point of a vital region must touch the chain, because stones
// inside can be turned into empty points. Territory: regions whose every neighbour chain lives and which have at most
// one point that touches no stone of `color`, too few for two eyes.
PassAlive pass_alive(const Board& board, Color color, bool suicide);

// The area of Black and of White.
std::array<PointSet, 2> pass_alive_areas(const Board& board, bool suicide);

// Stones in the opponent's pass-alive territory: dead, whoever moves first and whatever is played.
PointSet pass_dead(const Board& board, bool suicide);

}  // namespace tengen
