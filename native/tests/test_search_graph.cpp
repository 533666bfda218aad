// Transpositions: what shares a node, what must not, and that no line breaks superko.
#include <set>
#include <tuple>

#include "search/graph.h"
#include "search/search.h"
#include "search/value_bias.h"
#include "tests/check.h"

using namespace tengen;

namespace {

Game random_game(int size, const char* rules, int moves, std::uint64_t seed) {
    Game game(size, Rules::parse(rules), 0.5f);
    SplitMix64 random(seed);
    for (int i = 0; i < moves && !game.is_over(); ++i) {
        std::vector<Point> legal;
        game.board().empty_points().for_each([&](Point p) {
            if (game.is_legal(p) && !game.board().is_true_eye(p, game.to_play())) legal.push_back(p);
        });
        if (legal.empty()) break;
        game.play(legal[random.below(static_cast<std::uint32_t>(legal.size()))]);
    }
    return game;
}

// A sharp policy and value that depend on the stones alone, so that the search goes deep.
void evaluate(const Game& game, std::vector<float>& policy, std::vector<float>& value) {
    SplitMix64 random(game.board().hash() + static_cast<std::uint64_t>(game.to_play()));
    const int moves = game.board().points() + 1;
    for (int i = 0; i < moves; ++i) {
        const float x = static_cast<float>(random.below(1000)) / 1000;
        policy.push_back(x * x * x * x);
    }
    value.push_back(static_cast<float>(random.below(2001)) / 1000 - 1);
}

template <class F>
void search(Search& search, int visits, int limit, F seen) {
    const int area = search.game().board().points();
    while (static_cast<int>(search.root_visits()) < visits) {
        std::vector<float> policy, value;
        const int n = search.gather(
            [&](int, const Game& game) {
                seen(game);
                evaluate(game, policy, value);
            },
            limit);
        const std::vector<float> score(n), ownership(n * area);
        search.scatter({policy, value, score, ownership}, search.game().board().size());
    }
}

SearchParams graph() {
    SearchParams params;
    params.transpositions = true;
    params.prune_eyes = false;
    return params;
}

// Whether each move of a line is legal after those before it.
void check_line(Game game, const std::vector<LineMove>& line) {
    for (const LineMove& move : line) {
        CHECK(game.is_legal(move.point));
        game.play(move.point);
    }
}

using Position = std::tuple<std::uint64_t, Color, Point, int, int, int, bool>;

}  // namespace

TEST(graph_asks_for_no_position_twice_and_breaks_no_rule) {
    int repeated_by_the_tree = 0;
    for (const char* rules : {"tromp-taylor", "ko=situational,suicide=false", "chinese", "japanese"}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Game root = random_game(5, rules, 6 + 8 * static_cast<int>(seed), seed);
            for (const bool shares : {true, false}) {
                SearchParams params = graph();
                params.transpositions = shares;
                Search one(params, seed);
                one.set_root(root);
                std::set<Position> seen;
                search(one, 1500, 4, [&](const Game& leaf) {
                    Game again(5, root.rules(), root.komi());
                    for (const auto [point, color] : leaf.moves()) {
                        CHECK(again.is_legal(point, color));
                        again.play(point, color);
                    }
                    const Position position = {leaf.board().hash(),
                                               leaf.to_play(),
                                               leaf.board().ko(),
                                               leaf.passes(),
                                               leaf.captures(Color::black),
                                               leaf.captures(Color::white),
                                               leaf.is_over()};
                    const bool fresh = seen.insert(position).second;
                    CHECK(fresh || !shares);
                    repeated_by_the_tree += !fresh;
                });
                for (const auto& move : one.root_moves()) CHECK(root.is_legal(move.point));
                for (const auto& move : one.root_moves()) check_line(root, one.line(move.point, 30));
            }
        }
    }
    CHECK(repeated_by_the_tree > 100);
}

// On a tiny board lines with different captures meet in the nodes after them: what one line may play is superko for
// another.
TEST(graph_shows_no_line_that_breaks_superko) {
    SearchParams params = graph();
    params.selection = Selection::uct;
    for (const char* rules : {"tromp-taylor", "aga-button"}) {
        for (int tenths = 1; tenths <= 20; ++tenths) {
            params.uct_exploration = static_cast<float>(tenths) / 10;
            Search one(params, 1);
            const Game root(2, Rules::parse(rules), 0.5f);
            one.set_root(root);
            search(one, 400, 8, [](const Game&) {});
            for (const auto& move : one.root_moves()) check_line(root, one.line(move.point, 40));
        }
    }
}

// What moves and lines tell of the positions after them: a position was visited once for itself and once for each visit
// of its moves. In a kept tree moves of the root lead to shared positions too.
TEST(graph_tells_the_visits_of_a_move_from_those_of_the_position_after_it) {
    for (const Selection selection : {Selection::puct_katago, Selection::puct}) {
        for (const bool shares : {true, false}) {
            SearchParams params = graph();
            params.selection = selection;
            params.transpositions = shares;
            Search one(params, 1);
            Game root = random_game(5, "tromp-taylor", 4, 9);
            int shared_moves = 0, shared_steps = 0;
            for (int played = 0; played < 3; ++played) {
                one.set_root(root);
                search(one, 2000, 1, [](const Game&) {});
                for (const RootMove& move : one.root_moves()) {
                    shared_moves += move.node_visits > move.visits;
                    const float share = static_cast<float>(move.visits) / static_cast<float>(move.node_visits);
                    if (move.visits) CHECK(std::abs(move.node_weight * share - move.weight) < 1e-3f * move.weight);
                    const Node* node = one.tree().root().node;
                    for (const LineMove& step : one.line(move.point, 30)) {
                        const EdgeStats& edge = node->edges[node->find(step.point)];
                        node = edge.node;
                        shared_steps += step.node_visits > step.visits;
                        if (!node || node->terminal || !node->edge_count) continue;
                        std::uint32_t visits = 1;
                        for (int i = 0; i < node->edge_count; ++i) visits += node->edges[i].visits;
                        CHECK_EQ(step.node_visits, visits);
                        CHECK_EQ(step.visits, edge.visits);
                    }
                    const auto line = one.line(move.point, 1);
                    if (!line.empty()) CHECK_EQ(line[0].node_visits, move.node_visits);
                }
                root.play(one.choose());
            }
            CHECK_EQ(shared_moves > 0, shares);
            CHECK_EQ(shared_steps > 0, shares);
        }
    }
}

