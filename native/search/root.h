// What is special about the root: moves may be forbidden there, and its priors are tempered and noised.
#pragma once

#include <bitset>
#include <span>
#include <vector>

#include "search/node.h"
#include "search/params.h"
#include "search/random.h"

namespace tengen {

using MoveSet = std::bitset<kMaxPoints + 1>;  // points and pass

// Only moves of `allow`, if it names any, and no move of `avoid`.
MoveSet allowed_moves(std::span<const Point> allow, std::span<const Point> avoid);

// Priors for selection at the root, one an edge: tempered, mixed with noise, sum 1 over the allowed moves, negative for
// the others. Puts the edges that have no link yet into falling order of these priors.
std::vector<float> root_priors(Node& root, const MoveSet& allowed, const SearchParams& params, Random& random);

}  // namespace tengen
