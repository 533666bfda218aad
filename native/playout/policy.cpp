#include "playout/policy.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "playout/local.h"
#include "playout/uniform.h"

namespace tengen {

namespace {

constexpr std::array<std::string_view, 2> kNames = {"uniform", "local"};

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
    std::string known;
    for (const auto other : kNames) known.append(known.empty() ? "" : ", ").append(other);
    throw std::invalid_argument("playout policy '" + std::string(name) + "' is unknown: choose " + known);
}

std::span<const std::string_view> playout_policies() { return kNames; }

}  // namespace tengen
