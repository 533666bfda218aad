// Many searches at once for Python.
#include "pool/pool.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/locked_search.h"
#include "bindings/plane_set_arg.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

using LockedPool = Locked<SearchPool>;

LockedSearch search(LockedPool& self, int game) {
    return self.part([&](SearchPool& pool) -> Search& {
        if (game < 0 || game >= pool.games())
            throw nb::index_error(
                ("game must be 0 to " + std::to_string(pool.games() - 1) + ", not " + std::to_string(game)).c_str());
        return pool.search(game);
    });
}

int gather(LockedPool& self, const PlaneSetArg& name, Array<float, 4> planes, Array<float, 2> scalars,
           Array<float, 3> mask, Array<const std::int32_t, 1> limits) {
    const PlaneSet& set = to_plane_set(name);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < limits.size(); ++i) rows += std::max(limits.data()[i], 0);
    check_leaf_arrays(set, planes, scalars, mask, rows);
    return self.with([&](SearchPool& pool) {
        return pool.gather(set, static_cast<int>(mask.shape(1)), {limits.data(), limits.size()},
                           {planes.data(), scalars.data(), mask.data()});
    });
}

// An array over the games of what a member function of each search returns.
template <class T, auto kMember>
auto ask_all(LockedPool& self) {
    const auto answers = self.with([](SearchPool& pool) {
        std::vector<T> all;
        for (int i = 0; i < pool.games(); ++i) all.push_back(static_cast<T>((pool.search(i).*kMember)()));
        return all;
    });
    return to_array(answers);
}

}  // namespace

}  // namespace tengen::bindings

void register_pool(nb::module_& m) {
    using namespace tengen::bindings;
    using tengen::Search;
    nb::class_<LockedPool> pool(m, "SearchPool", "Many searches at once; tengen.engine.pool.SearchPool drives them.");
    def_scatter(pool);
    pool.def(
            "__init__",
            [](LockedPool* self, const tengen::SearchParams& params, const std::vector<std::uint64_t>& seeds,
               int threads) { new (self) LockedPool(params, seeds, to_threads(threads)); },
            "params"_a, "seeds"_a, "threads"_a)
        .def("search", search, "game"_a, "One of the searches, to be given roots and asked.")
        .def("gather", gather, "plane_set"_a, "planes"_a.noconvert(), "scalars"_a.noconvert(), "mask"_a.noconvert(),
             "limits"_a.noconvert(),
             "Run up to limits[i] simulations of game i and write the positions that need an evaluation, game after "
             "game; returns their number.")
        .def(
            "forget_waiting",
            [](LockedPool& self) { self.with([](tengen::SearchPool& pool) { pool.forget_waiting(); }); },
            "Give up the positions of the last gather, as when their evaluation failed.")
        .def("root_visits", ask_all<std::int64_t, &Search::root_visits>, "int64 [games]")
        .def("root_waits", ask_all<std::int64_t, &Search::root_waits>,
             "int64 [games]: rows of the last gather, the first ones of the game, that are its root.")
        .def("waiting", ask_all<std::int64_t, &Search::waiting>, "int64 [games]: positions of the last gather.");
}