// Two orders of three moves to one position: it has one node, and both edges tell what all visits below it found.
TEST(graph_adds_up_the_visits_of_all_lines) {
    Search one(graph(), 1);
    const Game root = random_game(5, "tromp-taylor", 4, 9);
    one.set_root(root);
    search(one, 4000, 1, [](const Game&) {});
    const Node& node = *one.tree().root().node;
    std::uint32_t visits = 1;
    float utility = utility_of(node.value, node.score, graph());
    for (int i = 0; i < node.edge_count; ++i) {
        visits += node.edges[i].visits;
        utility += static_cast<float>(node.edges[i].visits) * node.edges[i].utility;
    }
    CHECK_EQ(visits, one.root_visits());
    CHECK(std::abs(utility / static_cast<float>(visits) + one.tree().root().utility) < 1e-4f);
}

TEST(graph_keeps_what_can_still_be_reached) {
    Search one(graph(), 1), fresh(graph(), 1);
    Game root = random_game(5, "tromp-taylor", 4, 3);
    one.set_root(root);
    const auto nothing = [](const Game&) {};
    search(one, 3000, 4, nothing);
    for (int i = 0; i < 6; ++i) {
        const std::size_t before = one.tree().nodes();
        root.play(one.choose());
        one.set_root(root);
        CHECK(one.tree().nodes() > 0 && one.tree().nodes() < before);
        const auto visits = one.root_visits();
        CHECK(visits > 0);
        search(one, static_cast<int>(visits) + 200, 4, nothing);
    }
    one.set_root(Game(7, root.rules(), 0.5f));
    CHECK_EQ(one.tree().nodes(), 0u);
    CHECK_EQ(one.tree().bytes(), 0u);
}

// A position after three moves that two orders of them have reached: its visits are those of both.
TEST(graph_keeps_the_visits_of_all_lines_to_a_new_root) {
    for (const Selection selection : {Selection::puct, Selection::puct_katago}) {
        SearchParams params = graph();
        params.selection = selection;
        Search one(params, 1);
        Game root = random_game(5, "tromp-taylor", 0, 1);
        one.set_root(root);
        search(one, 4000, 1, [](const Game&) {});
        for (const auto& step : one.line(one.choose(), 3)) root.play(step.point);
        one.set_root(root);
        std::uint32_t visits = 1;
        for (const RootMove& move : one.root_moves()) visits += move.visits;
        CHECK(visits > 10);
        CHECK_EQ(visits, one.root_visits());
    }
}

TEST(graph_goes_on_when_its_memory_is_full) {
    SearchParams params = graph();
    params.memory = kMinMemory;
    Search one(params, 1);
    one.set_root(Game(9, Rules::parse("tromp-taylor"), 7.5f));
    search(one, 20000, 4, [](const Game&) {});
    CHECK(one.tree().full());
    CHECK(one.tree().held() <= kMinMemory);
    CHECK(one.root_visits() >= 20000);
}

TEST(graph_keys_tell_the_order_of_moves_from_their_captures) {
    const Game root = random_game(5, "tromp-taylor", 0, 1);
    const auto key = [&](std::initializer_list<Point> moves) {
        Game game = root;
        for (const Point p : moves) game.play(p);
        return position_key(game);
    };
    const Point pass = 25;
    CHECK_EQ(key({0, 1, 2}), key({2, 1, 0}));
    CHECK(key({0, 1}) != key({1, 0}));
    CHECK(key({}) != key({pass}));
    // Black takes the corner stone, after moves in this order or that; or it was never there.
    CHECK_EQ(key({1, 0, 5, 20, 24}), key({5, 0, 1, 20, 24}));
    CHECK(key({1, 0, 5}) != key({1, pass, 5}));
    CHECK_EQ(key({1, 20, 5, 24}), key({5, 24, 1, 20}));
}

TEST(graph_keys_tell_two_passes_apart_under_a_limit_of_moves) {
    for (const int moves : {2, 6, 8, 9, 10, 12}) {
        Game game = random_game(5, "tromp-taylor", moves, 1);
        CHECK_EQ(game.moves().size(), static_cast<std::size_t>(moves));
        game.set_move_limit(50);
        std::set<std::uint64_t> seen{position_key(game)};
        for (int i = 0; i < 2; ++i) {
            game.play(25);
            CHECK(seen.insert(position_key(game)).second);
        }
    }
}

TEST(keys_of_value_bias_tell_the_mover_from_the_point) {
    const Board board(5);
    std::set<std::uint64_t> seen;
    for (const Color mover : {Color::black, Color::white})
        for (Point before = 0; before < 25; ++before)
            for (Point last = 0; last < 25; ++last)
                CHECK(seen.insert(value_bias_key(board, mover, before, last)).second);
}
