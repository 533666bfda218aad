// What the bindings of one search and of a pool share: the arrays that go in and out.
#pragma once

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/convert.h"
#include "bindings/locked.h"
#include "search/search.h"

namespace tengen::bindings {

template <class T, int kDims>
using Array = nb::ndarray<T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;

using LockedSearch = Locked<Search>;

inline void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(what);
}

// Throws unless the arrays hold `rows` positions of the plane set.
inline void check_leaf_arrays(const PlaneSet& set, const Array<float, 4>& planes, const Array<float, 2>& scalars,
                              const Array<float, 3>& mask, std::size_t rows) {
    const auto edge = mask.shape(1);
    require(planes.shape(0) >= rows && scalars.shape(0) >= rows && mask.shape(0) >= rows,
            "limit is more than the arrays have rows");
    require(mask.shape(2) == edge && planes.shape(2) == edge && planes.shape(3) == edge,
            "planes and mask must be square and of one edge");
    require(edge <= kMaxEdge, "the edge of the arrays is too large");
    require(planes.shape(1) == set.planes.size() && scalars.shape(1) == set.scalars.size(),
            "planes or scalars do not fit the plane set");
}

// The results of the first n rows, as scatter takes them in Python: policy [n, edge * edge + 1] or, without pass,
// [n, edge * edge]; score and ownership may be None, and `optional` has further outputs of LeafResults::kOptional by
// their names.
struct Results {
    LeafResults results;
    int edge;
};

using Columns = std::map<std::string, Array<const float, 1>>;

inline Results leaf_results(const Array<const float, 2>& policy, const Array<const float, 1>& value,
                            const std::optional<Array<const float, 1>>& score,
                            const std::optional<Array<const float, 3>>& ownership, std::size_t n,
                            const Columns& optional) {
    const std::size_t width = policy.shape(1), edge = static_cast<std::size_t>(std::sqrt(static_cast<double>(width)));
    const std::size_t area = edge * edge;
    require(area == width || area + 1 == width,
            "policy must have edge * edge + 1 columns, or edge * edge without pass");
    require(edge <= kMaxEdge, "the edge of the results is too large");
    require(policy.shape(0) >= n && value.size() >= n && (!score || score->size() >= n) &&
                (!ownership || ownership->shape(0) >= n) &&
                std::ranges::all_of(optional, [&](const auto& column) { return column.second.size() >= n; }),
            "n is more than the arrays have rows");
    require(!ownership || (ownership->shape(1) == edge && ownership->shape(2) == edge),
            "policy and ownership must be of one edge");
    LeafResults results{.policy = {policy.data(), n * width}, .value = {value.data(), n}};
    if (score) results.score = {score->data(), n};
    std::size_t known = 0;
    for (const auto [name, column] : LeafResults::kOptional)
        if (const auto found = optional.find(name); found != optional.end())
            results.*column = {found->second.data(), n}, ++known;
    require(known == optional.size(), "an output of the network has an unknown name");
    if (ownership) results.ownership = {ownership->data(), n * area};
    return {results, static_cast<int>(edge)};
}

// The method `scatter` of a search or of searches.
template <class T>
void def_scatter(nb::class_<Locked<T>>& bound) {
    using namespace nb::literals;
    bound.def(
        "scatter",
        [](Locked<T>& self, Array<const float, 2> policy, Array<const float, 1> value,
           std::optional<Array<const float, 1>> score, std::optional<Array<const float, 3>> ownership, std::size_t n,
           const Columns& optional) {
            const auto [results, edge] = leaf_results(policy, value, score, ownership, n, optional);
            self.with([&, &results = results, edge = edge](auto& held) { held.scatter(results, edge); });
        },
        "policy"_a.noconvert(), "value"_a.noconvert(), "score"_a.noconvert().none(), "ownership"_a.noconvert().none(),
        "n"_a, "optional"_a = Columns{},
        "Results for the n positions of the last gather: policy float32 [n, E * E + 1], or [n, E * E] without pass, "
        "value [n], score [n] or None, ownership [n, E, E] or None; `optional` has no_result, lead, score_stdev, "
        "value_error, score_error and time_left [n], those that the network predicts.");
}

}  // namespace tengen::bindings
