// The search for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/locked_search.h"
#include "bindings/plane_set_arg.h"
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

// (player, points, until_depth, allow)
using Restriction = std::tuple<int, std::vector<int>, int, bool>;

MoveRestriction to_restriction(const Board& board, const Restriction& from) {
    const auto& [player, points, until_depth, allow] = from;
    MoveRestriction made{to_color(player), allow, until_depth, {}};
    for (const Point p : to_points(board, points)) made.moves.set(p);
    return made;
}

std::vector<MoveRestriction> to_restrictions(const Board& board, const std::vector<Restriction>& from) {
    std::vector<MoveRestriction> made;
    for (const Restriction& restriction : from) made.push_back(to_restriction(board, restriction));
    return made;
}

std::vector<int> root_symmetries(const Game& game, const std::vector<Restriction>& from) {
    const std::vector<MoveRestriction> restrictions = to_restrictions(game.board(), from);
    return kept_symmetries(game, permitted_moves(game, restrictions), restrictions);
}

void set_root(LockedSearch& self, const Game& game, const std::vector<Restriction>& restrictions) {
    const std::vector<MoveRestriction> made = to_restrictions(game.board(), restrictions);
    const Game copy = game;  // another thread may play on meanwhile
    self.with([&](Search& search) { search.set_root(copy, made); });
}

int gather(LockedSearch& self, const PlaneSetArg& name, Array<float, 4> planes, Array<float, 2> scalars,
           Array<float, 3> mask, int limit) {
    const PlaneSet& set = to_plane_set(name);
    check_leaf_arrays(set, planes, scalars, mask, static_cast<std::size_t>(std::max(limit, 0)));
    return self.with([&](Search& search) {
        require(mask.shape(1) >= static_cast<std::size_t>(search.game().board().size()),
                "the arrays are too small for the board");
        return search.gather(set, static_cast<int>(mask.shape(1)), planes.data(), scalars.data(), mask.data(), limit);
    });
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
    stats["utility_lcb"] = column<float>(moves, [](const RootMove& m) { return m.utility_lcb; });
    stats["weight"] = column<float>(moves, [](const RootMove& m) { return m.weight; });
    stats["play_weight"] = column<float>(moves, [](const RootMove& m) { return m.play_weight; });
    stats["value_lcb"] = column<float>(moves, [](const RootMove& m) { return m.value_lcb; });
    stats["no_result"] = column<float>(moves, [](const RootMove& m) { return m.no_result; });
    stats["score_stdev"] = column<float>(moves, [](const RootMove& m) { return m.score_stdev; });
    stats["lead"] = column<float>(moves, [](const RootMove& m) { return m.lead; });
    stats["prior"] = column<float>(moves, [](const RootMove& m) { return m.prior; });
    stats["node_visits"] = column<std::int32_t>(moves, [](const RootMove& m) { return m.node_visits; });
    stats["node_weight"] = column<float>(moves, [](const RootMove& m) { return m.node_weight; });
    return stats;
}

nb::dict root_moments(LockedSearch& self) {
    const RootMove root = self.with([](Search& search) { return search.root_as_move(); });
    nb::dict moments;
    const auto add = [&](const char* name, float x) {
        moments[name] = std::isnan(x) ? nb::none() : nb::object(nb::float_(x));
    };
    add("value", root.value);
    add("score", root.score);
    add("utility", root.utility);
    add("weight", root.weight);
    add("lead", root.lead);
    add("score_stdev", root.score_stdev);
    add("no_result", root.no_result);
    return moments;
}

