// Leaves: the moves of a new position, the outcome of a finished game, and the utility of a result.
#pragma once

#include <vector>

#include "board/game_end.h"
#include "search/params.h"

namespace tengen {

// Legal moves in board order, passes for ko at a stone and pass last. With `prune_eyes` without own true eyes inside
// own pass-alive area; without `superko` also those that only superko forbids.
void candidate_moves(const Game& game, bool prune_eyes, std::vector<Point>& moves, bool superko = true);

// Drops the moves that params.prune_true_eyes and params.prune_self_atari exclude; pass stays.
void prune_moves(const Board& board, Color to_play, const SearchParams& params, std::vector<Point>& moves);

// Value in {-1, 0, 1} and score in points of a game that is over, for its side to move. `rule` says which stones are
// dead (game_end.h); a long cycle is worth nothing to either side.
struct Outcome {
    float value, score;
};
Outcome game_outcome(const Game& game, DeadStones rule = DeadStones::pass_alive);

// Whether the score of a game can be 0: the points that the rules give White are a whole number.
bool has_draws(const Game& game);

float utility_of(float value, float score, const SearchParams& params);

}  // namespace tengen
