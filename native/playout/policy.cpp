#include "playout/policy.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "playout/linear.h"
#include "playout/local.h"
#include "playout/uniform.h"

namespace tengen {

namespace {

// `linear` is the last: it is there only once its weights are.
constexpr std::array<std::string_view, 3> kNames = {"uniform", "local", "linear"};

}  // namespace

void PlayoutPolicy::weigh(const Board&, Color, std::span<const Move>, std::span<const Point>,
                          std::span<float> weights) const {
    std::ranges::fill(weights, 1.0f);
}

std::shared_ptr<const PlayoutPolicy> playout_policy(std::string_view name) {
    static const auto uniform = std::make_shared<const UniformPolicy>();
    static const auto local = std::make_shared<const LocalPolicy>();
    if (name == "uniform") return uniform;
    if (name == "local") return local;
    if (name == "linear" || name.starts_with("linear:")) return linear_policy(name);
    std::string known;
    for (const auto other : playout_policies()) known.append(known.empty() ? "" : ", ").append(other);
    throw std::invalid_argument("playout policy '" + std::string(name) + "' is unknown: choose " + known);
}

std::span<const std::string_view> playout_policies() {
    return std::span(kNames).first(kNames.size() - !has_linear_path());
}

}  // namespace tengen
