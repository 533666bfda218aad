// The ladder reader leaves the board as it was, also where its nodes run out.
#include "board/ladder.h"
#include "board/random.h"
#include "tests/check.h"

using namespace tengen;

namespace {

// Everything that can be asked about the stones, and what moves do to them.
void check_same(const Board& board, const Board& before) {
    CHECK_EQ(board.hash(), before.hash());
    CHECK_EQ(board.ko(), before.ko());
    CHECK(board.ko_color() == before.ko_color());
    for (Point p = 0; p < board.points(); ++p) {
        CHECK(board.at(p) == before.at(p));
        if (board.at(p) != Color::empty) {
            CHECK_EQ(board.chain(p), before.chain(p));
            CHECK_EQ(board.chain_size(p), before.chain_size(p));
            CHECK(board.liberty_set(p) == before.liberty_set(p));
            std::vector<Point> ring, ring_before;
            board.for_each_stone(p, [&](Point s) { ring.push_back(s); });
            before.for_each_stone(p, [&](Point s) { ring_before.push_back(s); });
            CHECK(ring == ring_before);
        } else {
            for (const Color color : {Color::black, Color::white})
                CHECK_EQ(board.hash_after(p, color), before.hash_after(p, color));
        }
    }
}

}  // namespace

TEST(ladder_reading_restores_the_board_exactly) {
    SplitMix64 random(3);
    int asked = 0;
    for (int game = 0; game < 40; ++game) {
        Board board(game % 2 ? 9 : 13);
        Color color = Color::black;
        for (int ply = 0; ply < 90; ++ply, color = opponent(color)) {
            const Point p = static_cast<Point>(random.below(board.points()));
            if (board.is_legal(p, color, false)) board.play(p, color);
            if (ply % 6) continue;
            const Board before = board;
            const int nodes = ply % 4 ? kLadderNodes : 3;
            for (Point s = 0; s < board.points(); ++s) {
                if (board.at(s) == Color::empty || board.chain(s) != s || board.liberties(s) > 2) continue;
                captured_in_ladder(board, s, nullptr, nodes);
                ladder_captures(board, s, nodes);
                if (board.liberties(s) == 1) ladder_escapes(board, s, nodes);
                ++asked;
            }
            check_same(board, before);
        }
    }
    CHECK(asked > 500);
}
