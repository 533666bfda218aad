// The search for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/locked_search.h"
#include "search/text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

std::vector<Point> to_points(const Board& board, const std::vector<int>& values) {
    std::vector<Point> points;
    for (const int value : values) points.push_back(to_point(board, value, true));
    return points;
}

void set_root(LockedSearch& self, const Game& game, const std::vector<int>& allow, const std::vector<int>& avoid) {
    const auto allowed = to_points(game.board(), allow), avoided = to_points(game.board(), avoid);
    self.with([&](Search& search) { search.set_root(game, allowed, avoided); });
}

int gather(LockedSearch& self, const std::string& name, Array<float, 4> planes, Array<float, 2> scalars,
           Array<float, 3> mask, int limit) {
    const PlaneSet& set = plane_set(name);
    check_leaf_arrays(set, planes, scalars, mask, static_cast<std::size_t>(std::max(limit, 0)));
    return self.with([&](Search& search) {
        require(mask.shape(1) >= static_cast<std::size_t>(search.game().board().size()),
                "the arrays are too small for the board");
        return search.gather(set, static_cast<int>(mask.shape(1)), planes.data(), scalars.data(), mask.data(), limit);
    });
}

void scatter(LockedSearch& self, Array<const float, 2> policy, Array<const float, 1> value, Array<const float, 1> score,
             Array<const float, 3> ownership, std::size_t n) {
    const LeafResults results = leaf_results(policy, value, score, ownership, n);
    self.with([&](Search& search) { search.scatter(results, static_cast<int>(ownership.shape(1))); });
}

template <class T, class F>
auto column(const std::vector<RootMove>& moves, F field) {
    auto array = new_array<T>(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) array.data()[i] = static_cast<T>(field(moves[i]));
    return array;
}

nb::dict root_stats(LockedSearch& self) {
    const auto moves = self.with([](Search& search) { return search.root_moves(); });
    nb::dict stats;
    stats["point"] = column<std::int32_t>(moves, [](const RootMove& m) { return m.point; });
    stats["visits"] = column<std::int32_t>(moves, [](const RootMove& m) { return m.visits; });
    stats["value"] = column<float>(moves, [](const RootMove& m) { return m.value; });
    stats["score"] = column<float>(moves, [](const RootMove& m) { return m.score; });
    stats["utility"] = column<float>(moves, [](const RootMove& m) { return m.utility; });
    stats["lcb"] = column<float>(moves, [](const RootMove& m) { return m.lcb; });
    stats["prior"] = column<float>(moves, [](const RootMove& m) { return m.prior; });
    return stats;
}

auto policy_target(LockedSearch& self) {
    const auto target = self.with([](Search& search) { return search.policy_target(); });
    auto array = new_array<float>(target.size());
    std::copy(target.begin(), target.end(), array.data());
    return array;
}

auto root_ownership(LockedSearch& self) {
    int size = 0;
    const auto mean = self.with([&](Search& search) {
        size = search.game().board().size();
        return search.root_ownership();
    });
    const auto array = [&] { return board_array<float>(size, [&](Point p) { return mean[p]; }); };
    return mean.empty() ? std::nullopt : std::optional(array());
}

