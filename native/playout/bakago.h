// The playouts of BakaGo (SJTU, 2016): points are scored by rule, and the best are drawn from.
#pragma once

#include "playout/policy.h"

namespace tengen {

// A number of moves of 19x19 on a board of so many points, in proportion and rounded to the nearest.
inline int moves_for(int points, int moves) { return (moves * points + 180) / 361; }

// The places of the last seven moves, newest first; kNoPoint where there was none, or a pass.
struct RecentMoves {
    std::array<Point, 7> points;
    int count = 0;  // at most 7

    RecentMoves() { points.fill(kNoPoint); }
    RecentMoves(const Board& board, std::span<const Move> before);
    void push(const Board& board, Point p);
};

// The parts of a point's score that BakaGo weighs, each from 0 to 100.
struct BakagoParts {
    float liberty = 0;    // 100 beside a chain in atari, 20 less for each liberty more, 0 from six on
    float atari = 0;      // 100 beside a chain in atari, else 0
    float proximity = 0;  // to a recent move
};

// Which of the last seven moves a point may be near, and how long a list of points lasts: as meant, or with the errors
// of BakaGo's code. It reads its queue from the wrong end: the oldest four moves count instead of the newest four, so
// that with seven moves in it the newest three never count. For the lists see BakagoPolicy.
enum class BakagoReading : std::uint8_t { meant, published };

BakagoParts bakago_parts(const Board& board, Point p, const RecentMoves& recent, BakagoReading reading);

// The score of an empty point before move number `move` (0 is a game's first):
//   5 + 10 unless on the first line + 0.2 * (liberty + atari + proximity) + what the phase of the game adds:
//   until move 30    0.25 * (w * (liberty + atari + proximity) / 3 + (1 - w) * fourth-line closeness), w = move / 30
//   until move 190   0.25 * (liberty + atari + proximity) / 3
//   later            0.125 * (liberty + atari), + 50 beside stones of both colors.
// Closeness is 100 on the four fourth lines, which here run from edge to edge, and 100 / 7 less for each line away from
// the nearest. The numbers of moves are those of 19x19; here and in BakagoPolicy other sizes take them in proportion to
// their points.
float bakago_score(const Board& board, Point p, int move, const RecentMoves& recent, BakagoReading reading);

// Each side draws evenly from its 11 best good points (legal, no own true eye, no self-atari unless it captures), ties
// broken at random. A list is made anew once it is 10 moves old, 5 from move 100 of the game on and 3 from move 200 on,
// or when nothing of it is left; a side without a good point passes. Ends at move 400 of the game, or when both pass.
// As published a side keeps all of its good points, and draws from the 11 best that are left; one count of the draws of
// both sides says when a list is old, so that the other one may last for long; 10 holds for the whole game; a listed
// point that has become an own eye is played; and the playout ends where a side has no good point, or after move 401.
// In both readings an empty point counts for a color that alone touches it.
// BakaGo squashed the area count w of the winner to a logistic of 0.98^moves * w: that is the search's matter
// (SearchParams, playout_slope = 1 and playout_decay = 0.98).
class BakagoPolicy final : public PlayoutPolicy {
  public:
    explicit BakagoPolicy(BakagoReading reading = BakagoReading::meant) : reading_(reading) {}

    int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
             PlayoutTrace* trace) const override;
    // The score of a good point, 1 for all else.
    void weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
               std::span<float> weights) const override;
    std::array<PointSet, 2> area(const Board& board) const override;

  private:
    BakagoReading reading_;
};

}  // namespace tengen
