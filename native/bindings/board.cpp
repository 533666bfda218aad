// Games, rules, counting and diagrams for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bindings/convert.h"
#include "board/diagram.h"
#include "board/game_end.h"
#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"
#include "board/seki.h"
#include "board/symmetry.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {

namespace {

// Moves and stones in a store: the point, with bit 15 set for White.
using Codes = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const std::uint16_t> items(const Codes& codes) { return {codes.data(), codes.size()}; }

Color color_or_turn(const Game& game, std::optional<int> color) { return color ? to_color(*color) : game.to_play(); }

std::string legality(const Game& game, int point, std::optional<int> color) {
    return std::string(reason(game.legality(point, color_or_turn(game, color))));
}

// What a player of a game under other rules may have played: every move but a stone on a stone or a single one that
// dies.
bool is_tolerable(const Game& game, int point, Color color, Legality legal) {
    if (legal == Legality::suicide) return game.board().chain_size_after(static_cast<Point>(point), color) > 1;
    return legal == Legality::legal || legal == Legality::ko || legal == Legality::superko;
}

void play(Game& game, int point, std::optional<int> color, bool tolerant) {
    const Color player = color_or_turn(game, color);
    const Legality legal = game.legality(point, player);
    if (tolerant ? !is_tolerable(game, point, player, legal) : legal != Legality::legal)
        throw nb::value_error(("illegal move " + std::to_string(point) + ": " + std::string(reason(legal))).c_str());
    game.play(static_cast<Point>(point), player);
}

// Plays the moves until one is illegal: how many were played, and why the next one was not.
std::pair<int, std::string> play_moves(Game& game, const Codes& codes) {
    int played = 0;
    for (const auto code : items(codes)) {
        const Color color = move_color(code);
        const Point point = move_point(code);
        const Legality legal = game.legality(point, color);
        if (legal != Legality::legal) return {played, std::string(reason(legal))};
        game.play(point, color);
        ++played;
    }
    return {played, ""};
}

void set_up(Game& game, const Codes& stones, Color color) {
    for (const auto code : items(stones)) game.setup(to_point(game.board(), code), color);
}

std::pair<int, std::string> check_moves(int size, const std::string& rules, const Codes& moves, const Codes& black,
                                        const Codes& white) {
    Game game(size, Rules::parse(rules), 0);
    try {
        set_up(game, black, Color::black);
        set_up(game, white, Color::white);
    } catch (const std::exception& error) {
        return {0, error.what()};
    }
    return play_moves(game, moves);
}

std::vector<int> legal_points(const Game& game, std::optional<int> color) {
    const Color player = color_or_turn(game, color);
    std::vector<int> legal;
    (game.board().empty_points() | game.encore().blocked).for_each([&](Point p) {
        if (game.is_legal(p, player)) legal.push_back(p);
    });
    return legal;
}

std::vector<std::pair<int, int>> move_list(const std::vector<Move>& moves) {
    std::vector<std::pair<int, int>> list;
    list.reserve(moves.size());
    for (const auto [point, color] : moves) list.emplace_back(index(color), point);
    return list;
}

auto move_codes(const Game& game) {
    auto codes = new_array<std::uint16_t>(game.moves().size());
    std::ranges::transform(game.moves(), codes.data(), stored);
    return codes;
}

std::optional<int> ko_point(const Game& game) {
    const Board& board = game.board();
    if (board.ko() == kNoPoint || board.ko_color() != game.to_play()) return std::nullopt;
    return board.ko();
}

auto pass_alive_owners(const Game& game) {
    const auto areas = pass_alive_areas(game.board(), game.rules().suicide);
    return board_array<std::int8_t>(game.board().size(), [&](Point p) {
        return index(areas[0].contains(p) ? Color::black : areas[1].contains(p) ? Color::white : Color::empty);
    });
}

std::optional<GameEnd> find_end(const Game& game, bool settle, bool sure_win, const std::string& dead_stones) {
    return game_end(game, {settle, sure_win, to_choice<DeadStones>(dead_stones)});
}

// bool [games, size * size + 1]: the moves that a pass policy allows; all boards of one size.
auto allowed_moves(const std::vector<const Game*>& games, const std::string& pass_policy,
                   const std::string& dead_stones) {
    const auto policy = to_choice<PassPolicy>(pass_policy);
    const auto dead = to_choice<DeadStones>(dead_stones);
    if (std::ranges::count(games, nullptr)) throw nb::type_error("a game is None");
    const std::size_t points = games.empty() ? 0 : games[0]->board().points();
    auto array = new_array<bool>(games.size(), points + 1);
    std::fill_n(array.data(), games.size() * (points + 1), false);
    bool* row = array.data();
    for (const Game* const game : games) {
        if (static_cast<std::size_t>(game->board().points()) != points)
            throw nb::value_error("the games must have boards of one size");
        const PointSet moves = allowed_moves(*game, policy, dead);
        moves.for_each([&](Point p) { row[p] = true; });
        row[points] = policy == PassPolicy::free || moves.empty();
        row += points + 1;
    }
    return array;
}

// Stones caught in a ladder (Black's and White's), moves that catch, moves that save.
auto ladders(const Game& game) {
    Board board = game.board();
    const Ladders found = read_ladders(board, game.to_play());
    return std::make_tuple(to_list(found.stones[0]), to_list(found.stones[1]), to_list(found.captures),
                           to_list(found.escapes));
}

// The stone of a question about a ladder; throws where the point is empty.
Point ladder_stone(const Board& board, int point, int nodes) {
    const Point stone = to_point(board, point);
    if (board.at(stone) == Color::empty)
        throw nb::value_error(("there is no stone at point " + std::to_string(point)).c_str());
    if (nodes < 1) throw nb::value_error(("nodes must be 1 or more, not " + std::to_string(nodes)).c_str());
    return stone;
}

bool is_laddered(const Game& game, int point, int nodes) {
    Board board = game.board();
    return captured_in_ladder(board, ladder_stone(board, point, nodes), nullptr, nodes);
}

// Without the move that simple ko forbids now.
std::vector<int> legal_now(const Board& board, PointSet moves, Color player) {
    if (board.ko() != kNoPoint && board.ko_color() == player) moves.remove(board.ko());
    return to_list(moves);
}

std::vector<int> ladder_capture_moves(const Game& game, int point, int nodes) {
    Board board = game.board();
    const Point stone = ladder_stone(board, point, nodes);
    const PointSet moves = ladder_captures(board, stone, nodes);
    return legal_now(board, moves, opponent(board.at(stone)));
}

std::vector<int> ladder_escape_moves(const Game& game, int point, int nodes) {
    Board board = game.board();
    const Point stone = ladder_stone(board, point, nodes);
    if (board.liberties(stone) != 1)
        throw nb::value_error(("the chain at point " + std::to_string(point) + " is not in atari").c_str());
    const PointSet moves = ladder_escapes(board, stone, nodes);
    return legal_now(board, moves, board.at(stone));
}

std::string game_diagram(const Game& game) {
    return diagram(game.board(), game.moves().empty() ? kNoPoint : game.moves().back().point);
}

auto diagram_stones(const std::string& text) {
    const Board board = parse_diagram(text);
    return std::make_tuple(board.size(), to_list(board.stones(Color::black)), to_list(board.stones(Color::white)));
}

int checked_transform(int point, int size, int symmetry) {
    check_symmetry(symmetry);
    return transform(to_point(Board(size), point, true), size, symmetry);
}

auto rule_parts(const std::string& text) {
    const Rules rules = Rules::parse(text);
    return std::make_tuple(std::string(name(rules.ko)), std::string(name(rules.scoring)), rules.suicide,
                           std::string(name(rules.handicap_bonus)), std::string(name(rules.tax)), rules.button,
                           rules.friendly_pass_ok);
}

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const auto& rules : named_rules()) names.emplace_back(rules.name);
    return names;
}