auto policy_target(LockedSearch& self) {
    return to_array(self.with([](Search& search) { return search.policy_target(); }));
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

// Choices are strings in Python.
template <class T>
void bind_param(nb::class_<SearchParams>& params, const char* name, T SearchParams::* member, const char* description) {
    if constexpr (std::is_enum_v<T>)
        params.def_prop_rw(
            name, [member](const SearchParams& p) { return std::string(tengen::name(p.*member)); },
            [member](SearchParams& p, const std::string& text) { p.*member = to_choice<T>(text); }, description);
    else
        params.def_rw(name, member, description);
}

nb::dict to_dict(const ParamRow& row) {
    nb::dict dict;
    dict["name"] = row.name;
    dict["type"] = row.type;
    dict["default"] = row.initial;
    dict["description"] = row.description;
    dict["choices"] = row.choices;
    dict["min"] = row.bounded ? nb::object(nb::float_(row.min)) : nb::none();
    dict["max"] = row.bounded ? nb::object(nb::float_(row.max)) : nb::none();
    dict["min_excluded"] = row.min_excluded;
    return dict;
}

void bind_params(nb::module_& m) {
    nb::class_<SearchParams> params(m, "SearchParams",
                                    "Settings of a search; tengen.engine.params.SearchParams is the checked model.");
    params.def(nb::init<>());
#define SEARCH_PARAM(type, name, initial, range, description) \
    bind_param(params, #name, &SearchParams::name, description);
#include "search/params.def"
#undef SEARCH_PARAM
    params.def(
        "check", [](const SearchParams& p) { p.check(), p.check_policies(); },
        "Raises ValueError for a setting out of range, an unknown policy or settings that contradict each other.");
    params.def_prop_ro(
        "dead_stones", [](const SearchParams& p) { return std::string(name(p.dead_stones())); },
        "How finished games are counted: pass-alive or none, as in Game.game_end.");
    m.def(
        "search_param_table",
        [] {
            nb::list rows;
            for (const ParamRow& row : search_param_table()) rows.append(to_dict(row));
            return rows;
        },
        "A dict for each setting: name, type, default, description, choices, min, max, min_excluded.");
}

// A method without arguments that returns a number or a text.
template <auto kMember>
auto ask() {
    return [](LockedSearch& self) { return self.with([](Search& search) { return (search.*kMember)(); }); };
}

using BoardOfFloats = nb::ndarray<nb::numpy, float, nb::ndim<2>, nb::c_contig>;
using RowOfFloats = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig>;

std::optional<std::tuple<RowOfFloats, float, std::optional<BoardOfFloats>, nb::dict>> root_evaluation(
    LockedSearch& self) {
    int size = 0;
    const auto found = self.with([&](Search& search) {
        size = search.game().board().size();
        return search.root_evaluation();
    });
    if (!found) return std::nullopt;
    std::optional<BoardOfFloats> ownership;
    if (!found->ownership.empty()) ownership = board_array<float>(size, [&](Point p) { return found->ownership[p]; });
    nb::dict optional;
    for (std::size_t i = 0; i < LeafResults::kOptional.size(); ++i)
        if (found->optional[i]) optional[LeafResults::kOptional[i].name] = *found->optional[i];
    return std::make_tuple(to_array(found->policy), found->value, ownership, optional);
}

void bind_search(nb::module_& m) {
    m.def(
        "root_symmetries", root_symmetries, "game"_a, "restrictions"_a,
        "The symmetries, but for the identity, by which a search with these restrictions (Search.set_root) merges the "
        "moves of the game's position.");
    nb::class_<LockedSearch> search(m, "Search", "One tree search; tengen.engine.search.TreeSearch drives it.");
    def_scatter(search);
    search.def(nb::init<const SearchParams&, std::uint64_t>(), "params"_a, "seed"_a)
        .def("set_root", set_root, "game"_a, "restrictions"_a = std::vector<Restriction>{},
             "Search this position from now on; what the tree knows of it already stays. A restriction is (player, "
             "points, until_depth, allow): until that depth (the root has depth 0) the player may only make these "
             "moves, or none of them.")
        .def(
            "restart",
            [](LockedSearch& self, std::uint64_t seed) { self.with([&](Search& search) { search.restart(seed); }); },
            "seed"_a, "As if newly made with this seed: without a tree and without a root.")
        .def("gather", gather, "plane_set"_a, "planes"_a.noconvert(), "scalars"_a.noconvert(), "mask"_a.noconvert(),
             "limit"_a,
             "Run up to `limit` simulations and write the positions that need an evaluation; returns their number, 0 "
             "when all simulations ended in finished games or in a full tree, which count at once.")
        .def(
            "run",
            [](LockedSearch& self, std::int64_t simulations, int threads, double seconds) {
                return self.with([&](Search& search) { return search.run(simulations, to_threads(threads), seconds); });
            },
            "simulations"_a, "threads"_a = 1, "seconds"_a = 1e9,
            "Search on by playouts alone, for so many simulations or seconds; how many counted.")
        .def(
            "plan", [](LockedSearch& self, int n) { self.with([&](Search& search) { search.plan(n); }); },
            "simulations"_a,
            "How many simulations are meant to follow; 0 stands for params.planned_visits, as after every set_root.")
        .def("policy_target", policy_target,
             "float32 [size * size + 1]: the policy target. RuntimeError before a move has a visit.")
        .def("forget_waiting", ask<&Search::forget_waiting>(),
             "Drop the positions of the last gather, for example because their evaluation failed.")
        .def(
            "choose",
            [](LockedSearch& self, std::optional<float> temperature) {
                return self.with([&](Search& search) { return search.choose(temperature); });
            },
            "temperature"_a = nb::none(), "The move to play, or -1 if no move has a visit.")
        .def("root_stats", root_stats, "Arrays over the allowed moves, most visits first, for the side to move.")
        .def("root_moments", root_moments,
             "Statistics of the root, for the side to move: value, score, utility, weight, lead, score_stdev and "
             "no_result, None where not known. Means of params.selection puct-katago weigh the moves as they would be "
             "explored now.")
        .def("root_visits", ask<&Search::root_visits>())
        .def("root_value", ask<&Search::root_value>())
        .def("root_score", ask<&Search::root_score>())
        .def("root_ownership", root_ownership, "float32 [size, size] for the side to move, or None if it is not kept.")
        .def(
            "pv",
            [](LockedSearch& self, int point, int n) {
                return self.with([&](Search& search) {
                    std::vector<std::tuple<int, std::uint32_t, std::uint32_t>> line;
                    for (const auto& move : search.line(to_point(search.game().board(), point, true), n))
                        line.emplace_back(move.point, move.visits, move.node_visits);
                    return line;
                });
            },
            "point"_a, "n"_a = 20,
            "[(point, visits, visits of the position after it)]: the most visited line that begins with this move.")
        .def(
            "ownership_below",
            [](LockedSearch& self, int move) -> std::optional<std::pair<BoardOfFloats, BoardOfFloats>> {
                int size = 0;
                const auto found = self.with([&](Search& search) {
                    const Board& board = search.game().board();
                    size = board.size();
                    return search.ownership_below(move < 0 ? kNoPoint : to_point(board, move, true));
                });
                if (found.mean.empty()) return std::nullopt;
                return std::make_pair(board_array<float>(size, [&](Point p) { return found.mean[p]; }),
                                      board_array<float>(size, [&](Point p) { return found.stdev[p]; }));
            },
            "move"_a = -1,
            "(mean, standard deviation) of the ownership below a root move, or -1 for the root, float32 [size, size] "
            "for the side to move at the root; None where params.node_ownership did not keep it.")
        .def("root_waits", ask<&Search::root_waits>(), "Rows of the last gather, its first ones, that are the root.")
        .def("has_score", ask<&Search::has_score>(), "Whether the results so far had a score.")
        .def("root_evaluation", root_evaluation,
             "Raw network output at the root, for the side to move: (policy [size * size + 1], value, ownership [size, "
             "size] or None, {name: output}); None where the root was kept from an earlier search or waits.")
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
