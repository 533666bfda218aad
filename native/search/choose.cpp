#include "search/choose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

namespace tengen {

namespace {

// Leela Zero's sum of squares before the first visit, 1e-4 for values from 0 to 1.
constexpr float kInitialSquaredSum = 4e-4f;

std::uint32_t max_visits(std::span<const RootMove> moves) {
    std::uint32_t maximum = 0;
    for (const auto& move : moves) maximum = std::max(maximum, move.visits);
    return maximum;
}

template <class Weight>
Point draw(std::span<const RootMove> moves, Weight weight, float temperature, Random& random) {
    std::vector<double> weights;
    for (const auto& move : moves) weights.push_back(weight(move));
    const int chosen = draw_by_weight(weights, temperature, random);
    return chosen < 0 ? kNoPoint : moves[chosen].point;
}

// Without a visit that gives a weight, by the prior. A draw leaves out moves below a weight of 1, or below 1/64 of the
// largest where that is less.
Point choose_by_weight(std::span<const RootMove> moves, float temperature, Random& random) {
    double maximum = 0;
    for (const auto& move : moves) maximum = std::max(maximum, double(move.play_weight));
    const bool known = maximum > 0;
    const double minimum = std::min(1.0, maximum / 64);
    const auto weight = [&](const RootMove& move) {
        if (!known) return move.visits ? double(move.prior) : 0;
        return move.play_weight >= minimum ? double(move.play_weight) : 0;
    };
    const auto best = std::ranges::max_element(moves, {}, weight);
    return temperature > 0 ? draw(moves, weight, temperature, random) : best->point;
}

// The probability that Student's t with so many degrees of freedom is above t >= 0 (Abramowitz and Stegun 1964, 26.7.3
// and 26.7.4).
double above(double t, int freedom) {
    const double angle = std::atan(t / std::sqrt(freedom)), cosine = std::cos(angle);
    const bool odd = freedom % 2;
    double term = odd ? cosine : 1, sum = 0;
    for (int power = odd; power <= freedom - 2; power += 2) {
        sum += term;
        term *= cosine * cosine * (power + 1) / (power + 2);
    }
    sum *= std::sin(angle);
    return (1 - (odd ? 2 / std::numbers::pi * (angle + sum) : sum)) / 2;
}

double quantile(double probability, int freedom) {
    double low = 0, high = 1;
    while (above(high, freedom) > probability) high *= 2;
    for (int i = 0; i < 50; ++i) {
        const double middle = (low + high) / 2;
        (above(middle, freedom) > probability ? low : high) = middle;
    }
    return high;
}

constexpr float kCloseShare = 0.5f;  // of the maximum visits: what `diversity` takes for close
constexpr int kQuantiles = 1000;     // degrees of freedom from which on the quantile hardly changes, as in Leela Zero

float cached_quantile(float probability, std::uint32_t freedom) {
    static std::mutex lock;
    static std::map<float, std::vector<float>> tables;
    const std::lock_guard guard(lock);
    std::vector<float>& table = tables[probability];
    if (table.empty())
        for (int i = 1; i <= kQuantiles; ++i) table.push_back(static_cast<float>(quantile(probability, i)));
    return table[std::min<std::uint32_t>(freedom, kQuantiles) - 1];
}

}  // namespace

int draw_by_weight(std::span<const double> weights, float temperature, Random& random) {
    const double largest = weights.empty() ? 0 : std::ranges::max(weights);
    std::vector<double> powers;
    double total = 0;
    for (const double weight : weights) {
        powers.push_back(weight > 0 ? std::pow(weight / largest, 1.0 / temperature) : 0);
        total += powers.back();
    }
    double left = random.uniform() * total;
    int chosen = -1;
    for (std::size_t i = 0; i < powers.size(); ++i) {
        if (powers[i] == 0) continue;
        chosen = static_cast<int>(i);
        left -= powers[i];
        if (left < 0) break;
    }
    return chosen;
}

float lower_bound(const EdgeStats& stats, const SearchParams& params) {
    if (!stats.visits) return -1;
    const double n = stats.visits, spread = std::max(stats.square - stats.utility * stats.utility, 0.0);
    const auto below = [&](double distance) { return static_cast<float>(std::max(stats.utility - distance, -1.0)); };
    if (params.lcb_probability > 0) {
        if (stats.visits < 2) return -1;
        const float deviations = cached_quantile(params.lcb_probability, stats.visits - 1);
        return below(deviations * std::sqrt((n * spread + kInitialSquaredSum) / (n - 1) / n));
    }
    return below(params.lcb_deviations * std::sqrt((n * spread + 1) / (n + 1) / n));
}

Point choose_move(std::span<const RootMove> moves, const SearchParams& params, Point pass, Random& random) {
    const std::uint32_t maximum = max_visits(moves);
    if (!maximum) return kNoPoint;
    if (params.is_weighted()) {
        const Point chosen = choose_by_weight(moves, params.temperature, random);
        return params.temperature > 0 ? chosen : diversify(moves, chosen, params.diversity, pass, random);
    }
    if (params.temperature > 0)
        return draw(moves, [](const RootMove& m) { return double(m.visits); }, params.temperature, random);
    const RootMove* best = nullptr;
    for (const auto& move : moves) {
        if (!move.visits ||
            (params.lcb && static_cast<float>(move.visits) < params.lcb_share * static_cast<float>(maximum)))
            continue;
        const bool tie = !best || !params.lcb || move.utility_lcb == best->utility_lcb;
        if (!best || (tie ? move.visits > best->visits : move.utility_lcb > best->utility_lcb)) best = &move;
    }
    return diversify(moves, best->point, params.diversity, pass, random);
}

float share_to_be_chosen(const SearchParams& params) {
    return std::min(params.lcb ? params.lcb_share : 1, params.diversity > 0 ? kCloseShare : 1);
}

Point diversify(std::span<const RootMove> moves, Point best, float chance, Point pass, Random& random) {
    if (chance <= 0 || best == pass) return best;
    const std::uint32_t maximum = max_visits(moves);
    const RootMove* second = nullptr;
    for (const auto& move : moves) {
        if (move.point == best && move.visits < maximum) return best;
        if (move.point != best && (!second || move.visits > second->visits)) second = &move;
    }
    const bool close = second && second->point != pass &&
                       static_cast<float>(second->visits) > kCloseShare * static_cast<float>(maximum);
    return close && random.uniform() < chance ? second->point : best;
}

}  // namespace tengen
