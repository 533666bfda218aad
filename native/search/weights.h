// How a search counts by weights, as KataGo does (selection puct-katago): the utility of a result with its score, the
// weight of an evaluation, and what the weights of a node's moves become in its mean.
#pragma once

#include <span>

#include "board/types.h"
#include "search/node.h"
#include "search/params.h"

namespace tengen {

// The mean of 2 / pi * atan((score - center) / scale) over a normal distribution of the score; 0 for no scale. Within
// 2e-4 of the integral, from a table.
float expected_score_value(float mean, float stdev, float center, float scale);

// The utility of results for one side: win_utility * value, no_result_utility * P(no result), and two score values,
// around 0 with scale 2 * board size and around the score that the game has now with score_center_scale * board size.
class ScoreUtility {
  public:
    // `center` in points for the side to which the results belong.
    ScoreUtility(const SearchParams& params, int board_size, Color side, float center)
        : params_(params),
          edge_(static_cast<float>(board_size)),
          center_(center),
          no_result_((side == Color::white ? 1.0f : -1.0f) * params.no_result_utility) {}

    float of(const Moments& result) const;
    // The change of the utility when the score grows by `points`.
    float gain(const Moments& result, float points) const;
    // uncertainty / (error ^ uncertainty_exponent + uncertainty / uncertainty_max_weight), `error` the expected
    // short-term error of the utility; 1 where the network does not predict it or `uncertainty` is 0.
    float weight(const NodeStats& evaluation) const;
    // Of a finished game, where the network predicts errors.
    static float end_weight(const SearchParams& params) {
        return params.uncertainty > 0 ? params.uncertainty_max_weight : 1;
    }

  private:
    float score_utility(const Moments& result, float points) const;
    float slope(float score, float center, float scale) const;

    const SearchParams& params_;
    float edge_, center_, no_result_;
};

// The range of a utility, from 0 up.
inline float utility_radius(const SearchParams& params) {
    return params.win_utility + params.static_score_utility + params.dynamic_score_utility;
}

// The score, for the same side, around which dynamic_score_utility counts when this score is expected.
float score_center(float expected, int board_size, const SearchParams& params);

// A move of a node: what its visits count for, its utility for the player who makes it, and its prior.
struct WeightedMove {
    float weight, utility, prior;
    const NodeStats* stats = nullptr;
};

// Of moves in the order in which they were first tried: takes from each that is worse than the mean of those before it
// the share 1 - exp(-gap / scale) of what it has above twice its share by the priors. Returns the sum of the weights.
float prune_noise(std::span<WeightedMove> moves, float scale);

// Multiplies each weight by P(z)^exponent, z the distance of the move's utility from their mean in standard errors and
// P the distribution of Student's t with 3 degrees of freedom, and scales the weights to their old sum.
void favor_good_moves(std::span<WeightedMove> moves, float exponent);

// The weight of an edge: its share of the weight of the node below, which other edges may share.
inline float edge_weight(std::uint32_t visits, const NodeStats& below) {
    return below.visits ? below.weight * (static_cast<float>(visits) / static_cast<float>(below.visits)) : 0;
}

// Lower confidence bound of an edge's utility, at most lcb_deviations standard errors of a weighted mean below it. One
// observation of the largest variance is added, whose weight vanishes with the cube of the effective sample size.
struct Bound {
    float lower, radius;
};
Bound weighted_lower_bound(std::uint32_t visits, const NodeStats* below, float bonus, const SearchParams& params);

}  // namespace tengen