std::vector<std::string> rule_aliases() { return {alias_names().begin(), alias_names().end()}; }

void bind_history(nb::class_<Game>& game) {
    game.def(
            "setup",
            [](Game& g, int p, int color) {
                g.setup(to_point(g.board(), p), color == 2 ? Color::empty : to_color(color));
            },
            "point"_a, "color"_a, "A stone before the first move; color 2 removes one.")
        .def(
            "set_to_play", [](Game& g, int color) { g.set_to_play(to_color(color)); }, "color"_a)
        .def("legality", legality, "point"_a, "color"_a = nb::none(), "Why the move is illegal; '' if it is legal.")
        .def("play", play, "point"_a, "color"_a = nb::none(), "tolerant"_a = false,
             "tolerant: also against ko, superko and the suicide of several stones.")
        .def("play_moves", play_moves, "codes"_a,
             "Plays uint16 codes (the point, bit 15 for White) up to the first illegal one: (moves played, reason or "
             "'').")
        .def("undo", &Game::undo)
        .def(
            "resign", [](Game& g, int color) { g.resign(to_color(color)); }, "color"_a)
        .def(
            "set_move_limit",
            [](Game& g, int moves, bool no_result) {
                g.set_move_limit(moves, no_result ? AtLimit::no_result : AtLimit::count);
            },
            "moves"_a, "no_result"_a = false)
        .def("set_encore", &Game::set_encore, "played"_a)
        .def("copy", [](const Game& g) { return Game(g); })
        .def(
            "moves", [](const Game& g) { return move_list(g.moves()); }, "[(color, point)]")
        .def("move_codes", move_codes, "The moves as play_moves() takes them.")
        .def(
            "setup_stones", [](const Game& g) { return move_list(g.setup_stones()); }, "[(color, point)]")
        .def("legal_points", legal_points, "color"_a = nb::none(),
             "Legal moves on the board; pass is always legal too.")
        .def("superko_bans", [](const Game& g) { return to_list(g.superko_bans()); });
}

