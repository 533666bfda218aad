// Games: repetition under the three ko rules, handicap, setup, undo, counting.
#include "board/diagram.h"
#include "board/score.h"
#include "board/symmetry.h"
#include "tests/check.h"

using namespace tengen;

namespace {

Game from_diagram(std::string_view text, std::string_view rules, Color to_play) {
    const Board board = parse_diagram(text);
    Game game(board.size(), Rules::parse(rules), 0);
    for (const Color color : {Color::black, Color::white})
        board.stones(color).for_each([&](Point p) { game.setup(p, color); });
    game.set_to_play(to_play);
    return game;
}

}  // namespace

TEST(rules_names_and_parts) {
    CHECK_EQ(Rules::parse("Chinese").text(), "chinese");
    CHECK_EQ(Rules::parse(" New_Zealand ").text(), "new-zealand");
    CHECK_EQ(Rules::parse("korean").text(), "japanese");
    const std::string parts = "ko=situational,scoring=territory,suicide=true,bonus=n-1";
    CHECK_EQ(Rules::parse(parts).text(), parts);
    CHECK_EQ(Rules::parse("chinese,ko=positional,bonus=none").text(),
             "ko=positional,scoring=area,suicide=false,bonus=none,friendly_pass_ok=true");
    CHECK_EQ(Rules::parse("koSIMPLE score TERRITORY tax ALL sui0").text(), "ancient-territory");
    CHECK(Rules::parse("chinese,scoring=territory").tax == Tax::seki);
    for (const auto& [name, rules] : named_rules())
        CHECK(Rules::parse(name) == rules && Rules::parse(rules.text()) == rules);
    for (const char* bad : {"", "chess", "chinese,aga", "ko=maybe", "suicide=1", "komi=7", "chinese,"})
        CHECK_THROWS(Rules::parse(bad));
}

TEST(game_simple_ko_binds_only_the_side_to_answer) {
    Game game = from_diagram(
        ". X O . .\n"
        "X . X O .\n"
        ". X O . .\n"
        ". . . . .\n"
        ". . . . .\n",
        "chinese", Color::white);
    game.play(6);
    CHECK_EQ(game.board().ko(), 7);
    CHECK(game.legality(7, Color::black) == Legality::ko);
    CHECK(game.is_legal(7, Color::white));
    game.play(game.board().pass());
    CHECK_EQ(game.board().ko(), kNoPoint);
}

TEST(game_no_repetition_without_a_former_stone) {
    Game game(5, Rules::parse("tromp-taylor"), 0);
    for (const Point p : {12, 7, 11, 6, 13}) game.play(p);
    CHECK(game.superko_bans().empty());
}

TEST(game_setup_undo_and_copies) {
    Game game(9, Rules::parse("chinese"), 7.5f);
    game.setup(20, Color::black);
    game.setup(60, Color::black);
    CHECK_THROWS(game.setup(20, Color::white));
    game.set_to_play(Color::white);
    CHECK_EQ(game.handicap(), 2);
    CHECK_EQ(game.white_bonus(), 2.0f);
    const auto start = game.board().hash();
    const Game copy = game;
    game.play(40);
    game.play(41);
    CHECK_THROWS(game.setup(0, Color::black));
    CHECK_THROWS(game.set_to_play(Color::black));
    CHECK_EQ(copy.moves().size(), 0u);
    CHECK(game.undo() && game.undo() && !game.undo());
    CHECK_EQ(game.board().hash(), start);
    CHECK(game.to_play() == Color::white);
    game.setup(20, Color::empty);
    CHECK_EQ(game.handicap(), 0);
    CHECK_THROWS(game.setup(20, Color::empty));
    CHECK_THROWS(game.set_komi(1.0f / 0.0f));
}

TEST(score_area_and_territory) {
    const Game area = from_diagram(
        ". X O . .\n"
        ". X O . .\n"
        ". X O O O\n"
        "X X X O X\n"
        ". . X O .\n",
        "chinese", Color::black);
    PointSet dead;
    CHECK_EQ(area_score(area, dead), 13.0f - 11.0f);  // the corner point touches both colors
    dead.add(19);
    CHECK_EQ(area_score(area, dead), 12.0f - 13.0f);
    CHECK_EQ(territory_score(area, dead), 5.0f - 6.0f - 1.0f);
}

TEST(diagrams_read_what_they_write) {
    const Board board = parse_diagram(
        "O . X . .\n"
        ". X X . .\n"
        "O O X . .\n"
        ". O X . .\n"
        ". O X . .\n");
    CHECK_EQ(parse_diagram(diagram(board, 2)).hash(), board.hash());
    CHECK(diagram(board, 2).find("(X)") != std::string::npos);
    for (const char* bad : {"", ".\n", ". . . . .\n. . . . .\n. . . . .\n. . . .\n. . . . .\n",
                            "O X . . .\nX . . . .\n. . . . .\n. . . . .\n. . . . .\n", ". . ? . .\n"})
        CHECK_THROWS(parse_diagram(bad));
}

TEST(symmetries_are_bijections_with_inverses) {
    for (int s = 0; s < kSymmetries; ++s) {
        PointSet seen;
        for (Point p = 0; p <= 25; ++p) {
            seen.add(transform(p, 5, s));
            CHECK_EQ(transform(transform(p, 5, s), 5, inverse_symmetry(s)), p);
        }
        CHECK_EQ(seen.count(), 26);
        CHECK_EQ(transform(25, 5, s), 25);
    }
    CHECK_EQ(transform(1, 5, 1), 21);
    CHECK_EQ(transform(1, 5, 2), 3);
    CHECK_EQ(transform(1, 5, 4), 5);
    CHECK_EQ(transform(1, 5, 5), 9);  // rows flipped first, then transposed
}
