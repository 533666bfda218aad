#include "features/encode.h"

#include <algorithm>

#include "board/symmetry.h"

namespace tengen {

Layout::Layout(int size, int symmetry, int edge) : points_(size * size), edge_(edge) {
    const auto place = [&](Point p) {
        const Point turned = transform(p, size, symmetry);
        return turned / size * edge + turned % size;
    };
    // Every symmetry is affine, so three points tell where all the others go.
    const int origin = place(0), right = place(1) - origin, down = place(static_cast<Point>(size)) - origin;
    for (int row = 0, p = 0; row < size; ++row)
        for (int column = 0; column < size; ++column) at_[p++] = origin + row * down + column * right;
}

void encode(const PlaneSet& set, FeatureContext& context, const Layout& layout, float* planes, float* scalars,
            float* mask) {
    const int area = layout.edge() * layout.edge();
    std::fill_n(planes, set.planes.size() * area, 0.0f);
    for (const Plane& plane : set.planes) {
        PlaneWriter writer(layout, planes);
        plane.write(context, writer);
        planes += area;
    }
    for (const Scalar& scalar : set.scalars) *scalars++ = scalar.value(context);
    std::fill_n(mask, area, 0.0f);
    PlaneWriter(layout, mask).fill(context.board.table().all);
}

void encode(const PlaneSet& set, const Game& game, int symmetry, int edge, float* planes, float* scalars, float* mask,
            const Ranks& ranks) {
    FeatureContext context(game, ranks);
    encode(set, context, Layout(game.board().size(), symmetry, edge), planes, scalars, mask);
}

}  // namespace tengen
