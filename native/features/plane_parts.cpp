#include "features/plane_parts.h"

#include <cmath>

namespace tengen {

void position_mask(FeatureContext& f, PlaneWriter& plane) {
    const int size = f.board.size();
    const float middle = static_cast<float>(size - 1) / 2.0f;
    f.board.table().all.for_each([&](Point p) {
        const float x = static_cast<float>(p % size) - middle, y = static_cast<float>(p / size) - middle;
        plane.set(p, std::exp(-0.5f * (x * x + y * y)));
    });
}

std::vector<Scalar> komi_scalar() {
    return {{"self_komi", [](FeatureContext& f) { return f.self_komi() / 20.0f; }}};
}

}  // namespace tengen
