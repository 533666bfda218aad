// Playouts on every size: they end, leave no point that a side would play, and repeat exactly for a seed.
#include "playout/candidates.h"
#include "playout/ownership.h"
#include "playout/tactics.h"
#include "tests/check.h"

using namespace tengen;

TEST(playouts_end_with_nothing_left_to_play) {
    for (int size = kMinSize; size <= kMaxSize; ++size) {
        for (const auto name : playout_policies()) {
            const auto policy = playout_policy(name);
            SplitMix64 random(size), again(size);
            Board board(size), twin(size);
            const int moves = policy->play(board, Color::black, {}, random, nullptr);
            PlayoutTrace trace;
            trace.clear();
            CHECK_EQ(policy->play(twin, Color::black, {}, again, &trace), moves);
            CHECK(trace.stones[0] + trace.stones[1] <= moves);
            CHECK_EQ(board.hash(), twin.hash());
            CHECK(moves <= 3 * size * size);
            if (moves == 3 * size * size) continue;
            board.empty_points().for_each([&](Point p) {
                for (const Color color : {Color::black, Color::white})
                    CHECK(!is_playable(board, p, color) || (name == "local" && is_self_atari(board, p, color)));
            });
        }
    }
}

TEST(playouts_leave_the_game_alone) {
    Game game(9, Rules::parse("chinese"), 7.5f);
    game.play(40);
    const auto hash = game.board().hash();
    const Tally tally = tally_playouts(game, 8, 1);
    CHECK(tally == tally_playouts(game, 8, 1));
    for (Point p = 0; p < 81; ++p) CHECK(tally[p] >= -8 && tally[p] <= 8);
    CHECK(dead_by_playouts(game, 8, 1).count() <= 1);
    CHECK_EQ(game.board().hash(), hash);
}
