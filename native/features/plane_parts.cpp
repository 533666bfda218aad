#include "features/plane_parts.h"

#include <array>
#include <cmath>

namespace tengen {

namespace {

using Values = std::array<float, kMaxPoints>;

Values gaussian(int size) {
    Values values{};
    const float middle = static_cast<float>(size - 1) / 2.0f;
    for (int p = 0; p < size * size; ++p) {
        const float x = static_cast<float>(p % size) - middle, y = static_cast<float>(p / size) - middle;
        values[p] = std::exp(-0.5f * (x * x + y * y));
    }
    return values;
}

}  // namespace

void position_mask(FeatureContext& f, PlaneWriter& plane) {
    static const auto by_size = [] {
        std::array<Values, kMaxSize + 1> tables;
        for (int size = 0; size <= kMaxSize; ++size) tables[size] = gaussian(size);
        return tables;
    }();
    const Values& values = by_size[f.board.size()];
    for (Point p = 0; p < f.board.points(); ++p) plane.set(p, values[p]);
}

float komi_wave(int points, float self_komi) {
    const float above = self_komi - static_cast<float>(points % 2);
    const float d = above - 2.0f * std::floor(above / 2.0f);
    return d < 0.5f ? d : d < 1.5f ? 1.0f - d : d - 2.0f;
}

std::vector<Scalar> komi_scalar() {
    return {{"self_komi", [](FeatureContext& f) { return f.self_komi() / 20.0f; }}};
}

}  // namespace tengen
