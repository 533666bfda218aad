#include "search/leaf_results.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace tengen {

namespace {

std::span<const float> part(std::span<const float> column, std::size_t width, std::size_t first, std::size_t count) {
    return column.empty() ? column : column.subspan(first * width, count * width);
}

}  // namespace

void LeafResults::check(std::size_t rows, int edge) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const auto fits = [&](std::span<const float> column, std::size_t width) { return column.size() == rows * width; };
    const bool optional_fit = std::ranges::all_of(kOptional, [&](const ScalarOutput& output) {
        return (this->*output.column).empty() || fits(this->*output.column, 1);
    });
    if (!fits(value, 1) || !(fits(policy, area + 1) || fits(policy, area)) || !optional_fit ||
        !(ownership.empty() || fits(ownership, area)))
        throw std::logic_error(std::to_string(rows) + " leaves wait, results came for " + std::to_string(value.size()));
}

bool LeafResults::has_pass(int edge) const {
    return policy.size() != value.size() * static_cast<std::size_t>(edge) * edge;
}

LeafResults LeafResults::rows(std::size_t first, std::size_t count) const {
    if (value.empty()) return {};
    const std::size_t width = policy.size() / value.size(), area = ownership.size() / value.size();
    LeafResults chosen{.policy = part(policy, width, first, count),
                       .value = value.subspan(first, count),
                       .ownership = part(ownership, area, first, count)};
    for (const auto [name, column] : kOptional) chosen.*column = part(this->*column, 1, first, count);
    return chosen;
}

RootEvaluation mean_of(std::span<const RootEvaluation> parts) {
    constexpr auto kScore = LeafResults::kScore, kStdev = LeafResults::kScoreStdev;
    const auto n = static_cast<float>(parts.size());
    const auto mean = [&](auto output) {
        float sum = 0;
        for (const RootEvaluation& part : parts) sum += output(part) / n;
        return sum;
    };
    RootEvaluation whole = parts[0];  // with the outputs that all parts have
    for (const RootEvaluation& part : parts) {
        if (part.ownership.empty()) whole.ownership.clear();
        for (std::size_t i = 0; i < whole.optional.size(); ++i)
            if (!part.optional[i]) whole.optional[i].reset();
    }
    whole.value = mean([](const RootEvaluation& part) { return part.value; });
    for (std::size_t i = 0; i < whole.policy.size(); ++i)
        whole.policy[i] = mean([&](const RootEvaluation& part) { return part.policy[i]; });
    for (std::size_t i = 0; i < whole.ownership.size(); ++i)
        whole.ownership[i] = mean([&](const RootEvaluation& part) { return part.ownership[i]; });
    for (std::size_t i = 0; i < whole.optional.size(); ++i)
        if (whole.optional[i]) whole.optional[i] = mean([&](const RootEvaluation& part) { return *part.optional[i]; });
    if (whole.optional[kScore] && whole.optional[kStdev]) {
        const float square = mean([](const RootEvaluation& part) {
            const float score = *part.optional[kScore], stdev = *part.optional[kStdev];
            return score * score + stdev * stdev;
        });
        const float score = *whole.optional[kScore];
        whole.optional[kStdev] = std::sqrt(std::max(square - score * score, 0.0f));
    }
    return whole;
}

}  // namespace tengen
