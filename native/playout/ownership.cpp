#include "playout/ownership.h"

#include "board/pass_alive.h"
#include "playout/local.h"

namespace tengen {

namespace {

// Adds one finished playout: stones, and empty points with neighbours of one colour only.
void add(const Board& board, Tally& total) {
    const auto& black = board.stones(Color::black);
    const auto& white = board.stones(Color::white);
    black.for_each([&](Point p) { ++total[p]; });
    white.for_each([&](Point p) { --total[p]; });
    board.empty_points().for_each([&](Point p) {
        const auto& around = board.table().neighbor_sets[p];
        total[p] += around.minus(black).empty() - around.minus(white).empty();
    });
}

}  // namespace

Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed) {
    Tally total{};
    SplitMix64 random(seed);
    const LocalPolicy policy;
    for (int i = 0; i < playouts; ++i) {
        Board board = game.board();
        policy.play(board, game.to_play(), game.moves(), random, nullptr);
        add(board, total);
    }
    return total;
}

PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed) {
    const Board& board = game.board();
    const Tally owned = tally_playouts(game, playouts, seed);
    const std::array<PassAlive, 2> alive = {pass_alive(board, Color::black, game.rules().suicide),
                                            pass_alive(board, Color::white, game.rules().suicide)};
    PointSet dead;
    for (const Color color : {Color::black, Color::white}) {
        const int sign = color == Color::black ? 1 : -1;
        board.stones(color).for_each([&](Point p) {
            if (board.chain(p) != p) return;
            int sum = 0;
            PointSet chain;
            board.for_each_stone(p, [&](Point s) {
                sum += sign * owned[s];
                chain.add(s);
            });
            const bool lost = sum < 0 && !alive[index(color)].stones.contains(p);
            if (lost || alive[index(opponent(color))].territory.contains(p)) dead |= chain;
        });
    }
    return dead;
}

}  // namespace tengen