void bind_state(nb::class_<Game>& game) {
    game.def_prop_ro("size", [](const Game& g) { return g.board().size(); })
        .def_prop_ro("rules", [](const Game& g) { return g.rules().text(); })
        .def_prop_rw("komi", &Game::komi, &Game::set_komi)
        .def_prop_ro("to_play", [](const Game& g) { return index(g.to_play()); })
        .def_prop_ro("first_to_play", [](const Game& g) { return index(g.first_to_play()); })
        .def_prop_ro("passes", &Game::passes)
        .def_prop_ro("pass_ends", &Game::pass_ends, "Whether a pass of the side to play ends the game.")
        .def_prop_ro(
            "encore", [](const Game& g) { return g.encore().phase; }, "0 before the encore, then 1 and 2.")
        .def_prop_ro("encore_from", &Game::encore_from, "The moves before set_encore(True); None without it.")
        .def_prop_ro(
            "button", [](const Game& g) { return index(g.button()); }, "Who took the button; 2 for nobody.")
        .def_prop_ro("button_left", &Game::button_left)
        .def_prop_ro("move_count", [](const Game& g) { return g.moves().size(); })
        .def_prop_ro("is_over", &Game::is_over)
        .def_prop_ro("is_no_result", &Game::is_no_result)
        .def_prop_ro("ending", [](const Game& g) { return std::string(name(g.ending())); })
        .def_prop_ro("move_limit", &Game::move_limit)
        .def_prop_ro("declares_no_result", [](const Game& g) { return g.at_limit() == AtLimit::no_result; })
        .def_prop_ro("handicap", &Game::handicap)
        .def_prop_ro("white_bonus", &Game::white_bonus)
        .def_prop_ro("captures",
                     [](const Game& g) { return std::make_pair(g.captures(Color::black), g.captures(Color::white)); })
        .def_prop_ro("hash", [](const Game& g) { return g.board().hash(); })
        .def_prop_ro("ko", ko_point)
        .def("board", [](const Game& g) {
            return board_array<std::int8_t>(g.board().size(), [&](Point p) { return index(g.board().at(p)); });
        });
}

