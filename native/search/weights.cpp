#include "search/weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tengen {

namespace {

constexpr float kTwoOverPi = 2 * std::numbers::inv_pi_v<float>;

// expected_score_value by mean / scale and stdev / scale. It is odd in the mean, so that half of it is enough.
class ScoreValueTable {
  public:
    static constexpr int kSteps = 16;               // a unit
    static constexpr int kMeans = 16 * kSteps + 1;  // more counts as this
    static constexpr int kStdevs = 6 * kSteps + 1;

    ScoreValueTable() : values_(kMeans * kStdevs) {
        for (int mean = 0; mean < kMeans; ++mean)
            for (int stdev = 0; stdev < kStdevs; ++stdev)
                values_[mean * kStdevs + stdev] = integral(double(mean) / kSteps, double(stdev) / kSteps);
    }

    float at(float mean, float stdev) const {
        // In this order NaN, of scores beyond the range of a float, is the last cell too.
        const float m = std::min(float(kMeans - 1), std::abs(mean) * kSteps),
                    s = std::min(float(kStdevs - 1), stdev * kSteps);
        const int row = std::min(int(m), kMeans - 2), column = std::min(int(s), kStdevs - 2);
        const float down = m - float(row), right = s - float(column);
        const float* const cell = &values_[row * kStdevs + column];
        const float upper = cell[0] + right * (cell[1] - cell[0]);
        const float lower = cell[kStdevs] + right * (cell[kStdevs + 1] - cell[kStdevs]);
        return std::copysign(upper + down * (lower - upper), mean);
    }

  private:
    // By cells of the distribution, with the exact mean of atan in each, so that few cells are enough.
    static float integral(double mean, double stdev) {
        constexpr int kCells = 60;
        constexpr double kEnd = 5, kWidth = 2 * kEnd / kCells;  // in standard deviations
        const auto antiderivative = [](double x) { return x * std::atan(x) - std::log1p(x * x) / 2; };
        if (stdev == 0) return static_cast<float>(std::atan(mean)) * kTwoOverPi;
        stdev *= std::sqrt(1 - kWidth * kWidth / 12);  // the cells themselves are as wide
        double sum = 0, total = 0, left = antiderivative(mean - kEnd * stdev);
        for (int i = 0; i < kCells; ++i) {
            const double end = (i + 1) * kWidth - kEnd, middle = end - kWidth / 2;
            const double right = antiderivative(mean + end * stdev), weight = std::exp(-middle * middle / 2);
            sum += weight * (right - left) / (kWidth * stdev);
            total += weight;
            left = right;
        }
        return static_cast<float>(sum / total) * kTwoOverPi;
    }

    std::vector<float> values_;
};

float stdev_of(const Moments& result) {
    return std::sqrt(std::max(0.0f, result.score_square - result.score * result.score));  // 0 for NaN
}

}  // namespace

float expected_score_value(float mean, float stdev, float center, float scale) {
    static const ScoreValueTable table;
    return table.at((mean - center) / scale, stdev / scale);
}

float ScoreUtility::score_utility(const Moments& result, float points) const {
    const float score = result.score + points, stdev = stdev_of(result);
    float sum = 0;
    if (params_.static_score_utility > 0)
        sum += params_.static_score_utility * expected_score_value(score, stdev, 0, 2 * edge_);
    if (params_.dynamic_score_utility > 0)
        sum += params_.dynamic_score_utility *
               expected_score_value(score, stdev, center_, params_.score_center_scale * edge_);
    return sum;
}

float ScoreUtility::of(const Moments& result) const {
    return params_.win_utility * result.value + no_result_ * result.no_result + score_utility(result, 0);
}

float ScoreUtility::gain(const Moments& result, float points) const {
    return score_utility(result, points) - score_utility(result, 0);
}

float ScoreUtility::slope(float score, float center, float scale) const {
    return kTwoOverPi * scale / (scale * scale + (score - center) * (score - center));
}

float ScoreUtility::weight(const NodeStats& evaluation) const {
    if (params_.uncertainty <= 0 || evaluation.value_error < 0) return 1;
    const float score = evaluation.own.score;
    const float per_point = params_.static_score_utility * slope(score, 0, 2 * edge_) +
                            params_.dynamic_score_utility * slope(score, center_, params_.score_center_scale * edge_);
    const float error =
        params_.win_utility * evaluation.value_error + per_point * std::max(evaluation.score_error, 0.0f);
    const float powered = params_.uncertainty_exponent == 1 ? error : std::pow(error, params_.uncertainty_exponent);
    return params_.uncertainty / (powered + params_.uncertainty / params_.uncertainty_max_weight);
}

float score_center(float expected, int board_size, const SearchParams& params) {
    const float room = params.score_center_scale * static_cast<float>(board_size);
    return std::clamp(expected * (1 - params.score_center_pull), expected - room, expected + room);
}

float prune_noise(std::span<WeightedMove> moves, float scale) {
    float weights = 0, utilities = 0, priors = 0;
    for (WeightedMove& move : moves) {
        if (weights > 0) {
            const float gap = utilities / weights - move.utility;
            const float excess = move.weight - 2 * weights * move.prior / priors;
            if (gap > 0 && excess > 0) move.weight -= excess * (1 - std::exp(-gap / scale));
        }
        weights += move.weight;
        utilities += move.weight * move.utility;
        priors += move.prior;
    }
    return weights;
}

void favor_good_moves(std::span<WeightedMove> moves, float exponent) {
    float total = 0, mean = 0;
    for (const WeightedMove& move : moves) total += move.weight, mean += move.weight * move.utility;
    if (total <= 0 || exponent == 0) return;
    mean /= total;
    float changed = 0;
    for (WeightedMove& move : moves) {
        const float error = std::sqrt(1e-8f + 1 / (1.5f * std::sqrt(std::max(move.weight, 1e-12f))));
        const float x = (move.utility - mean) / error * std::numbers::inv_sqrt3_v<float>;
        const float chance = 0.5f + std::numbers::inv_pi_v<float> * (x / (1 + x * x) + std::atan(x));
        move.weight *= std::pow(chance + 1e-4f, exponent);
        changed += move.weight;
    }
    for (WeightedMove& move : moves) move.weight *= total / changed;
}

Bound weighted_lower_bound(std::uint32_t visits, const NodeStats* below, float bonus, const SearchParams& params) {
    const float radius = utility_radius(params);
    const Bound unknown{-2 * radius * params.lcb_deviations, 2 * radius * params.lcb_deviations};
    if (!below || !below->visits || !visits) return unknown;
    const double share = double(visits) / below->visits;
    double weight = below->weight * share, squares = below->weight_square * share;
    if (weight <= 0 || squares <= 0) return unknown;
    const double sample = weight * weight / squares, added = weight / (sample * sample * sample);
    const double mean = below->mean.utility;
    double square = std::max<double>(below->mean.utility_square, mean * mean + 1e-8);
    square = (square * weight + (square + double(radius) * radius) * added) / (weight + added);
    weight += added;
    squares += added * added;
    const double error = std::sqrt((square - mean * mean) * squares / (weight * weight));
    const auto wide = static_cast<float>(error * params.lcb_deviations);
    return {static_cast<float>(-mean) + bonus - wide, wide};
}

}  // namespace tengen
