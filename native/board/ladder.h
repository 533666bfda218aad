// Reading ladders: chains that are caught by one atari after another.
#pragma once

#include "board/board.h"

namespace tengen {

// The rules of the reader. The attacker plays on one of the two liberties of the chain; the defender, in atari, extends
// or captures a chain beside it that is in atari itself. The defender is free with three liberties, or with two when it
// is his turn. Every ko favours the defender: a ban that stands before the first move is ignored, and a capture by the
// attacker that leaves a ko ends the line as an escape. Nobody commits suicide. A search of more than `nodes` positions
// counts as an escape, and so does a line of play that is longer than `moves`.
//
// The limit of nodes is for composed ladders: no ladder of 24,000 positions of real games needs 1,000 nodes, Nakayama's
// takes 2,346, and one that branches all the way takes 30,829. The limit of moves bounds the stack where captured
// stones are thrown in again and again.
inline constexpr int kLadderNodes = 50000, kLadderMoves = 1000;

// True if the chain of `stone`, which has at most two liberties, is caught: with two liberties although it is in no
// atari yet, when the attacker moves first; with one, although the defender moves first. `first_moves`, if given,
// receives for a chain with two liberties every first move that catches it. The board is the same after the call.
bool captured_in_ladder(Board& board, Point stone, PointSet* first_moves = nullptr, int nodes = kLadderNodes,
                        int moves = kLadderMoves);

// Every first move of the attacker that catches the chain of `stone`: for two liberties those of captured_in_ladder();
// for one the capture itself, although the defender, were it his turn, might get away. None with more liberties.
PointSet ladder_captures(Board& board, Point stone, int nodes = kLadderNodes);

// Every move that saves the chain of `stone`, which is in atari and whose owner is to move, from being caught.
PointSet ladder_escapes(Board& board, Point stone, int nodes = kLadderNodes, int moves = kLadderMoves);

// The moves of ladders for the side to move.
struct LadderMoves {
    PointSet captures;  // legal moves that catch an opponent chain of two liberties
    PointSet escapes;   // legal moves that save an own chain in atari
};
LadderMoves read_ladder_moves(Board& board, Color to_play, int nodes = kLadderNodes, int moves = kLadderMoves);

// All ladders of a position for the side to move.
struct Ladders : LadderMoves {
    std::array<PointSet, 2> stones;  // by color: stones of the chains that are caught
};
Ladders read_ladders(Board& board, Color to_play, int nodes = kLadderNodes);

// All ladders of a position as KataGo reads them for its networks, for both colors: as above, but
// - the first move of the attacker may leave a ko, which is open to the defender, and may not be at `ban`;
// - a chain whose two liberties are both the mouth of a ko, which the defender cannot fill to gain a liberty, is caught
//   if no chain beside it is in atari (double-ko death);
// - a search of more than kKataGoNodes positions after a first move counts as an escape.
inline constexpr int kKataGoNodes = 25000;
struct LadderMap {
    PointSet stones;                   // of the chains that are caught
    std::array<PointSet, 2> captures;  // by color: moves with which it catches a chain of two liberties
};
LadderMap read_katago_ladders(Board& board, Point ban);

}  // namespace tengen
