// The linear playout policy: its trainer, its weights and what it makes of a position.
#include "playout/linear.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <tuple>

#include "bindings/convert.h"
#include "bindings/locked.h"
#include "playout/linear_trainer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig>;

using Figures = std::tuple<long, double, double, double>;
Figures figures(const Prediction& found) { return {found.positions, found.top1, found.top5, found.loss}; }

RecordedGame recorded(int size, const In<std::uint16_t>& black, const In<std::uint16_t>& white,
                      const In<std::uint16_t>& moves) {
    return {size, {black.data(), black.size()}, {white.data(), white.size()}, {moves.data(), moves.size()}};
}

using LockedTrainer = Locked<LinearTrainer>;

Figures learn(LockedTrainer& self, int size, In<std::uint16_t> black, In<std::uint16_t> white, In<std::uint16_t> moves,
              float rate, int player) {
    const std::optional<Color> learned = player == 0   ? std::optional(Color::black)
                                         : player == 1 ? std::optional(Color::white)
                                                       : std::nullopt;
    return self.with([&](LinearTrainer& trainer) {
        return figures(trainer.learn(recorded(size, black, white, moves), rate, learned));
    });
}

Figures judge(LockedTrainer& self, int size, In<std::uint16_t> black, In<std::uint16_t> white, In<std::uint16_t> moves,
              std::size_t ply) {
    if (ply >= moves.size())
        throw nb::value_error(("no move " + std::to_string(ply) + " in " + std::to_string(moves.size())).c_str());
    return self.with([&](LinearTrainer& trainer) {
        return figures(trainer.judge(recorded(size, black, white, moves), static_cast<int>(ply)));
    });
}

// What `values` gives of the trainer, a number for each feature.
template <class T, class F>
auto copy_of(LockedTrainer& self, F values) {
    auto array = new_array<T>(kFeatures);
    self.with([&](LinearTrainer& trainer) { std::ranges::copy(std::invoke(values, trainer), array.data()); });
    return array;
}

void restore(LockedTrainer& self, In<float> weights, In<float> squares) {
    if (weights.size() != kFeatures || squares.size() != kFeatures)
        throw nb::value_error(("weights and squares must hold " + std::to_string(kFeatures) + " numbers").c_str());
    self.with([&](LinearTrainer& trainer) {
        std::copy_n(weights.data(), kFeatures, trainer.weights().data());
        std::copy_n(squares.data(), kFeatures, trainer.squares().data());
    });
}

std::vector<std::pair<int, std::vector<Feature>>> features_of(const Game& game) {
    const auto [last, before] = last_two(game.moves());
    const MoveFeatures found = move_features(game.board(), game.to_play(), last, before);
    std::vector<std::pair<int, std::vector<Feature>>> result;
    for (std::size_t i = 0; i < found.points.size(); ++i)
        result.emplace_back(found.points[i], std::vector<Feature>(found.features.begin() + found.offsets[i],
                                                                  found.features.begin() + found.offsets[i + 1]));
    return result;
}

// Of all points and pass.
Floats playout_weights(const Game& game, const std::string& policy) {
    const Board& board = game.board();
    std::vector<Point> legal;
    for (Point p = 0; p <= board.pass(); ++p)
        if (game.is_legal(p)) legal.push_back(p);
    std::vector<float> weights(legal.size());
    playout_policy(policy)->weigh(board, game.to_play(), game.moves(), legal, weights);
    auto array = new_array<float>(board.points() + 1);
    std::fill_n(array.data(), array.size(), 0.0f);
    for (std::size_t i = 0; i < legal.size(); ++i) array.data()[legal[i]] = weights[i];
    return array;
}

std::vector<std::tuple<std::string, Feature, Feature>> groups() {
    std::vector<std::tuple<std::string, Feature, Feature>> found;
    for (const auto& group : feature_groups()) found.emplace_back(std::string(group.name), group.first, group.count);
    return found;
}

auto read_weights(const std::filesystem::path& path) {
    const LinearWeights weights = read_linear_weights(path);
    auto array = new_array<std::int8_t>(kFeatures);
    for (Feature f = 0; f < kFeatures; ++f) array.data()[f] = static_cast<std::int8_t>(weights.step(f));
    return array;
}

void write_weights(const std::filesystem::path& path, const nb::bytes& card, In<std::int8_t> steps) {
    write_linear_weights(path, std::string(card.c_str(), card.size()), {steps.data(), steps.size()});
}

}  // namespace

}  // namespace tengen::bindings

void register_linear(nb::module_& m) {
    using namespace tengen::bindings;
    using tengen::LinearTrainer;
    m.attr("LINEAR_FEATURES") = tengen::kFeatures;
    m.attr("LINEAR_SCALE") = tengen::kWeightScale;
    m.def("set_linear_path", &tengen::set_linear_path, "path"_a, "The weights that the playout policy `linear` uses.");
    m.def("read_linear_weights", read_weights, "path"_a,
          "The weights of a file, int8; ValueError where it is none or damaged.");
    m.def("write_linear_weights", write_weights, "path"_a, "card"_a, "steps"_a.noconvert());
    m.def("linear_groups", groups, "Name, first index and size of each group of features.");
    m.def("linear_features", features_of, "game"_a,
          "The features of each move that the linear policy may make: (point, features).");
    m.def("playout_weights", playout_weights, "game"_a, "policy"_a,
          "Weight of each point and pass by a playout policy: float32 [size * size + 1], of any scale.");
    nb::class_<LockedTrainer>(m, "LinearTrainer", "Learns the weights of the linear playout policy from games.")
        .def(nb::init<>())
        .def("learn", learn, "size"_a, "black_stones"_a.noconvert(), "white_stones"_a.noconvert(),
             "moves"_a.noconvert(), "rate"_a, "player"_a = 2,
             "Learn from a game, or from the moves of one player, 0 Black or 1 White: (positions, top-1 hits, top-5 "
             "hits, sum of losses).")
        .def("judge", judge, "size"_a, "black_stones"_a.noconvert(), "white_stones"_a.noconvert(),
             "moves"_a.noconvert(), "ply"_a, "Predict one move of a game, as learn() counts it.")
        .def("weights", [](LockedTrainer& t) { return copy_of<float>(t, &LinearTrainer::weights); })
        .def("squares", [](LockedTrainer& t) { return copy_of<float>(t, &LinearTrainer::squares); })
        .def("restore", restore, "weights"_a.noconvert(), "squares"_a.noconvert())
        .def(
            "steps", [](LockedTrainer& t) { return copy_of<std::int8_t>(t, &LinearTrainer::steps); },
            "The weights as a file holds them: int8.");
}
