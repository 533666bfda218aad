// The root: its moves may be forbidden or represent others, and its priors have a temperature and noise.
#pragma once

#include <bitset>
#include <span>
#include <vector>

#include "board/game.h"
#include "search/node.h"
#include "search/params.h"
#include "search/random.h"

namespace tengen {

using MoveSet = std::bitset<kMaxPoints + 1>;  // points and pass

MoveSet to_move_set(std::span<const Point> moves);

// Moves that a player may not make, or the only ones that he may make, until a depth of the tree: the root has depth 0,
// and `until_depth` 1 restricts the root alone.
struct MoveRestriction {
    Color player;
    bool allow;  // `moves` are the only ones; else they are forbidden
    int until_depth;
    MoveSet moves;

    bool permits(int depth, Color to_play, Point move) const {
        return to_play != player || depth >= until_depth || moves.test(move) == allow;
    }
    friend bool operator==(const MoveRestriction&, const MoveRestriction&) = default;
};

// The moves that the restrictions leave at the root, whether they are legal or not.
MoveSet permitted_moves(const Game& game, std::span<const MoveRestriction> restrictions);

// The symmetries, but for the identity, under which the stones, what is legal (ko and superko included), what of that
// is allowed and what the `restrictions` leave below the root stay in their place; what an evaluator makes of the
// history may still differ.
std::vector<int> kept_symmetries(const Game& game, const MoveSet& allowed,
                                 std::span<const MoveRestriction> restrictions);

// For each point and pass the move that stands for it at the root: itself, or of the moves that one of
// `kept_symmetries` exchanges the one with the most visits, then the best prior. Empty where there is none.
std::vector<Point> representatives(const Game& game, const Node& root, const MoveSet& allowed,
                                   std::span<const MoveRestriction> restrictions);

// Points that each root move, and pass, gains in the eyes of its player: none, or a loss of up to `points` that makes
// the end of a game orderly. Moves that fill what is surely own or the opponent's (`ownership`, by point for the side
// to move) lose, unless they capture (area scoring), touch the opponent, or connect what is not alive; so does a pass
// under territory scoring, where dame are filled first. While there is a ko no other move than a pass loses.
std::vector<float> ending_bonus(const Game& game, std::span<const float> ownership, float points);

// Priors for selection at the root, one an edge: a representative has those of all moves that it represents; tempered,
// mixed with noise, sum 1 over the allowed moves, negative for the others. Sorts the moves that have no edge yet into
// falling order of these priors, and with them what `amaf` has for each move.
std::vector<float> root_priors(Node& root, const MoveSet& allowed, std::span<const Point> representative,
                               const SearchParams& params, Random& random, Amaf* amaf = nullptr);

}  // namespace tengen
