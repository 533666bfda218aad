// Counting a finished game.
#pragma once

#include <string>

#include "board/game.h"

namespace tengen {

using Owners = std::array<Color, kMaxPoints>;  // of every point; Color::empty is neutral

// Who owns each point once the dead stones are gone: stones their owner's, empty regions his whose stones alone
// surround them. A chain with one stone in `dead` is dead as a whole; empty points in `dead` say nothing.
Owners owners(const Board& board, const PointSet& dead);

// The chains of the board that have a stone in `stones`, in full.
PointSet whole_chains(const Board& board, const PointSet& stones);

// The connected region of `within` around `start`, which is one of its points.
PointSet region_of(const Geometry& table, const PointSet& within, Point start);

// Calls f(region) with each connected region of `set`.
template <class F>
void for_each_region(const Geometry& table, PointSet set, F f) {
    while (!set.empty()) {
        const PointSet region = region_of(table, set, set.first());
        set = set.minus(region);
        f(region);
    }
}

// Points of Black minus points of White, komi, the bonus for a handicap and the button included. Area: stones and
// surrounded points. Territory: surrounded points, prisoners and dead stones. With a tax the eyes of a seki (seki.h)
// count nothing, and a stone of the opponent there is no prisoner. Tax::all also takes two points of each group: of
// each connected region of stones and surrounded points of a color, as far as it has points outside of seki.
//
// By territory, stones that were played after two passes in a row, when play was resumed, are free where they changed
// nothing: a stone counts one point for its player if its point belongs to the same side with and without all that was
// played since. So dead stones may be captured, and defended, after the passes without a loss, however many stones
// either side plays. Elsewhere resumed play counts as all play does.
float area_score(const Game& game, const PointSet& dead);
float territory_score(const Game& game, const PointSet& dead);
// Of the second phase of the encore: area, where every stone that was placed before it costs a point. With Tax::all
// each independent region costs two more.
float encore_score(const Game& game);
// By the game's rules; in the second phase of the encore `dead` means nothing.
float score(const Game& game, const PointSet& dead);

// The points of a color that count in every way under a tax, as KataGo counts: the regions of its `area` that touch no
// empty point of nobody and hold no stone of it in atari.
PointSet independent_area(const Board& board, const Owners& area, Color color);

// The points of each color in the second phase of the encore: its independent area and, without a tax, all its
// territory; further the stones that stand there since the phase began. `area`: of all points, dead are the stones in
// pass-alive territory.
Owners encore_owners(const Game& game, const Owners& area);

// What Tax::all takes: two points of each group of Black, a connected region of what he owns, as far as it has
// `surrounded` points, minus those of White.
int group_tax(const Board& board, const std::array<PointSet, 2>& owned, const PointSet& surrounded);

// The owners by the game's rules: with a tax the eyes of a seki are neutral.
Owners counted_owners(const Game& game, const PointSet& dead);

// How a game that is over ended: "B+3.5", "W+R" (Black resigned), "0" for a draw, "Void" without result; "" for a game
// that goes on.
std::string result(const Game& game, const PointSet& dead);

}  // namespace tengen
