// The board against itself: what play() keeps up to date must equal what a fresh look at the stones gives, the
// questions about a move must foretell what the move does, and undo must restore every answer.
#include "board/board.h"

#include <random>
#include <vector>

#include "tests/check.h"

using namespace tengen;

namespace {

PointSet flood(const Board& board, Point start) {
    PointSet chain;
    std::vector<Point> open{start};
    chain.add(start);
    while (!open.empty()) {
        const Point p = open.back();
        open.pop_back();
        for (const Point n : board.neighbors(p)) {
            if (board.at(n) != board.at(start) || chain.contains(n)) continue;
            chain.add(n);
            open.push_back(n);
        }
    }
    return chain;
}

PointSet liberties_of(const Board& board, const PointSet& chain) {
    PointSet found;
    chain.for_each([&](Point p) {
        for (const Point n : board.neighbors(p))
            if (board.at(n) == Color::empty) found.add(n);
    });
    return found;
}

void check_consistent(const Board& board) {
    for (Point p = 0; p < board.points(); ++p) {
        for (const Color c : {Color::black, Color::white, Color::empty})
            CHECK_EQ(board.stones(c).contains(p), board.at(p) == c);
        if (board.at(p) == Color::empty) continue;
        const PointSet chain = flood(board, p);
        PointSet ring;
        board.for_each_stone(p, [&](Point s) { ring.add(s); });
        CHECK(ring == chain);
        CHECK_EQ(board.chain_size(p), chain.count());
        chain.for_each([&](Point s) { CHECK_EQ(board.chain(s), board.chain(p)); });
        CHECK(board.liberty_set(p) == liberties_of(board, chain));
    }
}

bool same(const Board& a, const Board& b) {
    if (a.hash() != b.hash() || a.ko() != b.ko() || (a.ko() != kNoPoint && a.ko_color() != b.ko_color())) return false;
    for (Point p = 0; p < a.points(); ++p) {
        if (a.at(p) != b.at(p)) return false;
        if (a.at(p) == Color::empty) continue;
        if (a.chain(p) != b.chain(p) || a.chain_size(p) != b.chain_size(p) || !(a.liberty_set(p) == b.liberty_set(p)))
            return false;
    }
    return true;
}

// Plays a random legal move if there is one; false otherwise.
bool play_random(Board& board, Color color, std::mt19937& random, Board::Undo& record) {
    std::vector<Point> legal;
    board.empty_points().for_each([&](Point p) {
        if (board.is_legal(p, color, true)) legal.push_back(p);
    });
    if (legal.empty()) return false;
    const Point p = legal[random() % legal.size()];
    const int captures = board.capture_size(p, color), liberties = board.liberties_after(p, color);
    const int taken_before = board.stones(opponent(color)).count();
    const bool suicide = board.is_suicide(p, color);
    const auto hash = board.hash_after(p, color);
    board.play(p, color, record);
    CHECK_EQ(board.hash(), hash);
    CHECK_EQ(taken_before - board.stones(opponent(color)).count(), captures);
    CHECK_EQ(board.at(p) == Color::empty, suicide);
    if (!suicide) CHECK_EQ(board.liberties(p), liberties);
    return true;
}

}  // namespace

TEST(board_random_games_stay_consistent_and_undo_restores) {
    std::mt19937 random(7);
    for (const int size : {5, 6, 9, 13, kMaxSize}) {
        for (int game = 0; game < (size < 13 ? 20 : 4); ++game) {
            Board board(size);
            std::vector<Board> before;
            std::vector<Board::Undo> records;
            for (int ply = 0; ply < size * size * 2; ++ply) {
                const auto color = Color((ply + (random() % 8 == 0)) & 1);
                Board::Undo record;
                before.push_back(board);
                if (!play_random(board, color, random, record)) {
                    board.play(board.pass(), color, record);
                    CHECK_EQ(board.ko(), kNoPoint);
                }
                records.push_back(record);
                if (ply % 5 == 0) check_consistent(board);
                // Now and then go back a few plies and on again, so that stale slots are written and restored.
                for (int back = random() % 16 == 0 ? 1 + int(random() % 6) : 0; back-- > 0 && !records.empty();) {
                    board.undo(records.back());
                    CHECK(same(board, before.back()));
                    records.pop_back();
                    before.pop_back();
                }
            }
            while (!records.empty()) {
                board.undo(records.back());
                CHECK(same(board, before.back()));
                records.pop_back();
                before.pop_back();
            }
            check_consistent(board);
            CHECK_EQ(board.hash(), 0u);
        }
    }
}

TEST(board_setup_stones_come_and_go) {
    std::mt19937 random(3);
    Board board(7);
    for (int step = 0; step < 3000; ++step) {
        const auto p = static_cast<Point>(random() % board.points());
        if (board.at(p) != Color::empty) {
            board.remove(p);
        } else {
            const auto color = Color(random() & 1);
            const auto hash = board.hash();
            try {
                board.place(p, color);
            } catch (const std::invalid_argument&) {
                CHECK(board.is_suicide(p, color) || board.capture_size(p, color));
                CHECK_EQ(board.hash(), hash);
            }
        }
        CHECK_EQ(board.ko(), kNoPoint);
        if (step % 10 == 0) check_consistent(board);
    }
    CHECK_THROWS(board.remove(board.empty_points().first()));
    CHECK_THROWS(board.place(board.stones(Color::black).first(), Color::white));
}

TEST(board_sizes_out_of_range_are_refused) {
    CHECK_THROWS(Board(1));
    CHECK_THROWS(Board(kMaxSize + 1));
    CHECK_EQ(Board(5).points(), 25);
    CHECK_EQ(Board(19).empty_points().count(), 361);
}
