// The local playouts: their pattern table against a slow matcher, their tactics and answers on diagrams, their priors.
#include <algorithm>
#include <string>
#include <vector>

#include "board/diagram.h"
#include "playout/candidates.h"
#include "playout/local.h"
#include "playout/patterns.h"
#include "playout/tactics.h"
#include "tests/check.h"

using namespace tengen;

namespace {

using Grid = std::array<std::string, 3>;  // X own, O the other's, '.' empty, '#' off the board

Grid turned(const Grid& grid) {
    Grid result = grid;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) result[column][2 - row] = grid[row][column];
    return result;
}

Grid mirrored(Grid grid) {
    for (auto& row : grid) std::ranges::reverse(row);
    return grid;
}

Grid exchanged(Grid grid) {
    for (auto& row : grid)
        for (char& c : row) c = c == 'X' ? 'O' : c == 'O' ? 'X' : c;
    return grid;
}

bool fits(const Pattern3x3& pattern, const Grid& grid) {
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            const char want = pattern.rows[row][column], is = grid[row][column];
            if ((row == 1 && column == 1) || want == '?') continue;
            const bool ok = want == 'x' ? is != 'X' : want == 'o' ? is != 'O' : is == want;
            if (!ok) return false;
        }
    }
    return true;
}

bool slowly_matches(Grid grid) {
    for (int mirror = 0; mirror < 2; ++mirror, grid = mirrored(grid))
        for (int turn = 0; turn < 4; ++turn, grid = turned(grid))
            for (const Pattern3x3& pattern : patterns_3x3())
                if (fits(pattern, grid) || (!pattern.mover_only && fits(pattern, exchanged(grid)))) return true;
    return false;
}

Grid grid_of_code(unsigned code, Color mover) {
    Grid grid = {"...", "...", "..."};
    for (int cell = 0, at = 0; cell < 9; ++cell) {
        if (cell == 4) continue;
        const unsigned what = code >> (2 * at++) & 3;
        grid[cell / 3][cell % 3] = what == 3 ? '#' : what == 2 ? '.' : what == unsigned(index(mover)) ? 'X' : 'O';
    }
    return grid;
}

Grid grid_of_board(const Board& board, Point p, Color mover) {
    Grid grid = {"...", "...", "..."};
    for (int cell = 0; cell < 9; ++cell) {
        const int row = p / board.size() + cell / 3 - 1, column = p % board.size() + cell % 3 - 1;
        const bool off = row < 0 || column < 0 || row >= board.size() || column >= board.size();
        char& c = grid[cell / 3][cell % 3];
        if (off)
            c = '#';
        else if (const Color at = board.at(static_cast<Point>(row * board.size() + column)); at != Color::empty)
            c = at == mover ? 'X' : 'O';
    }
    return grid;
}

Point at(const Board& board, int row, int column) { return static_cast<Point>(row * board.size() + column); }

LocalParams always() {
    LocalParams params;
    params.capture = params.save = params.pattern = 1;
    return params;
}

// Every move that the policy may start with, over 200 seeds.
PointSet first_moves(const std::string& text, Color to_play, std::vector<Move> before, LocalParams params = always()) {
    Board board = parse_diagram(text);
    const auto hash = board.hash();
    PointSet seen;
    for (int seed = 0; seed < 200; ++seed) {
        SplitMix64 random(seed);
        const Point p = LocalPolicy(params).choose(board, to_play, before, random);
        CHECK(board.is_legal(p, to_play, false));
        if (p != board.pass()) seen.add(p);
    }
    CHECK_EQ(board.hash(), hash);
    return seen;
}

PointSet only(Point p) {
    PointSet set;
    set.add(p);
    return set;
}

PointSet saves(const std::string& text, int row, int column, int nodes = 20) {
    Board board = parse_diagram(text);
    const auto hash = board.hash();
    Choices choices;
    add_saves(board, at(board, row, column), nodes, choices);
    CHECK_EQ(board.hash(), hash);
    PointSet set;
    for (int i = 0; i < choices.size(); ++i) set.add(choices[i]);
    return set;
}

}  // namespace

