// Playouts on every size: they end, leave no point that a side would play, and repeat exactly for a seed.
#include <vector>

#include "board/diagram.h"
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
            const bool bakago = name.starts_with("bakago");
            if (name == "bakago-published") continue;  // ends where one side has nothing left
            if (moves == (bakago ? (400 * size * size + 180) / 361 : 3 * size * size)) continue;
            board.empty_points().for_each([&](Point p) {
                for (const Color color : {Color::black, Color::white})
                    CHECK(!is_playable(board, p, color) || (name != "uniform" && is_self_atari(board, p, color)));
            });
        }
    }
}

// The stones that colors and chains tell of, without the board's own account.
void check_board(const Board& board) {
    for (Point p = 0; p < board.points(); ++p) {
        if (board.at(p) == Color::empty) continue;
        PointSet liberties;
        board.for_each_stone(p, [&](Point s) {
            CHECK(board.at(s) == board.at(p));
            for (const Point n : board.neighbors(s))
                if (board.at(n) == Color::empty) liberties.add(n);
        });
        CHECK(!liberties.empty());
        CHECK(liberties == board.liberty_set(p));
    }
}

// An own true eye that is filled, or a suicide, would cost one of the sides its life within some playouts.
TEST(two_eyes_live_in_every_playout) {
    const Board start = parse_diagram(
        ". X . X O . O . .\n"
        "X X X X O O O O O\n"
        "O O O O . . . . .\n"
        ". . . . . . . . .\n"
        ". . . . . . . . .\n"
        ". . . . . . . . .\n"
        ". . . . . . . . .\n"
        ". . . . . . . . .\n"
        ". . . . . . . . .\n");
    for (const auto name : playout_policies()) {
        const auto policy = playout_policy(name);
        for (int seed = 0; seed < 200; ++seed) {
            SplitMix64 random(seed);
            Board board = start;
            policy->play(board, seed % 2 ? Color::black : Color::white, {}, random, nullptr);
            CHECK((start.stones(Color::black)).minus(board.stones(Color::black)).empty());
            CHECK(board.at(0) == Color::empty && board.at(2) == Color::empty);
            if (seed % 20 == 0) check_board(board);
        }
    }
}

TEST(a_full_board_is_passed) {
    const Board start = parse_diagram(". X . X X\nX X X X X\nX X X X X\nX X X X X\nX X X X X\n");
    for (const auto name : playout_policies()) {
        SplitMix64 random(1);
        Board board = start;
        const bool ends_at_once = name == "bakago-published";
        CHECK_EQ(playout_policy(name)->play(board, Color::white, {}, random, nullptr), ends_at_once ? 0 : 2);
        CHECK_EQ(board.hash(), start.hash());
    }
}

// White can divide an eye of two points; there and elsewhere Black has no point that is no self-atari and no own eye.
TEST(a_published_playout_ends_where_a_side_has_no_good_point) {
    const Board start = parse_diagram(". X . X O\nX X X X O\nX X X X O\nO O O O O\nO . . O .\n");
    const auto moves = [&](std::string_view name, Color to_play) {
        SplitMix64 random(3);
        Board board = start;
        return playout_policy(name)->play(board, to_play, {}, random, nullptr);
    };
    CHECK_EQ(moves("bakago-published", Color::black), 0);
    CHECK_EQ(moves("bakago-published", Color::white), 1);
    CHECK_EQ(moves("bakago", Color::black), 4);  // a pass, a move, two passes
    CHECK_EQ(moves("bakago", Color::white), 3);
}

TEST(a_published_playout_ends_after_move_401) {
    const std::vector<Move> before(395, {Point{361}, Color::black});
    for (const auto& [name, count] : {std::pair{"bakago", 5}, {"bakago-published", 6}}) {
        SplitMix64 random(3);
        Board board(19);
        CHECK_EQ(playout_policy(name)->play(board, Color::black, before, random, nullptr), count);
    }
}

// An empty point beside one color alone counts for it, whatever else is empty around it.
TEST(bakago_counts_points_beside_one_color) {
    const Board board = parse_diagram(". . X . .\n. . X . O\n. . . . .\n. . . . .\n. . . . .\n");
    for (const auto name : {"bakago", "bakago-published"}) {
        const auto [black, white] = playout_policy(name)->area(board);
        CHECK_EQ(black.count(), 2 + 4);  // B5, D5, B4, C3; D4 lies between the two colors
        CHECK_EQ(white.count(), 1 + 2);  // E5, E3
    }
    const auto [black, white] = playout_policy("local")->area(board);
    CHECK_EQ(black.count(), 2);
    CHECK_EQ(white.count(), 1);
}

// What the trace tells, from a record of the moves.
TEST(a_trace_tells_who_played_first) {
    Board board(9);
    SplitMix64 random(7);
    Candidates candidates(board);
    std::vector<Move> record;
    PlayoutTrace trace;
    trace.clear();
    const int moves = play_moves(board, Color::white, &trace, 200, [&](Color color) {
        if (!record.empty()) candidates.update(board, record.back().point);
        record.push_back({candidates.draw(board, color, random), color});
        return record.back().point;
    });
    CHECK_EQ(static_cast<int>(record.size()), moves);
    Board again(9);
    std::array<Color, kMaxPoints> first;
    first.fill(Color::empty);
    std::array<int, 2> stones{};
    for (const Move& move : record) {
        CHECK(again.is_legal(move.point, move.color, false));
        again.play(move.point, move.color);
        if (move.point == again.pass()) continue;
        ++stones[index(move.color)];
        if (first[move.point] == Color::empty) first[move.point] = move.color;
    }
    CHECK_EQ(again.hash(), board.hash());
    CHECK(trace.first == first);
    CHECK(trace.stones == stones);
}

TEST(an_unknown_policy_is_refused) { CHECK_THROWS(playout_policy("mogo")); }

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
