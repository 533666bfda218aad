#include "playout/ownership.h"

#include "board/pass_alive.h"
#include "board/seki.h"
#include "playout/local.h"

namespace tengen {

namespace {

// A stone in seki that its owner keeps in more of the playouts than this is not dead, from -1 (never) to 1. Playouts
// fill the shared liberties and lose one of the sides; the figure is from counted games (docs/log.md).
constexpr double kSekiKept = -0.4;

}  // namespace

std::array<PointSet, 2> final_area(const Board& board) {
    std::array<PointSet, 2> area = {board.stones(Color::black), board.stones(Color::white)};
    const std::array<PointSet, 2> stones = area;
    board.empty_points().for_each([&](Point p) {
        const auto& around = board.table().neighbor_sets[p];
        for (int color = 0; color < 2; ++color)
            if (around.minus(stones[color]).empty()) area[color].add(p);
    });
    return area;
}

Tally tally_playouts(const Game& game, int playouts, std::uint64_t seed) {
    Tally total{};
    SplitMix64 random(seed);
    const LocalPolicy policy;
    for (int i = 0; i < playouts; ++i) {
        Board board = game.board();
        policy.play(board, game.to_play(), game.moves(), random, nullptr);
        const auto [black, white] = final_area(board);
        black.for_each([&](Point p) { ++total[p]; });
        white.for_each([&](Point p) { --total[p]; });
    }
    return total;
}

PointSet dead_by_playouts(const Game& game, int playouts, std::uint64_t seed) {
    const Board& board = game.board();
    const Tally owned = tally_playouts(game, playouts, seed);
    const std::array<PassAlive, 2> alive = {pass_alive(board, Color::black, game.rules().suicide),
                                            pass_alive(board, Color::white, game.rules().suicide)};
    PointSet dead, certain, kept;
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
            const bool enclosed = alive[index(opponent(color))].territory.contains(p);
            if ((sum < 0 && !alive[index(color)].stones.contains(p)) || enclosed) dead |= chain;
            if (enclosed) certain |= chain;
            if (sum > kSekiKept * playouts * chain.count()) kept |= chain;
        });
    }
    return dead.minus(((dead_or_seki(board, dead) & kept) | proven_seki(board, dead)).minus(certain));
}

}  // namespace tengen
