#include "board/geometry.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tengen {

Geometry::Geometry(int size) : size(size), points(size * size) {
    const auto collect = [size](int row, int column, std::initializer_list<std::pair<int, int>> steps) {
        Points found;
        for (const auto& [down, right] : steps) {
            const int r = row + down, c = column + right;
            if (r >= 0 && r < size && c >= 0 && c < size) found.at[found.count++] = static_cast<Point>(r * size + c);
        }
        return found;
    };
    for (int row = 0; row < size; ++row) {
        for (int column = 0; column < size; ++column) {
            const auto p = static_cast<Point>(row * size + column);
            neighbors[p] = collect(row, column, {{-1, 0}, {0, -1}, {0, 1}, {1, 0}});
            diagonals[p] = collect(row, column, {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}});
            for (const Point n : neighbors[p].span()) neighbor_sets[p].add(n);
            all.add(p);
            if (neighbors[p].count < 4) border.add(p);
        }
    }
}

const Geometry& geometry(int size) {
    static const std::vector<Geometry> tables = [] {
        std::vector<Geometry> built;
        for (int s = kMinSize; s <= kMaxSize; ++s) built.emplace_back(s);
        return built;
    }();
    if (size < kMinSize || size > kMaxSize)
        throw std::invalid_argument("board size must be " + std::to_string(kMinSize) + " to " +
                                    std::to_string(kMaxSize) + ", not " + std::to_string(size));
    return tables[size - kMinSize];
}

}  // namespace tengen
