// What plane sets are made of: features of one position. Each is computed when a plane first asks for it.
#pragma once

#include <optional>

#include "board/game.h"
#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"

namespace tengen {

// Ranks of both players, by color: -30..-1 is 30k..1k, 1..9 is 1d..9d, 11..19 is 1p..9p, 0 is unknown.
using Ranks = std::array<int, 2>;

// How far back the ladders of past positions are available, in moves.
inline constexpr int kPastLadders = 2;

// Chains have 1 to kLiberties - 1 liberties, or kLiberties and more.
inline constexpr int kLiberties = 8;

// A line of play that counts as a ladder in short_ladders() has this many moves at most.
inline constexpr int kShortLadder = 50;

// Limits of caught(), those of Golois: moves of a line, and positions.
inline constexpr int kCaughtMoves = 100, kCaughtNodes = 1000;

// The legal moves of the side to move, and the same by their effect: the last set of each array has larger numbers,
// too.
struct MoveEffects {
    PointSet legal;
    std::array<PointSet, kLiberties + 1> captures;  // by stones taken, from 0
    std::array<PointSet, kLiberties> liberties;     // by liberties of the mover's chain afterwards, from 1
    std::array<PointSet, kLiberties> self_ataris;   // those that leave one liberty, by stones of that chain, from 1
};

// A view of a game, which must outlive it, from one side. Not to be shared between threads.
class FeatureContext {
  public:
    explicit FeatureContext(const Game& game, const Ranks& ranks = {}) : FeatureContext(game, game.to_play(), ranks) {}
    // From the side of `own` even when it is the opponent's turn: the moves of a record need not alternate.
    FeatureContext(const Game& game, Color own, const Ranks& ranks = {})
        : game(game), board(game.board()), own(own), other(opponent(own)), ranks(ranks) {}

    const Game& game;
    const Board& board;
    const Color own, other;
    const Ranks ranks;
    // The inputs of KataGo's networks say that a pass does not end the game.
    bool pass_goes_on = false;
    // So many first moves of the game are no history: last(), stones() of the past and what follows from them begin
    // after them. Rules, ko and komi are those of the whole game.
    int hidden_moves = 0;
    // Points for White in self_komi() beside those of the rules: what a draw is worth to White.
    float draw_points = 0;

    int rank(Color color) const { return ranks[index(color)]; }
    const PointSet& stones(Color color) const { return board.stones(color); }
    int seen_moves() const { return static_cast<int>(game.moves().size()) - hidden_moves; }
    // Stones 0..kPastBoards moves ago.
    const PointSet& stones(Color color, int back) const {
        static constexpr PointSet kNone;
        return back > seen_moves() ? kNone : back ? game.past_stones(color, back) : board.stones(color);
    }
    // Stones of the chains with that many liberties, 1 to kLiberties; the last stands for more, too.
    const PointSet& with_liberties(Color color, int liberties);
    PointSet with_at_least(Color color, int liberties);
    const MoveEffects& effects();
    PointSet capturing_at_least(int stones);  // legal moves that take that many, 0 to kLiberties
    PointSet sensible();                      // legal moves that fill no true eye of their own side
    const PointSet& ko_bans();  // empty points where ko or superko forbids a move that is legal without it
    const Ladders& ladders();
    const LadderMoves& short_ladders();  // the moves of ladders(), where a line of more than kShortLadder is an escape
    // Stones of chains that are caught in a ladder, 0..kPastLadders moves ago. Empty where the game has fewer moves.
    // The first call for a past position reads the ladders of all of them.
    const PointSet& laddered(Color color, int back);
    // Stones of both colors whose chains have that many liberties, 1 or 2, and are captured in a ladder within
    // kCaughtMoves and kCaughtNodes. It reads no more than that, and so takes less time than ladders().
    const PointSet& caught(int liberties);
    // Ladders as KataGo reads them, 0..kPastLadders moves ago. The game must have that many moves.
    const LadderMap& katago_ladders(int back);
    const PassAlive& pass_alive_of(Color color);
    // The points of each color by area scoring without agreed dead stones: only stones in pass-alive territory are
    // dead.
    const Owners& area(bool suicide);  // `suicide`: with the pass-alive area of rules that allow it
    // Points that are nearer to a stone of the color than to any of the other one, in steps along the lines, whatever
    // is between.
    const PointSet& closest_to(Color color);
    PointSet recent(int back) const;   // the last move (1), the one before (2) and so on; empty for a pass or none
    bool was_pass(int back) const;     // false before the first move
    const Move* last(int back) const;  // null before the first move
    // The number of the last move at each point, 1 for the first one that is not hidden; 0 where none was played.
    const std::array<std::int16_t, kMaxPoints>& last_played();
    float self_komi() const;  // points that the side to move is given, bonus for handicap and draw_points included

  private:
    struct Liberties {
        std::array<std::array<PointSet, kLiberties>, 2> stones;
    };

    void remove_bans(LadderMoves& ladders);
    template <class F>
    void replay(int oldest, F visit) const;

    std::optional<Liberties> liberties_;
    std::optional<MoveEffects> effects_;
    std::optional<PointSet> ko_bans_;
    std::optional<Ladders> ladders_;
    std::optional<LadderMoves> short_ladders_;
    std::array<std::optional<PointSet>, 2> caught_;                          // by liberties
    std::array<std::optional<LadderMap>, kPastLadders + 1> katago_ladders_;  // by moves ago
    std::array<std::optional<PassAlive>, 2> alive_;
    std::array<std::optional<Owners>, 2> area_;  // by suicide
    std::optional<std::array<PointSet, 2>> closest_;
    std::optional<std::array<std::int16_t, kMaxPoints>> last_played_;
    std::optional<std::array<std::array<PointSet, 2>, kPastLadders>> past_laddered_;  // of 1 and more moves ago
};

}  // namespace tengen