void bind_params(nb::module_& m) {
    nb::class_<SearchParams>(m, "SearchParams",
                             "Settings of a search; tengen.engine.params.SearchParams explains them.")
        .def(nb::init<>())
        .def_prop_rw(
            "selection", [](const SearchParams& p) { return std::string(name(p.selection)); },
            [](SearchParams& p, const std::string& text) { p.selection = parse_selection(text); })
        .def_rw("c_puct", &SearchParams::c_puct)
        .def_rw("c_puct_base", &SearchParams::c_puct_base)
        .def_rw("c_puct_factor", &SearchParams::c_puct_factor)
        .def_prop_rw(
            "fpu", [](const SearchParams& p) { return std::string(name(p.fpu)); },
            [](SearchParams& p, const std::string& text) { p.fpu = parse_first_play(text); })
        .def_prop_rw(
            "root_fpu", [](const SearchParams& p) { return std::string(name(p.root_fpu)); },
            [](SearchParams& p, const std::string& text) { p.root_fpu = parse_first_play(text); })
        .def_rw("fpu_value", &SearchParams::fpu_value)
        .def_rw("root_fpu_value", &SearchParams::root_fpu_value)
        .def_rw("puct_noise", &SearchParams::puct_noise)
        .def_rw("virtual_games", &SearchParams::virtual_games)
        .def_rw("noise_shaped", &SearchParams::noise_shaped)
        .def_rw("fpu_reduction", &SearchParams::fpu_reduction)
        .def_rw("root_fpu_reduction", &SearchParams::root_fpu_reduction)
        .def_rw("gumbel_moves", &SearchParams::gumbel_moves)
        .def_rw("gumbel_scale", &SearchParams::gumbel_scale)
        .def_rw("gumbel_c_visit", &SearchParams::gumbel_c_visit)
        .def_rw("gumbel_c_scale", &SearchParams::gumbel_c_scale)
        .def_rw("planned_visits", &SearchParams::planned_visits)
        .def_rw("stop_futile", &SearchParams::stop_futile)
        .def_rw("forced_playouts", &SearchParams::forced_playouts)
        .def_rw("uct_exploration", &SearchParams::uct_exploration)
        .def_rw("rave_equivalence", &SearchParams::rave_equivalence)
        .def_rw("rave_exploration", &SearchParams::rave_exploration)
        .def_rw("virtual_loss", &SearchParams::virtual_loss)
        .def_rw("score_weight", &SearchParams::score_weight)
        .def_rw("score_scale", &SearchParams::score_scale)
        .def_rw("priors", &SearchParams::priors)
        .def_rw("playout", &SearchParams::playout)
        .def_rw("playout_weight", &SearchParams::playout_weight)
        .def_rw("playouts", &SearchParams::playouts)
        .def_rw("playout_slope", &SearchParams::playout_slope)
        .def_rw("playout_decay", &SearchParams::playout_decay)
        .def_prop_rw(
            "leaf_symmetry", [](const SearchParams& p) { return std::string(name(p.leaf_symmetry)); },
            [](SearchParams& p, const std::string& text) { p.leaf_symmetry = parse_leaf_symmetry(text); })
        .def_rw("expand_visits", &SearchParams::expand_visits)
        .def_rw("candidate_mass", &SearchParams::candidate_mass)
        .def_rw("candidate_max", &SearchParams::candidate_max)
        .def_rw("candidate_min", &SearchParams::candidate_min)
        .def_rw("policy_temperature", &SearchParams::policy_temperature)
        .def_rw("root_temperature", &SearchParams::root_temperature)
        .def_rw("noise_weight", &SearchParams::noise_weight)
        .def_rw("noise_total", &SearchParams::noise_total)
        .def_rw("transpositions", &SearchParams::transpositions)
        .def_rw("merge_symmetric", &SearchParams::merge_symmetric)
        .def_rw("prune_pass_alive", &SearchParams::prune_pass_alive)
        .def_rw("simulate_to_end", &SearchParams::simulate_to_end)
        .def_rw("forbid_pass", &SearchParams::forbid_pass)
        .def_rw("prune_eyes", &SearchParams::prune_eyes)
        .def_rw("ownership", &SearchParams::ownership)
        .def_rw("memory", &SearchParams::memory)
        .def_rw("temperature", &SearchParams::temperature)
        .def_rw("lcb", &SearchParams::lcb)
        .def_rw("lcb_deviations", &SearchParams::lcb_deviations)
        .def_rw("lcb_share", &SearchParams::lcb_share);
}

// A method without arguments that asks the search for a number or a text.
template <auto kMember>
auto ask() {
    return [](LockedSearch& self) { return self.with([](Search& search) { return (search.*kMember)(); }); };
}

