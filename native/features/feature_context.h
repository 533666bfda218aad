// What plane sets are made of: features of one position. Each is computed when a plane first asks for it.
#pragma once

#include <optional>

#include "board/game.h"
#include "board/ladder.h"
#include "board/pass_alive.h"

namespace tengen {

// Legal moves of the side to move by their effect.
struct MoveEffects {
    PointSet captures_one, captures_more;  // stones taken
    PointSet leaves_one, leaves_two;       // liberties of the mover's chain afterwards
};

// A view of a game that must outlive it, seen by one side. Not to be shared between threads.
class FeatureContext {
  public:
    explicit FeatureContext(const Game& game) : FeatureContext(game, game.to_play()) {}
    // Seen by `own` even when the game says that it is the other's turn (records hold moves out of turn).
    FeatureContext(const Game& game, Color own) : game(game), board(game.board()), own(own), other(opponent(own)) {}

    const Game& game;
    const Board& board;
    const Color own, other;

    const PointSet& stones(Color color) const { return board.stones(color); }
    // Stones of the chains with that many liberties, 1 to 3, or with 4 and more.
    const PointSet& with_liberties(Color color, int liberties);
    const MoveEffects& effects();
    const PointSet& ko_bans();  // empty points where ko or superko forbids a move that were legal without it
    const Ladders& ladders();
    const PassAlive& pass_alive_of(Color color);
    PointSet recent(int back) const;  // the last move (1), the one before (2) and so on; empty for a pass or none
    bool was_pass(int back) const;    // false before the first move
    // Stones as they lay 1 or 2 moves ago, passes counted; none where the game is younger.
    const PointSet& stones_before(int back, Color color);
    float self_komi() const;  // points that the side to move is given, bonus for handicap included

  private:
    struct Liberties {
        std::array<std::array<PointSet, 4>, 2> stones;
    };

    const Move* last(int back) const;

    std::optional<Liberties> liberties_;
    std::optional<MoveEffects> effects_;
    std::optional<PointSet> ko_bans_;
    std::optional<Ladders> ladders_;
    std::array<std::optional<PassAlive>, 2> alive_;
    std::optional<std::array<std::array<PointSet, 2>, 2>> before_;
};

}  // namespace tengen
