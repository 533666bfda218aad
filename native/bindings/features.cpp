// Plane sets and the encoder, for single games and for rows of a store.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bindings/convert.h"
#include "bindings/plane_set_arg.h"
#include "board/pass_policy.h"
#include "board/random.h"
#include "features/encode.h"
#include "features/rows.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace tengen;
using bindings::check_symmetry, bindings::checked_range, bindings::OwnedContext;
using bindings::PositionRecorder;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using Out = nb::ndarray<T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const In<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
ListColumn<T> list_column(const char* name, const In<T>& values, const In<std::int32_t>& offsets, std::size_t rows) {
    const bool whole = offsets.size() == rows + 1 && offsets(0) >= 0 &&
                       std::is_sorted(offsets.data(), offsets.data() + offsets.size());
    if (!whole || static_cast<std::size_t>(offsets(rows)) > values.size())
        throw std::invalid_argument(std::string(name) + ": the offsets do not fit the values");
    return {span_of(values), span_of(offsets)};
}

template <class T>
std::span<const T> column(const char* name, const In<T>& values, std::size_t rows) {
    if (values.size() != rows) throw std::invalid_argument(std::string(name) + ": not as long as size");
    return span_of(values);
}

NestedColumn<std::uint32_t> visits_column(const In<std::uint32_t>& values, const In<std::int32_t>& offsets,
                                          const In<std::int32_t>& starts, const ListColumn<std::uint16_t>& moves,
                                          std::size_t rows) {
    if (!offsets.size()) throw std::invalid_argument("visits: the offsets do not fit the values");
    const auto lists = list_column("visits", values, offsets, offsets.size() - 1);
    // Checked as a list column, each of whose values is a list of visits.
    const bool whole = starts.size() == rows + 1 && starts(0) >= 0 &&
                       std::is_sorted(starts.data(), starts.data() + starts.size()) &&
                       static_cast<std::size_t>(starts(rows)) < offsets.size();
    if (!whole) throw std::invalid_argument("visits: the rows do not fit the lists");
    const NestedColumn<std::uint32_t> visits{lists, span_of(starts)};
    for (std::size_t i = 0; i < rows; ++i)
        if (visits.size(i) && visits.size(i) != moves.row(i).size())
            throw std::invalid_argument("visits: row " + std::to_string(i) + " has " + std::to_string(visits.size(i)) +
                                        " lists for " + std::to_string(moves.row(i).size()) + " moves");
    return visits;
}

void make_columns(GameColumns* self, In<std::uint8_t> size, In<std::uint16_t> moves, In<std::int32_t> offsets,
                  In<std::uint16_t> black_stones, In<std::int32_t> black_offsets, In<std::uint16_t> white_stones,
                  In<std::int32_t> white_offsets, In<std::uint8_t> ownership, In<std::int32_t> ownership_offsets,
                  In<std::uint8_t> first, In<std::int16_t> rules, In<float> komi, In<float> score, In<float> weight,
                  In<std::int8_t> winner, In<std::int8_t> black_rank, In<std::int8_t> white_rank,
                  In<std::uint32_t> visits, In<std::int32_t> visit_offsets, In<std::int32_t> visit_rows,
                  const std::vector<std::string>& rule_sets) {
    const std::size_t rows = size.size();
    GameColumns games;
    games.moves = list_column("moves", moves, offsets, rows);
    games.black_stones = list_column("black_stones", black_stones, black_offsets, rows);
    games.white_stones = list_column("white_stones", white_stones, white_offsets, rows);
    games.ownership = list_column("ownership", ownership, ownership_offsets, rows);
    games.size = span_of(size);
    games.first = column("first", first, rows);
    games.rules = column("rules", rules, rows);
    games.komi = column("komi", komi, rows);
    games.score = column("score", score, rows);
    games.weight = column("weight", weight, rows);
    games.winner = column("winner", winner, rows);
    games.ranks = {column("black_rank", black_rank, rows), column("white_rank", white_rank, rows)};
    games.visits = visits_column(visits, visit_offsets, visit_rows, games.moves, rows);
    for (const auto& text : rule_sets) games.rule_sets.push_back(Rules::parse(text));
    new (self) GameColumns(std::move(games));
}