void bind_questions(nb::class_<Game>& game) {
    game.def(
            "score", [](const Game& g, const std::vector<int>& dead) { return score(g, to_set(g.board(), dead)); },
            "dead"_a = std::vector<int>{})
        .def(
            "owners",
            [](const Game& g, const std::vector<int>& dead) {
                const Owners owner = counted_owners(g, to_set(g.board(), dead));
                return board_array<std::int8_t>(g.board().size(), [&](Point p) { return index(owner[p]); });
            },
            "dead"_a = std::vector<int>{}, "int8 [size, size]: 0 black, 1 white, 2 neutral, the dead stones removed.")
        .def(
            "result", [](const Game& g, const std::vector<int>& dead) { return result(g, to_set(g.board(), dead)); },
            "dead"_a = std::vector<int>{}, "'B+3.5', 'W+R', '0' or 'Void'; '' while the game goes on.")
        .def(
            "seki_stones",
            [](const Game& g, const std::vector<int>& dead) {
                return to_list(seki_stones(g.board(), to_set(g.board(), dead)));
            },
            "dead"_a = std::vector<int>{})
        .def(
            "dead_or_seki",
            [](const Game& g, const std::vector<int>& dead) {
                return to_list(dead_or_seki(g.board(), to_set(g.board(), dead)));
            },
            "dead"_a)
        .def(
            "proven_seki",
            [](const Game& g, const std::vector<int>& dead) {
                return to_list(proven_seki(g.board(), to_set(g.board(), dead)));
            },
            "dead"_a)
        .def(
            "whole_chains",
            [](const Game& g, const std::vector<int>& stones) {
                return to_list(whole_chains(g.board(), to_set(g.board(), stones)));
            },
            "stones"_a, "All stones of the chains that these stones belong to.")
        .def("pass_alive", pass_alive_owners,
             "int8 [size, size]: the pass-alive area of 0 black, 1 white; 2 elsewhere.")
        .def(
            "pass_dead", [](const Game& g) { return to_list(pass_dead(g.board(), g.rules().suicide)); },
            "Stones in the opponent's pass-alive territory.")
        .def("game_end", find_end, "settle"_a = false, "sure_win"_a = false, "dead_stones"_a = "pass-alive",
             "How the game has ended, or None while it goes on. Beside its own rules a game under area scoring ends "
             "with `settle` when every point is pass-alive area, with `sure_win` when sure_margin() has a value. "
             "`dead_stones`: pass-alive (stones in the opponent's pass-alive territory are dead) or none (the board "
             "counts as it stands).")
        .def("sure_margin", &sure_margin,
             "Black minus White in points, with komi and handicap bonus, when the leader's pass-alive area alone beats "
             "the rest of the board; None otherwise and under territory scoring.")
        .def(
            "true_eyes",
            [](const Game& g, std::optional<int> color) {
                return to_list(true_eyes(g.board(), color_or_turn(g, color)));
            },
            "color"_a = nb::none(),
            "Empty points that are true eyes of a player (the side to play): own stones on all sides, and of the "
            "diagonals at most one of the opponent, none at the edge.")
        .def(
            "useful_moves",
            [](const Game& g, const std::string& dead_stones) {
                return to_list(useful_moves(g, to_choice<DeadStones>(dead_stones)));
            },
            "dead_stones"_a = "pass-alive",
            "Legal moves of the side to play that are not into an own true eye and, unless `dead_stones` is none, not "
            "inside pass-alive area of either side. Never contains pass.")
        .def("ladders", ladders,
             "(black stones, white stones, catching moves, saving moves), the moves of the side to play.")
        .def("is_laddered", is_laddered, "stone"_a, "nodes"_a = kLadderNodes)
        .def("ladder_captures", ladder_capture_moves, "stone"_a, "nodes"_a = kLadderNodes)
        .def("ladder_escapes", ladder_escape_moves, "stone"_a, "nodes"_a = kLadderNodes)
        .def("diagram", game_diagram);
}