TEST(pattern_table_is_what_the_diagrams_say) {
    int wrong = 0, matched = 0;
    for (unsigned code = 0; code < 1 << 16; ++code) {
        for (const Color mover : {Color::black, Color::white}) {
            const bool matches = matches_3x3(static_cast<std::uint16_t>(code), mover);
            wrong += matches != slowly_matches(grid_of_code(code, mover));
            matched += matches;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(matched > 1000);
}

TEST(neighbourhood_codes_are_what_lies_around) {
    for (int size = kMinSize; size <= kMaxSize; ++size) {
        SplitMix64 random(size);
        Board board(size);
        Candidates candidates(board);
        Point last = board.pass();
        for (int move = 0; move < size * size / 2; ++move) {
            candidates.update(board, last);
            const Color color = move % 2 ? Color::white : Color::black;
            board.play(last = candidates.draw(board, color, random), color);
        }
        for (Point p = 0; p < board.points(); ++p)
            CHECK(grid_of_code(neighborhoods(size).code(board, p), Color::white)[0] ==
                      grid_of_board(board, p, Color::white)[0] &&
                  grid_of_code(neighborhoods(size).code(board, p), Color::white)[2] ==
                      grid_of_board(board, p, Color::white)[2]);
    }
}

TEST(a_chain_in_atari_is_saved_where_it_can_be) {
    // The stone runs to three liberties.
    CHECK(saves(". . . . .\n. . O . .\n. O X O .\n. . . . .\n. . . . .\n", 2, 2) == only(17));
    // It has no room: on the first line an extension stays in atari.
    CHECK(saves(". . . . .\n. . . . .\n. . . . .\n. O O O .\n. O X . O\n", 4, 2).empty());
    // Extension (row 5) leaves two liberties and a ladder to the edge; without reading it passes for a save.
    const std::string ladder =
        ". . . . . . .\n. . O . . . .\n. O X O . . .\n. O X . . . .\n. . O . . . .\n. . . . . . .\n. . . . . . .\n";
    CHECK(saves(ladder, 2, 2).empty());
    CHECK(saves(ladder, 2, 2, 0) == only(24));
    // A ladder breaker (E3) saves it.
    const std::string broken =
        ". . . . . . .\n. . O . . . .\n. O X O . . .\n. O X . . . .\n. . O . . . .\n. . . . X . .\n. . . . . . .\n";
    CHECK(saves(broken, 2, 2) == only(24));
    // The capture of the stone that gives atari is a save where running is none.
    CHECK(saves("X O . . .\n. X O . .\n. X O . .\n. . . . .\n. . . . .\n", 0, 0).contains(5));
}

TEST(self_atari_is_seen_and_weighed) {
    // Black at A5 stands alone between white stones; at C3 he has air.
    const Board corner = parse_diagram(". O . . .\n. . . . .\nO . . . .\n. . . . .\n. . . . .\n");
    CHECK(is_self_atari(corner, 0, Color::black));
    CHECK(!is_self_atari(corner, 12, Color::black));
    // Taking the stone gives air: A5 captures B5 and has two liberties.
    const Board capture = parse_diagram(". O X . .\n. X . . .\n. . . . .\n. . . . .\n. . . . .\n");
    CHECK(!is_self_atari(capture, 0, Color::black));
    // Three in a row inside a white eye of four points in a row: the last liberty is closed in, one eye is left.
    const Board nakade =
        parse_diagram(". . . . O .\nX X . . O .\nO O O O O .\n. . . . . .\n. . . . . .\n. . . . . .\n");
    CHECK(is_self_atari(nakade, 2, Color::white) == false);
    const Board eye = parse_diagram("X X . . O .\nO O O O O .\n. . . . . .\n. . . . . .\n. . . . . .\n. . . . . .\n");
    CHECK(is_self_atari(eye, 2, Color::black));
    CHECK(is_useful_self_atari(eye, 2, Color::black));
    // Four in a row leave two eyes.
    const Board row = parse_diagram("X X X . . O\nO O O O O O\n. . . . . .\n. . . . . .\n. . . . . .\n. . . . . .\n");
    CHECK(is_self_atari(row, 3, Color::black));
    CHECK(!is_useful_self_atari(row, 3, Color::black));
    // Two stones that could have run into the open are no shape in an eye.
    const Board open = parse_diagram("X . . . .\nO . . . .\nO O . . .\n. . . . .\n. . . . .\n");
    CHECK(!is_useful_self_atari(open, 1, Color::black));
}

TEST(a_shape_of_one_eye_may_be_given_up) {
    struct Case {
        std::string rows;
        Point p;
        bool useful;
    };
    // Black plays p inside the white wall, one liberty stays.
    const std::vector<Case> cases = {
        {"X X . O .\nX . O O .\nO O O . .\n. . . . .\n. . . . .\n", 6, true},   // square of four
        {"X X X . O\n. O O O O\nO O . . .\n. . . . .\n. . . . .\n", 5, false},  // bent row of four
        {"X X X . O\nO . O O O\nO O O . .\n. . . . .\n. . . . .\n", 6, true},   // T of four
    };
    for (const Case& test : cases) {
        const Board board = parse_diagram(test.rows);
        CHECK(is_self_atari(board, test.p, Color::black));
        CHECK_EQ(is_useful_self_atari(board, test.p, Color::black), test.useful);
    }
}

TEST(the_last_move_is_answered) {
    // White has just played C3 into atari: Black takes it.
    CHECK(first_moves(". . . . .\n. . X . .\n. X O . .\n. . X . .\n. . . . .\n", Color::black, {{12, Color::white}}) ==
          only(13));
    // White D3 put C3 into atari: Black runs down.
    CHECK(first_moves(". . . . .\n. . O . .\n. O X O .\n. . . . .\n. . . . .\n", Color::black, {{13, Color::white}}) ==
          only(17));
    LocalParams no_patterns = always();
    no_patterns.pattern = 0;
    // The same stone in atari, but the last moves were elsewhere: the rest of the board is played too.
    CHECK(first_moves(". . . . .\n. . O . .\n. O X O .\n. . . . .\nO . . . X\n", Color::black,
                      {{24, Color::black}, {20, Color::white}}, no_patterns)
              .count() > 10);
    // Chance 0 forgets all rules: then nothing but the eye rule and legality binds.
    LocalParams none = always();
    none.capture = none.pattern = 0;
    CHECK(
        first_moves(". . . . .\n. . X . .\n. X O . .\n. . X . .\n. . . . .\n", Color::black, {{12, Color::white}}, none)
            .count() > 10);
}

TEST(patterns_beside_the_last_move_are_played) {
    // White's hane at E5 on Black's E4: all answers lie beside it and match.
    const std::string text =
        ". . . . . . .\n. . . . . . .\n. . . . O . .\n. . . O X . .\n. . . . X . .\n. . . . . . .\n. . . . . . .\n";
    const Board board = parse_diagram(text);
    const Point last = at(board, 2, 4);
    const PointSet moves = first_moves(text, Color::black, {{at(board, 3, 4), Color::black}, {last, Color::white}});
    CHECK(!moves.empty());
    moves.for_each([&](Point p) {
        const int down = p / 7 - last / 7, right = p % 7 - last % 7;
        CHECK(std::max(std::abs(down), std::abs(right)) == 1);
        CHECK(slowly_matches(grid_of_board(board, p, Color::black)));
    });
    // Of those around it none that matches is left out.
    for (const Point p : neighborhoods(7).points(last))
        if (board.at(p) == Color::empty)
            CHECK_EQ(moves.contains(p), slowly_matches(grid_of_board(board, p, Color::black)));
}

TEST(priors_know_what_is_urgent) {
    const Board board = parse_diagram(
        ". . . . . . . . .\n. . . . . . . . .\n. . . . X . . . .\n. . . X O . . . .\n. . . . X . . . .\n"
        ". . . . . . . . .\n. . . . . . . . .\n. O . . . . . . .\n. . . . . . . . .\n");
    const LocalPolicy policy;
    const std::vector<Move> before = {{31, Color::white}};
    std::vector<Point> moves;
    board.empty_points().for_each([&](Point p) { moves.push_back(p); });
    moves.push_back(board.pass());
    std::vector<float> weights(moves.size(), -1);
    policy.weigh(board, Color::black, before, moves, weights);
    const auto weight = [&](Point p) { return weights[std::ranges::find(moves, p) - moves.begin()]; };
    for (const float w : weights) CHECK(w > 0);
    for (const Point p : moves) CHECK(p == 32 || weight(32) > weight(p));  // F6 takes the stone
    CHECK(weight(80) < weight(60));                                        // J1 is the first line, nothing near
    CHECK(weight(board.pass()) < weight(80));
    policy.weigh(board, Color::white, {}, moves, weights);
    for (const Point p : moves) CHECK(p == 32 || weight(32) > weight(p));  // White saves it
}
