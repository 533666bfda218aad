#include "playout/policy.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "playout/bakago.h"
#include "playout/linear.h"
#include "playout/local.h"
#include "playout/ownership.h"
#include "playout/uniform.h"

namespace tengen {

namespace {

struct Entry {
    std::string_view name;
    std::shared_ptr<const PlayoutPolicy> (*make)(float temperature);
};

template <class Policy, auto... arguments>
std::shared_ptr<const PlayoutPolicy> make(float) {
    static const auto policy = std::make_shared<const Policy>(arguments...);
    return policy;
}

constexpr std::array kEntries = {
    Entry{"uniform", make<UniformPolicy>},
    Entry{"local", make<LocalPolicy>},
    Entry{"bakago", make<BakagoPolicy, BakagoReading::meant>},
    Entry{"bakago-published", make<BakagoPolicy, BakagoReading::published>},
    Entry{"linear",
          [](float temperature) {
              return linear_policy("linear", temperature);
          }},  // the last: it is there only once its weights are
};

constexpr auto kNames = [] {
    std::array<std::string_view, kEntries.size()> names;
    std::ranges::transform(kEntries, names.begin(), &Entry::name);
    return names;
}();

}  // namespace

void PlayoutPolicy::weigh(const Board&, Color, std::span<const Move>, std::span<const Point>,
                          std::span<float> weights) const {
    std::ranges::fill(weights, 1.0f);
}

std::array<PointSet, 2> PlayoutPolicy::area(const Board& board) const { return final_area(board); }

std::shared_ptr<const PlayoutPolicy> playout_policy(std::string_view name, float temperature) {
    for (const Entry& entry : kEntries)
        if (entry.name == name) return entry.make(temperature);
    if (name.starts_with("linear:")) return linear_policy(name, temperature);
    std::string known;
    for (const auto other : playout_policies()) known.append(known.empty() ? "" : ", ").append(other);
    throw std::invalid_argument("playout policy '" + std::string(name) + "' is unknown: choose " + known);
}

std::span<const std::string_view> playout_policies() {
    return std::span(kNames).first(kNames.size() - !has_linear_path());
}

}  // namespace tengen