void bind_end(nb::module_& m) {
    nb::class_<GameEnd>(m, "GameEnd", "How a game has ended.")
        .def_prop_ro(
            "reason", [](const GameEnd& end) { return std::string(name(end.reason)); },
            "passes, resignation, move limit, long cycle, settled or sure win.")
        .def_prop_ro(
            "winner",
            [](const GameEnd& end) -> std::optional<int> {
                if (end.winner == Color::empty && !end.counted) return std::nullopt;
                return index(end.winner);
            },
            "0 black, 1 white, 2 draw, None without result.")
        .def_prop_ro(
            "score", [](const GameEnd& end) { return end.counted ? std::optional(end.score) : std::nullopt; },
            "Black minus White in points, with komi; None where the game was not counted. Of a sure win the least by "
            "which it is won.")
        .def_prop_ro(
            "owners",
            [](const GameEnd& end) {
                const auto array = [&] {
                    return board_array<std::int8_t>(end.size, [&](Point p) { return index(end.owners[p]); });
                };
                return end.counted ? std::optional(array()) : std::nullopt;
            },
            nb::rv_policy::move,
            "int8 [size, size]: 0 black, 1 white, 2 neutral; None where the game was not counted.");
    m.def(
        "allowed_moves",
        static_cast<nb::ndarray<nb::numpy, bool, nb::ndim<2>, nb::c_contig> (*)(
            const std::vector<const Game*>&, const std::string&, const std::string&)>(allowed_moves),
        "games"_a, "pass_policy"_a = "free", "dead_stones"_a = "pass-alive",
        "bool [games, size * size + 1]: the moves that a pass policy allows the sides to play, pass last. free: all "
        "legal moves; no-legal-move: a pass only where nothing else is legal; no-useful-move: useful moves alone, and "
        "a pass where there is none. ValueError unless all boards are of one size.");
    m.def("pass_policies", [] { return names(PassPolicy{}); });
    m.def("dead_stone_rules", [] { return names(DeadStones{}); });
}

}  // namespace
}  // namespace tengen::bindings

void register_board(nb::module_& m) {
    using namespace tengen::bindings;
    using tengen::Game, tengen::Rules;
    m.attr("MAX_SIZE") = tengen::kMaxSize;
    auto game = nb::class_<Game>(m, "Game", "A game with its whole history; tengen.game.Game is its friendly face.");
    game.def(
        "__init__",
        [](Game* self, int size, const std::string& rules, float komi) {
            new (self) Game(size, Rules::parse(rules), komi);
        },
        "size"_a, "rules"_a, "komi"_a);
    bind_history(game);
    bind_state(game);
    bind_questions(game);
    bind_end(m);

    m.def("check_moves", check_moves, "size"_a, "rules"_a, "moves"_a, "black_setup"_a, "white_setup"_a,
          "Replays uint16 codes (the point, bit 15 for White): (legal leading moves, why the next one is illegal or "
          "'').");
    m.def("diagram_stones", diagram_stones, "text"_a, "(size, black points, white points) of a text diagram.");
    m.def("transform", checked_transform, "point"_a, "size"_a, "symmetry"_a);
    m.def("rule_parts", rule_parts, "text"_a,
          "(ko, scoring, suicide, bonus, tax, button, friendly_pass_ok) of a rule set's name or text form.");
    m.def(
        "rules_text", [](const std::string& text) { return Rules::parse(text).text(); }, "text"_a,
        "The shortest text of these rules: the name if they have one.");
    m.def("rule_names", rule_names, "One name for each named rule set, and korean.");
    m.def("rule_aliases", rule_aliases, "Further names of the same rule sets.");
}