// Throws unless the array has the shape that `what` should have.
template <class Array>
void check_shape(const Array& array, const char* what, std::initializer_list<std::size_t> shape) {
    std::size_t axis = 0;
    bool fits = true;
    for (const std::size_t n : shape) fits &= array.shape(axis++) == n;
    if (fits) return;
    std::string wanted;
    for (const std::size_t n : shape) wanted += (wanted.empty() ? "" : ", ") + std::to_string(n);
    throw std::invalid_argument(std::string(what) + " must have the shape [" + wanted + "]");
}

void check_edge(int edge, int size) {
    if (edge < size)
        throw std::invalid_argument("edge " + std::to_string(edge) + " is too small for a board of " +
                                    std::to_string(size));
    if (edge > kMaxEdge)
        throw std::invalid_argument("edge " + std::to_string(edge) + " is more than " + std::to_string(kMaxEdge));
}

void encode_game(std::string_view name, const Game& game, int symmetry, int edge, Out<float, 3> planes,
                 Out<float, 1> scalars, Out<float, 2> mask, const Ranks& ranks) {
    const PlaneSet& set = plane_set(name);
    const auto width = static_cast<std::size_t>(edge);
    check_edge(edge, game.board().size());
    check_symmetry(symmetry);
    check_shape(planes, "planes", {set.planes.size(), width, width});
    check_shape(scalars, "scalars", {set.scalars.size()});
    check_shape(mask, "mask", {width, width});
    const Game copy = game;  // another thread may play on meanwhile
    nb::gil_scoped_release release;
    encode(set, copy, symmetry, edge, planes.data(), scalars.data(), mask.data(), ranks);
}

std::vector<Sample> make_samples(const std::vector<const GameColumns*>& shards, const In<std::int64_t>& shard,
                                 const In<std::int64_t>& row, const In<std::int64_t>& ply,
                                 const In<std::int64_t>& symmetry, const In<bool>& other_scoring,
                                 const In<float>& komi_shift, int edge) {
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (shard(i) < 0 || shard(i) >= static_cast<std::int64_t>(shards.size()))
            throw std::invalid_argument("no shard " + std::to_string(shard(i)));
        if (!shards[shard(i)]) throw nb::type_error("a shard is None");
        const GameColumns& games = *shards[shard(i)];
        if (row(i) < 0 || row(i) >= static_cast<std::int64_t>(games.rows()))
            throw std::invalid_argument("no row " + std::to_string(row(i)));
        const auto moves = static_cast<std::int64_t>(games.moves.row(row(i)).size());
        if (ply(i) < 0 || ply(i) > moves)
            throw std::invalid_argument("no ply " + std::to_string(ply(i)) + " in a game of " + std::to_string(moves));
        check_edge(edge, games.size[row(i)]);
        check_symmetry(symmetry(i));
        samples.push_back({&games,
                           row(i),
                           static_cast<int>(ply(i)),
                           static_cast<int>(symmetry(i)),
                           {other_scoring(i), komi_shift(i)}});
    }
    return samples;
}

void encode_batch(std::string_view name, const std::vector<const GameColumns*>& shards, In<std::int64_t> shard,
                  In<std::int64_t> row, In<std::int64_t> ply, In<std::int64_t> symmetry, In<bool> other_scoring,
                  In<float> komi_shift, int edge, Out<float, 4> planes, Out<float, 2> scalars, Out<float, 3> mask,
                  Out<std::int64_t, 1> policy, Out<float, 1> value, Out<float, 1> score, Out<float, 3> ownership,
                  Out<float, 1> weight, int threads, std::optional<Out<float, 2>> target,
                  std::optional<Out<float, 2>> reply) {
    bindings::to_threads(threads);
    const PlaneSet& set = plane_set(name);
    const std::size_t batch = row.size(), width = static_cast<std::size_t>(edge);
    for (const auto* index : {&shard, &ply, &symmetry}) check_shape(*index, "shard, ply and symmetry", {batch});
    check_shape(other_scoring, "other_scoring", {batch});
    check_shape(komi_shift, "komi_shift", {batch});
    check_shape(planes, "planes", {batch, set.planes.size(), width, width});
    check_shape(scalars, "scalars", {batch, set.scalars.size()});
    check_shape(mask, "mask", {batch, width, width});
    check_shape(ownership, "ownership", {batch, width, width});
    check_shape(policy, "policy", {batch});
    for (const auto* target : {&value, &score, &weight}) check_shape(*target, "value, score and weight", {batch});
    for (const auto* moves : {&target, &reply})
        if (*moves) check_shape(**moves, "target and reply", {batch, width * width + 1});
    const auto samples = make_samples(shards, shard, row, ply, symmetry, other_scoring, komi_shift, edge);
    const BatchArrays out{planes.data(),
                          scalars.data(),
                          mask.data(),
                          policy.data(),
                          value.data(),
                          score.data(),
                          ownership.data(),
                          weight.data(),
                          target ? target->data() : nullptr,
                          reply ? reply->data() : nullptr};
    nb::gil_scoped_release release;
    encode_rows(set, samples, edge, out, threads);
}

