// Games of self-play for Python.
#include "pool/selfplay.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/locked.h"
#include "bindings/locked_search.h"
#include "bindings/plane_set_arg.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

constexpr int kMaxSlots = 1 << 20;

using LockedSelfPlay = Locked<SelfPlay>;

void add(LockedSelfPlay& self, std::int64_t index, std::uint64_t seed, int size, const std::string& rules, float komi,
         std::vector<std::uint16_t> start, int opening_moves, bool may_resign) {
    GamePlan plan{index, seed, size, Rules::parse(rules), komi, std::move(start), opening_moves, may_resign};
    self.with([&](SelfPlay& pool) { pool.add(std::move(plan)); });
}

int gather(LockedSelfPlay& self, const PlaneSetArg& name, Array<float, 4> planes, Array<float, 2> scalars,
           Array<float, 3> mask) {
    const PlaneSet& set = to_plane_set(name);
    return self.with([&](SelfPlay& pool) {
        check_leaf_arrays(set, planes, scalars, mask, pool.slots());
        return pool.gather(set, static_cast<int>(mask.shape(1)), {planes.data(), scalars.data(), mask.data()});
    });
}

template <auto kMember>
auto ask(LockedSelfPlay& self) {
    return self.with([](SelfPlay& pool) { return (pool.*kMember)(); });
}

template <auto kMember>
auto array_of(const PlayedGame& game) {
    return to_array(game.*kMember);
}

nb::typed<nb::list, nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>, nb::c_contig>> targets(const PlayedGame& game) {
    nb::list all;
    for (const auto& target : game.targets) all.append(to_array(target));
    return nb::borrow<nb::typed<nb::list, nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>, nb::c_contig>>>(all);
}

void bind_params(nb::module_& m) {
    nb::class_<PlayParams>(
        m, "PlayParams", "How games of self-play are played; tengen.selfplay.config.SearchConfig explains most of it.")
        .def(nb::init<>())
        .def_rw("full", &PlayParams::full)
        .def_rw("cheap", &PlayParams::cheap)
        .def_rw("visits", &PlayParams::visits)
        .def_rw("cheap_visits", &PlayParams::cheap_visits)
        .def_rw("cheap_share", &PlayParams::cheap_share)
        .def_rw("decided_cheap_share", &PlayParams::decided_cheap_share)
        .def_rw("decided_winrate", &PlayParams::decided_winrate)
        .def_rw("decided_turns", &PlayParams::decided_turns)
        .def_rw("temperature", &PlayParams::temperature)
        .def_rw("temperature_late", &PlayParams::temperature_late)
        .def_rw("temperature_halflife", &PlayParams::temperature_halflife)
        .def_rw("opening_temperature", &PlayParams::opening_temperature)
        .def_rw("reuse", &PlayParams::reuse)
        .def_rw("resign_winrate", &PlayParams::resign_winrate)
        .def_rw("resign_turns", &PlayParams::resign_turns)
        .def_rw("settle", &PlayParams::settle)
        .def_prop_rw(
            "pass_policy", [](const PlayParams& p) { return std::string(name(p.pass_policy)); },
            [](PlayParams& p, const std::string& text) { p.pass_policy = to_choice<PassPolicy>(text); })
        .def_rw("max_moves", &PlayParams::max_moves);
}

void bind_played(nb::module_& m) {
    nb::class_<PlayedGame>(m, "PlayedGame",
                           "A finished game of self-play. Arrays have an entry for each move, those of the start "
                           "included; every access makes a new one.")
        .def_ro("index", &PlayedGame::index)
        .def_ro("size", &PlayedGame::size)
        .def_ro("given", &PlayedGame::given, "Moves of the start.")
        .def_prop_ro("moves", array_of<&PlayedGame::moves>, nb::rv_policy::move,
                     "uint16: the point, bit 15 set where White played.")
        .def_prop_ro("targets", targets, nb::rv_policy::move,
                     "uint32 arrays: point in the low 16 bits, weight above (visits, or improved policy x 10000); "
                     "empty where no full search was made.")
        .def_prop_ro("root_values", array_of<&PlayedGame::root_values>, nb::rv_policy::move,
                     "float32, -1 to 1 for the side to move; NaN where nothing was searched.")
        .def_prop_ro("surprises", array_of<&PlayedGame::surprises>, nb::rv_policy::move,
                     "float32, nats: KL divergence of the target from the raw policy; NaN without a target.")
        .def_ro("score", &PlayedGame::score, "Black minus White with komi; NaN where the game was not counted.")
        .def_ro("winner", &PlayedGame::winner, "0 black, 1 white, 2 draw, -1 no result.")
        .def_ro("ending", &PlayedGame::ending, "passes, resignation, move limit, long cycle or settled.")
        .def_prop_ro("ownership", array_of<&PlayedGame::ownership>, nb::rv_policy::move,
                     "uint8 by point: 0 black, 1 white, 2 neutral; empty where the game was not counted.")
        .def_ro("evaluations", &PlayedGame::evaluations, "Network evaluations.");
}

void bind_pool(nb::module_& m) {
    nb::class_<LockedSelfPlay> pool(m, "SelfPlay",
                                    "Many games of self-play at once; tengen.selfplay.generate drives it.");
    def_scatter(pool);
    pool.def(
            "__init__",
            [](LockedSelfPlay* self, const PlayParams& params, int slots, int threads) {
                new (self) LockedSelfPlay(params, checked_range("slots", slots, 1, kMaxSlots), to_threads(threads));
            },
            "params"_a, "slots"_a, "threads"_a = 1)
        .def("add", add, "index"_a, "seed"_a, "size"_a, "rules"_a, "komi"_a, "start"_a = std::vector<std::uint16_t>{},
             "opening_moves"_a = 0, "may_resign"_a = false,
             "Queue a game; it depends on these values, the params and the evaluations alone.")
        .def("gather", gather, "plane_set"_a, "planes"_a.noconvert(), "scalars"_a.noconvert(), "mask"_a.noconvert(),
             "Search and play on until every game has a position to be evaluated, and write these into arrays of a "
             "row for each slot; returns their number, 0 when all games are over.")
        .def("forget_waiting", ask<&SelfPlay::forget_waiting>,
             "Give up the positions of the last gather; the next one finds them again.")
        .def("take", ask<&SelfPlay::take>, "Games that are over since the last call, by their index.")
        .def("playing", ask<&SelfPlay::playing>, "Games that are played now.")
        .def("queued", ask<&SelfPlay::queued>, "Games that wait for a slot.")
        .def("waiting", ask<&SelfPlay::waiting>, "Positions that wait for their results.")
        .def("slots", ask<&SelfPlay::slots>)
        .def("bytes", ask<&SelfPlay::bytes>, "Memory of all slots in bytes, approximately.");
}

}  // namespace

}  // namespace tengen::bindings

void register_selfplay(nb::module_& m) {
    tengen::bindings::bind_params(m);
    tengen::bindings::bind_played(m);
    tengen::bindings::bind_pool(m);
}
