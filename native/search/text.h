// A tree as text, for golden tests and for people.
#pragma once

#include <string>

#include "search/tree.h"

namespace tengen {

// A line a move: visits, mean value for the player who makes it, prior. Moves with `min_visits` or more, down to
// `depth` moves below the root, most visits first.
std::string tree_text(const Tree& tree, int size, int depth, std::uint32_t min_visits);

}  // namespace tengen