std::vector<std::unique_ptr<OwnedContext>> row_contexts(const std::vector<const GameColumns*>& shards,
                                                        In<std::int64_t> shard, In<std::int64_t> row,
                                                        In<std::int64_t> ply, In<bool> other_scoring,
                                                        In<float> komi_shift) {
    const std::size_t batch = row.size();
    for (const auto* index : {&shard, &ply}) check_shape(*index, "shard and ply", {batch});
    check_shape(other_scoring, "other_scoring", {batch});
    check_shape(komi_shift, "komi_shift", {batch});
    const std::vector<std::int64_t> unturned(batch);
    const In<std::int64_t> symmetry(unturned.data(), {batch});
    const auto samples = make_samples(shards, shard, row, ply, symmetry, other_scoring, komi_shift, kMaxSize);
    std::vector<std::unique_ptr<OwnedContext>> contexts;
    nb::gil_scoped_release release;
    for (const Sample& sample : samples) contexts.push_back(std::make_unique<OwnedContext>(sample));
    return contexts;
}

// bool [size, size]: the points of a set.
auto points_array(const OwnedContext& c, const PointSet& points) {
    return bindings::board_array<bool>(c.game.board().size(), [&](Point p) { return points.contains(p); });
}

// int16 [size, size]: what f(Board, Point) gives for the legal moves of the side that looks, 0 elsewhere.
template <class F>
auto moves_array(OwnedContext& c, F f) {
    const Board& board = c.game.board();
    const PointSet& bans = c.context.ko_bans();
    const bool suicide = c.game.rules().suicide;
    return bindings::board_array<std::int16_t>(board.size(), [&](Point p) {
        return !bans.contains(p) && board.is_legal(p, c.context.own, suicide) ? f(board, p) : 0;
    });
}

