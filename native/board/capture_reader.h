// Reading whether a chain in a closed fight, such as a seki, can be captured.
#pragma once

#include "board/board.h"

namespace tengen {

// Whether an eye space of this shape is one eye at most when the opponent moves first in it. Larger or other shapes
// make two, or a ko.
bool is_killing_shape(const Geometry& table, const PointSet& shape);

// True if the opponent of the chain of `stone` cannot capture it and gain by that, although he moves first. Both sides
// play at the points of `area` or pass, until both pass. The opponent must then own all points of the chain and more of
// the area than now, by area scoring with all stones alive. What cannot be decided is a capture: every ko (he may take
// back at once), a position that comes back, and a fight that is not read to its end within `nodes` positions. Nobody
// commits suicide or fills a true eye of his own.
//
// Three things end a line early: the chain joins stones of its color outside the area; a side captures a space with
// room for two eyes (see is_killing_shape); the chain captures a second eye.
inline constexpr int kCaptureNodes = 50000;
bool cannot_be_captured(const Board& board, Point stone, const PointSet& area, int nodes = kCaptureNodes);

}  // namespace tengen