void bind_search(nb::module_& m) {
    nb::class_<LockedSearch>(m, "Search", "One tree search; tengen.engine.search.TreeSearch drives it.")
        .def(nb::init<const SearchParams&, std::uint64_t>(), "params"_a, "seed"_a)
        .def("set_root", set_root, "game"_a, "allow"_a = std::vector<int>{}, "avoid"_a = std::vector<int>{},
             "Search this position from now on; what the tree knows of it already stays.")
        .def("gather", gather, "plane_set"_a, "planes"_a.noconvert(), "scalars"_a.noconvert(), "mask"_a.noconvert(),
             "limit"_a,
             "Run up to `limit` simulations and write the positions that need an evaluation; returns their number, 0 "
             "when "
             "all simulations ended in finished games or in a full tree, which count at once.")
        .def("scatter", scatter, "policy"_a.noconvert(), "value"_a.noconvert(), "score"_a.noconvert(),
             "ownership"_a.noconvert(), "n"_a, "Results for the n positions of the last gather.")
        .def(
            "run",
            [](LockedSearch& self, long simulations, int threads, double seconds) {
                return self.with([&](Search& search) { return search.run(simulations, to_threads(threads), seconds); });
            },
            "simulations"_a, "threads"_a = 1, "seconds"_a = 1e9,
            "Search on by playouts alone, for so many simulations or seconds; how many counted.")
        .def(
            "plan", [](LockedSearch& self, int n) { self.with([&](Search& search) { search.plan(n); }); },
            "simulations"_a,
            "How many simulations are meant to follow; 0 stands for params.planned_visits, as after every set_root.")
        .def("policy_target", policy_target,
             "float32 [size * size + 1]: what the search tells the policy. RuntimeError before a move has a visit.")
        .def("forget_waiting", ask<&Search::forget_waiting>(),
             "Give up the positions of the last gather, as when their evaluation failed.")
        .def(
            "choose",
            [](LockedSearch& self, std::optional<float> temperature) {
                return self.with([&](Search& search) { return search.choose(temperature); });
            },
            "temperature"_a = nb::none(), "The move to play, or -1 if no move has a visit.")
        .def("root_stats", root_stats, "Arrays over the allowed moves, most visits first, for the side to move.")
        .def("root_visits", ask<&Search::root_visits>())
        .def("root_value", ask<&Search::root_value>())
        .def("root_score", ask<&Search::root_score>())
        .def("root_ownership", root_ownership, "float32 [size, size] for the side to move, or None if it is not kept.")
        .def(
            "pv",
            [](LockedSearch& self, int point, int n) {
                return self.with([&](Search& search) {
                    const auto line = search.line(to_point(search.game().board(), point, true), n);
                    return std::vector<int>(line.begin(), line.end());
                });
            },
            "point"_a, "n"_a = 20, "The most visited line that begins with this move.")
        .def(
            "is_full",
            [](LockedSearch& self) { return self.with([](Search& search) { return search.tree().full(); }); },
            "Whether the memory is used up, so that the tree grows no more.")
        .def("node_count",
             [](LockedSearch& self) { return self.with([](Search& search) { return search.tree().nodes(); }); })
        .def(
            "bytes", [](LockedSearch& self) { return self.with([](Search& search) { return search.tree().bytes(); }); },
            "Bytes of nodes and edges.")
        .def(
            "held_bytes",
            [](LockedSearch& self) { return self.with([](Search& search) { return search.tree().held(); }); },
            "Bytes taken from the system, never more than params.memory.")
        .def(
            "text",
            [](LockedSearch& self, int depth, std::uint32_t min_visits) {
                return self.with([&](Search& search) {
                    return tree_text(search.tree(), search.game().board().size(), depth, min_visits);
                });
            },
            "depth"_a = 2, "min_visits"_a = 1, "The tree, a line a move: visits, value for its player, prior.");
}

}  // namespace
}  // namespace tengen::bindings

void register_search(nb::module_& m) {
    tengen::bindings::bind_params(m);
    tengen::bindings::bind_search(m);
}