void bind_context(nb::module_& m) {
    using bindings::to_color;
    using Self = OwnedContext;
    nb::class_<OwnedContext>(m, "FeatureContext",
                             "Features of a position for plane sets written in Python, as arrays [size, size] by row "
                             "and column of the board. Colors are 0 (black) and 1 (white).")
        .def(
            "__init__",
            [](Self* self, const Game& game, std::optional<int> own, const Ranks& ranks) {
                new (self) OwnedContext(game, own ? to_color(*own) : game.to_play(), ranks);
            },
            "game"_a, "own"_a = nb::none(), "ranks"_a = Ranks{},
            "A view of a copy of the game, from the side to move unless own is given.")
        .def_prop_ro(
            "game", [](const Self& c) { return Game(c.game); }, "A copy of the game.")
        .def_prop_ro("size", [](const Self& c) { return c.game.board().size(); })
        .def_prop_ro(
            "own", [](const Self& c) { return static_cast<int>(index(c.context.own)); },
            "Color of the side that the position is encoded for.")
        .def_prop_ro("other", [](const Self& c) { return static_cast<int>(index(c.context.other)); })
        .def_prop_ro(
            "ranks", [](const Self& c) { return c.context.ranks; },
            "Ranks of Black and White: -30..-1 is 30k..1k, 1..9 is 1d..9d, 11..19 is 1p..9p, 0 is unknown.")
        .def_prop_ro(
            "self_komi", [](const Self& c) { return c.context.self_komi(); },
            "Points that the own side is given, bonus for handicap included.")
        .def(
            "stones",
            [](Self& c, int color, int back) {
                checked_range("back", back, 0, kPastBoards);
                return points_array(c, c.context.stones(to_color(color), back));
            },
            "color"_a, "back"_a = 0, "Stones 0 to 7 moves ago; empty where the game has fewer moves.")
        .def(
            "liberties",
            [](const Self& c) {
                const Board& board = c.game.board();
                return bindings::board_array<std::int16_t>(
                    board.size(), [&](Point p) { return board.at(p) == Color::empty ? 0 : board.liberties(p); });
            },
            "int16: liberties of the chain at each stone, 0 on empty points.")
        .def(
            "legal", [](Self& c) { return moves_array(c, [](const Board&, Point) { return 1; }); },
            "int16: 1 where the own side has a legal move.")
        .def(
            "captures",
            [](Self& c) {
                return moves_array(c, [&](const Board& b, Point p) { return b.capture_size(p, c.context.own); });
            },
            "int16: stones that a legal move of the own side captures.")
        .def(
            "liberties_after",
            [](Self& c) {
                return moves_array(c, [&](const Board& b, Point p) { return b.liberties_after(p, c.context.own); });
            },
            "int16: liberties of the own chain after a legal move.")
        .def(
            "self_ataris",
            [](Self& c) {
                return moves_array(c, [&](const Board& b, Point p) {
                    return b.liberties_after(p, c.context.own) == 1 ? b.chain_size_after(p, c.context.own) : 0;
                });
            },
            "int16: stones of the own chain after a legal move that leaves it one liberty.")
        .def(
            "sensible", [](Self& c) { return points_array(c, c.context.sensible()); },
            "Legal moves that fill no own true eye.")
        .def(
            "true_eyes",
            [](const Self& c, int color) { return points_array(c, true_eyes(c.context.board, to_color(color))); },
            "color"_a,
            "Empty points whose neighbours all have the color, with at most one diagonal of the other, none at the "
            "edge.")
        .def(
            "ko_bans", [](Self& c) { return points_array(c, c.context.ko_bans()); },
            "Empty points where ko or superko forbids a move that is legal without it.")
        .def(
            "laddered",
            [](Self& c, int color, int back) {
                checked_range("back", back, 0, kPastLadders);
                return points_array(c, c.context.laddered(to_color(color), back));
            },
            "color"_a, "back"_a = 0, "Stones of chains caught in a ladder, 0 to 2 moves ago.")
        .def(
            "ladder_captures", [](Self& c) { return points_array(c, c.context.ladders().captures); },
            "Moves that catch an opponent chain of two liberties in a ladder.")
        .def(
            "ladder_escapes", [](Self& c) { return points_array(c, c.context.ladders().escapes); },
            "Moves that save an own chain in atari from a ladder.")
        .def(
            "pass_alive",
            [](Self& c, int color) { return points_array(c, c.context.pass_alive_of(to_color(color)).area()); },
            "color"_a, "Area that is pass-alive by Benson's algorithm.")
        .def(
            "recent",
            [](const Self& c, int back) {
                return points_array(c, c.context.recent(checked_range("back", back, 1, 1 << 20)));
            },
            "back"_a, "The last move (1), the one before (2) and so on; empty for a pass or none.")
        .def(
            "was_pass",
            [](const Self& c, int back) { return c.context.was_pass(checked_range("back", back, 1, 1 << 20)); },
            "back"_a)
        .def(
            "last_played",
            [](Self& c) {
                const auto& numbers = c.context.last_played();
                return bindings::board_array<std::int16_t>(c.game.board().size(), [&](Point p) { return numbers[p]; });
            },
            "int16: number of the last move at each point, 1 for the first move of the game, 0 for none.");
    nb::class_<PositionRecorder>(m, "PositionRecorder",
                                 "Stands for a plane set in one gather and keeps the positions, for plane sets written "
                                 "in Python. It writes one plane, the number of each point, and one scalar, the number "
                                 "of the position in take().")
        .def(nb::init<>())
        .def("take", &PositionRecorder::take,
             "The positions in the order of their numbers; the recorder is empty then.");
    m.def("row_contexts", &row_contexts, "shards"_a, "shard"_a.noconvert(), "row"_a.noconvert(), "ply"_a.noconvert(),
          "other_scoring"_a.noconvert(), "komi_shift"_a.noconvert(),
          "The positions of a batch, as encode_rows() encodes them, for a plane set written in Python.");
}

