// The move to play, chosen from the statistics of the root.
#pragma once

#include <limits>
#include <span>

#include "board/types.h"
#include "search/node.h"
#include "search/params.h"
#include "search/random.h"

namespace tengen {

inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// A move at the root; means are for the side to move. Without visits they are the root's own, and the bounds are the
// lowest. What the search does not know is NaN.
struct RootMove {
    Point point;
    std::uint32_t visits;
    float value = 0, score = 0, utility = 0, utility_lcb = 0;  // the last is its lower confidence bound
    float prior;              // the network's by `policy_temperature`, without the temperature and noise of roots
    float weight, value_lcb;  // what its visits count for; the bound as one of the value
    float no_result = kUnknown, score_stdev = kUnknown, lead = kUnknown;
    float play_weight = 0;  // by which it is played: visits, but for puct-katago
    // Of the position after it, which other lines may have visited too: the same as `visits` and `weight` in a tree
    // that shares no nodes.
    std::uint32_t node_visits = 0;
    float node_weight = 0;
};

// Draws an index by weight^(1 / temperature), relative to the largest weight so that no power overflows; at 0 the
// largest. -1 where no weight is above 0.
int draw_by_weight(std::span<const double> weights, float temperature, Random& random);

// Lower confidence bound of an edge's utility, -1 at least. One observation of variance 1 is added, so that few visits
// that agree by chance make no tight bound. With `lcb_probability` the bound is Leela Zero's: by the quantile of
// Student's t for the visits, and without that observation.
float lower_bound(const EdgeStats& stats, const SearchParams& params);

// The move to play by the rule in `params`, or kNoPoint if no move has a visit. Ties go to more visits, then to the
// earlier move of the list. `pass` is the pass of the board.
Point choose_move(std::span<const RootMove> moves, const SearchParams& params, Point pass, Random& random);

// The share of the maximum visits that a move needs so that choose_move() may choose it.
float share_to_be_chosen(const SearchParams& params);

// `best`, or by `chance` the second most visited move where `best` has the maximum visits and that move more than half.
// A pass is never exchanged.
Point diversify(std::span<const RootMove> moves, Point best, float chance, Point pass, Random& random);

}  // namespace tengen
