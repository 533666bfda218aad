// How a game ends and what it counts: the one definition that searches, self-play and matches share.
#pragma once

#include <optional>

#include "board/pass_policy.h"
#include "board/score.h"

namespace tengen {

// What ends a game beside its own rules (Game::ending()), and how it is counted.
struct EndRules {
    bool settle = false;    // area scoring: over when every point is pass-alive area
    bool sure_win = false;  // over when sure_margin() has a value
    DeadStones dead_stones = DeadStones::pass_alive;
};

struct GameEnd {
    Ending reason;
    Color winner;   // Color::empty for a draw and for a game without result
    bool counted;   // false after a resignation and without result; then neither score nor owners mean anything
    float score;    // Black minus White in points, with komi; of a sure win the least that the winner wins by
    Owners owners;  // of the points of the board; the entries behind them mean nothing
    int size;       // of the board
};

// How the game has ended, or nothing while it goes on. The reasons in order: what Game::ending() says, settled, sure
// win. A settled game belongs to whose area is pass-alive, whatever `dead_stones` says.
std::optional<GameEnd> game_end(const Game& game, const EndRules& rules);

// The stones that are dead in a game that is over.
PointSet dead_stones(const Game& game, DeadStones rule);

// Black minus White in points, with komi and handicap bonus, when the leader's pass-alive area alone beats the rest of
// the board; the rest counts for the other side. Nothing while neither side has so much, and under territory scoring,
// where living stones are no points.
std::optional<float> sure_margin(const Game& game);

}  // namespace tengen
