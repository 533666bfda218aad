// Between Python's numbers and the board's words. Whatever comes from Python passes through here, so that no value out
// of range reaches the native code.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "board/game.h"
#include "board/symmetry.h"

namespace tengen::bindings {

namespace nb = nanobind;

inline Color to_color(int value) {
    if (value != 0 && value != 1)
        throw nb::value_error(("color must be 0 (black) or 1 (white), not " + std::to_string(value)).c_str());
    return Color(value);
}

// `value`; throws ValueError where it is not `min` to `max`.
template <class Int>
Int checked_range(const std::string& name, Int value, int min, int max) {
    if (value < min || value > max)
        throw nb::value_error(
            (name + " must be " + std::to_string(min) + " to " + std::to_string(max) + ", not " + std::to_string(value))
                .c_str());
    return value;
}

// A sanity limit: threads cost memory long before their number overflows.
inline int to_threads(int value) { return checked_range("threads", value, 1, 1024); }

inline void check_symmetry(std::int64_t value) { checked_range("symmetry", value, 0, kSymmetries - 1); }

inline Point to_point(const Board& board, int value, bool pass_allowed = false) {
    if (value < 0 || value >= board.points() + pass_allowed) {
        const auto last = std::to_string(board.points() - !pass_allowed);
        throw nb::value_error(("point must be 0 to " + last + ", not " + std::to_string(value)).c_str());
    }
    return static_cast<Point>(value);
}

// A choice by its name. Throws ValueError that lists the names.
template <class Enum>
Enum to_choice(const std::string& text) {
    Enum value;
    parse(text, value);
    return value;
}

inline PointSet to_set(const Board& board, const std::vector<int>& points) {
    PointSet set;
    for (const int p : points) set.add(to_point(board, p));
    return set;
}

inline std::vector<int> to_list(const PointSet& set) {
    std::vector<int> points;
    set.for_each([&](Point p) { points.push_back(p); });
    return points;
}

// A new numpy array that owns its memory, for the caller to fill.
template <class T, class... Shape>
auto new_array(Shape... shape) {
    constexpr std::size_t kRank = sizeof...(Shape);
    const std::size_t extents[] = {static_cast<std::size_t>(shape)...};
    std::size_t count = 1;
    for (const auto extent : extents) count *= extent;
    auto data = std::make_unique<T[]>(count);
    T* const raw = data.release();
    const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<kRank>, nb::c_contig>(raw, kRank, extents, owner);
}

template <class T>
auto to_array(const std::vector<T>& values) {
    auto array = new_array<T>(values.size());
    std::copy(values.begin(), values.end(), array.data());
    return array;
}

// [size, size] of f(Point).
template <class T, class F>
auto board_array(int size, F f) {
    auto array = new_array<T>(size, size);
    for (int p = 0; p < size * size; ++p) array.data()[p] = static_cast<T>(f(static_cast<Point>(p)));
    return array;
}

}  // namespace tengen::bindings