// Output number `key` of the generator that starts at each value.
auto splitmix64(In<std::uint64_t> values, std::uint64_t key) {
    auto hashes = bindings::new_array<std::uint64_t>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) hashes.data()[i] = hash64(values(i) + key * SplitMix64::kStep);
    return hashes;
}

std::tuple<std::vector<std::string>, std::vector<std::string>> plane_set_contents(std::string_view name) {
    std::vector<std::string> planes, scalars;
    for (const Plane& plane : plane_set(name).planes) planes.push_back(plane.name);
    for (const Scalar& scalar : plane_set(name).scalars) scalars.push_back(scalar.name);
    return {planes, scalars};
}

}  // namespace

void register_features(nb::module_& m) {
    m.def("plane_set_names", &plane_set_names, "Names of the plane sets.");
    m.def("plane_set", &plane_set_contents, "name"_a, "Names of the planes and of the scalars of a set.");
    m.def("encode_game", &encode_game, "plane_set"_a, "game"_a, "symmetry"_a, "edge"_a, "planes"_a.noconvert(),
          "scalars"_a.noconvert(), "mask"_a.noconvert(), "ranks"_a = Ranks{},
          "Write the position of a game for its side to move. ranks: of Black and White, -30..-1 kyu, 1..9 dan, 11..19 "
          "professional, 0 unknown.");
    bind_context(m);
    nb::class_<GameColumns>(m, "GameColumns", "Columns of a shard that stay the caller's memory.")
        .def("__init__", &make_columns, nb::kw_only(), "size"_a.noconvert(), "moves"_a.noconvert(),
             "offsets"_a.noconvert(), "black_stones"_a.noconvert(), "black_offsets"_a.noconvert(),
             "white_stones"_a.noconvert(), "white_offsets"_a.noconvert(), "ownership"_a.noconvert(),
             "ownership_offsets"_a.noconvert(), "first"_a.noconvert(), "rules"_a.noconvert(), "komi"_a.noconvert(),
             "score"_a.noconvert(), "weight"_a.noconvert(), "winner"_a.noconvert(), "black_rank"_a.noconvert(),
             "white_rank"_a.noconvert(), "visits"_a.noconvert(), "visit_offsets"_a.noconvert(),
             "visit_rows"_a.noconvert(), "rule_sets"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(),
             nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(), nb::keep_alive<1, 10>(), nb::keep_alive<1, 11>(),
             nb::keep_alive<1, 12>(), nb::keep_alive<1, 13>(), nb::keep_alive<1, 14>(), nb::keep_alive<1, 15>(),
             nb::keep_alive<1, 16>(), nb::keep_alive<1, 17>(), nb::keep_alive<1, 18>(), nb::keep_alive<1, 19>(),
             nb::keep_alive<1, 20>(), nb::keep_alive<1, 21>());
    m.def("encode_rows", &encode_batch, "plane_set"_a, "shards"_a, nb::kw_only(), "shard"_a.noconvert(),
          "row"_a.noconvert(), "ply"_a.noconvert(), "symmetry"_a.noconvert(), "other_scoring"_a.noconvert(),
          "komi_shift"_a.noconvert(), "edge"_a, "planes"_a.noconvert(), "scalars"_a.noconvert(), "mask"_a.noconvert(),
          "policy"_a.noconvert(), "value"_a.noconvert(), "score"_a.noconvert(), "ownership"_a.noconvert(),
          "weight"_a.noconvert(), "threads"_a, "target"_a.noconvert().none() = nb::none(),
          "reply"_a.noconvert().none() = nb::none(),
          "Write a batch of positions and targets straight from the columns of shards.");
    m.def("splitmix64", &splitmix64, "values"_a.noconvert(), "key"_a,
          "Hash every word with a key into 64 uniform bits, for the order and the split of a sampler.");
}
