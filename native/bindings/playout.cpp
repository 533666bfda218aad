// Random playouts for Python. The GIL is released while they run, so they run on a copy of the game.
#include "playout/ownership.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "bindings/convert.h"
#include "board/score.h"
#include "playout/bakago.h"
#include "playout/policy.h"
#include "processor/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

void check_playouts(int playouts) {
    if (playouts < 1) throw nb::value_error(("playouts must be 1 or more, not " + std::to_string(playouts)).c_str());
}

PointSet dead_stones(const Game& game, int playouts, std::uint64_t seed) {
    check_playouts(playouts);
    const Game copy = game;
    const nb::gil_scoped_release release;
    return dead_by_playouts(copy, playouts, seed);
}

auto ownership(const Game& game, int playouts, std::uint64_t seed) {
    check_playouts(playouts);
    const Game copy = game;
    const Tally total = [&] {
        const nb::gil_scoped_release release;
        return tally_playouts(copy, playouts, seed);
    }();
    const float scale = 1.0f / static_cast<float>(playouts);
    return board_array<float>(game.board().size(), [&](Point p) { return static_cast<float>(total[p]) * scale; });
}

auto final_ownership(const Game& game, int playouts, std::uint64_t seed) {
    const Owners owner = owners(game.board(), dead_stones(game, playouts, seed));
    return board_array<std::int8_t>(game.board().size(), [&](Point p) { return index(owner[p]); });
}

long run_some(const Game& game, const PlayoutPolicy& policy, int playouts, std::uint64_t seed) {
    SplitMix64 random(seed);
    long moves = 0;
    for (int i = 0; i < playouts; ++i) {
        Board board = game.board();
        moves += policy.play(board, game.to_play(), game.moves(), random, nullptr);
    }
    return moves;
}

long run_playouts(const Game& game, int playouts, std::uint64_t seed, const std::string& policy, int threads) {
    check_playouts(playouts);
    to_threads(threads);
    const auto player = playout_policy(policy);
    const Game copy = game;
    const nb::gil_scoped_release release;
    if (threads == 1) return run_some(copy, *player, playouts, seed);
    SplitMix64 random(seed);
    std::vector<std::uint64_t> seeds(threads);
    for (auto& own : seeds) own = random.next();
    std::vector<long> moves(threads);
    parallel_for(moves.size(), threads, [&](std::size_t i) {
        moves[i] = run_some(copy, *player, (playouts + static_cast<int>(i)) / threads, seeds[i]);
    });
    return std::accumulate(moves.begin(), moves.end(), 0L);
}

auto bakago_scores(const Game& game, bool published) {
    const Board& board = game.board();
    const RecentMoves recent(board, game.moves());
    const auto reading = published ? BakagoReading::published : BakagoReading::meant;
    const auto move = static_cast<int>(game.moves().size());
    return board_array<float>(board.size(), [&](Point p) {
        return board.at(p) == Color::empty ? bakago_score(board, p, move, recent, reading) : 0.0f;
    });
}

}  // namespace

}  // namespace tengen::bindings

void register_playout(nb::module_& m) {
    using namespace tengen::bindings;
    m.def("ownership_by_playouts", ownership, "game"_a, "playouts"_a, "seed"_a,
          "Mean owner of each point when the playouts end: float32 [size, size], +1 black, -1 white.");
    m.def(
        "dead_by_playouts",
        [](const tengen::Game& game, int playouts, std::uint64_t seed) {
            return to_list(dead_stones(game, playouts, seed));
        },
        "game"_a, "playouts"_a, "seed"_a);
    m.def("final_ownership", final_ownership, "game"_a, "playouts"_a, "seed"_a,
          "int8 [size, size]: 0 black, 1 white, 2 neutral, once the stones that playouts find dead are removed.");
    m.def(
        "playout_policies",
        [] {
            const auto names = tengen::playout_policies();
            return std::vector<std::string>(names.begin(), names.end());
        },
        "The names of the playout policies.");
    m.def("run_playouts", run_playouts, "game"_a, "playouts"_a, "seed"_a, "policy"_a = "uniform", "threads"_a = 1,
          "Plays them to measure their speed, shared out evenly among threads; the moves that they took in all.");
    m.def(
        "bakago_scores", bakago_scores, "game"_a, "published"_a = false,
        "BakaGo's score of every point for its playouts: float32 [size, size], 0 on stones. Published: with the queue "
        "of recent moves read from its oldest end.");
}
