// Simulations to the end of the game, against a case that was computed by hand.
#include <cmath>

#include "search/search.h"
#include "tests/check.h"

using namespace tengen;

namespace {

constexpr int kArea = 25;
constexpr Point kGood = 12, kBad = 7;  // Black's first moves, with priors 3/4 and 1/4

SearchParams simulate_to_end() {
    SearchParams params;
    params.selection = Selection::puct_alphago;
    params.simulate_to_end = true;
    params.c_puct = 1;
    params.score_weight = 0;
    params.fpu = params.root_fpu = FirstPlay::absolute;
    params.memory = kMinMemory;
    return params;
}

// After the first move everybody wants one point alone: White 0, Black 1, White 2. Values for the side to move.
float value_of(const Game& game) {
    constexpr std::array<float, 4> kOfGood = {0, 0.2f, 0.4f, -0.6f}, kOfBad = {0, -0.5f, -0.2f, 0.8f};
    const bool good = game.moves().empty() || game.moves()[0].point == kGood;
    return (good ? kOfGood : kOfBad)[game.moves().size()];
}

std::vector<float> policy_of(const Game& game) {
    std::vector<float> policy(kArea + 1);
    if (game.moves().empty())
        policy[kGood] = 0.75f, policy[kBad] = 0.25f;
    else
        policy[game.moves().size() - 1] = 1;
    return policy;
}

// One round trip of up to `limit` simulations; returns the games that waited.
std::vector<Game> step(Search& search, int limit = 1) {
    std::vector<Game> games;
    const int n = search.gather([&](int, const Game& game) { games.push_back(game); }, limit);
    std::vector<float> policy, value;
    for (const Game& game : games) {
        const auto row = policy_of(game);
        policy.insert(policy.end(), row.begin(), row.end());
        value.push_back(value_of(game));
    }
    const std::vector<float> zeros(n * kArea, 0.0f);
    search.scatter({policy, value, {zeros.data(), static_cast<std::size_t>(n)}, zeros}, 5);
    return games;
}

// Four moves; a stone each way is a point each, so that White wins by komi whatever happens.
Game four_moves() {
    Game game(5, {}, 0.5f);
    game.set_move_limit(4);
    return game;
}

bool near(float a, double b) { return std::abs(a - b) < 1e-5; }

const EdgeStats& merged_stats(const Node& node, Point move) {
    for (int i = 0; i < node.edge_count; ++i)
        if (node.moves()[i].point == move) return node.edges[i];
    throw std::logic_error("no such edge");
}

}  // namespace

TEST(full_games_count_what_is_computed_by_hand) {
    Search search(simulate_to_end(), 1);
    search.set_root(four_moves());
    for (std::size_t depth = 0; depth < 4; ++depth) {
        const auto games = step(search);
        CHECK_EQ(games.size(), 1u);
        CHECK_EQ(games[0].moves().size(), depth);
        CHECK_EQ(search.root_visits(), 0u);
    }
    CHECK(step(search).empty());  // the fourth move ends the game
    CHECK_EQ(search.root_visits(), 1u);
    const Node& root = *search.tree().root().node;
    const EdgeStats& good = merged_stats(root, kGood);
    CHECK_EQ(good.visits, 2u);  // 0.4 two moves later, and the loss
    CHECK(near(good.value, (0.4 - 1) / 2) && near(good.utility, -0.3) && near(good.square, (0.16 + 1) / 2));
    const EdgeStats& answer = merged_stats(*good.node, 0);
    CHECK_EQ(answer.visits, 2u);  // White's -0.6 two moves later, and the win
    CHECK(near(answer.value, (-0.6 + 1) / 2));
    const EdgeStats& third = merged_stats(*answer.node, 1);
    CHECK(third.visits == 1 && near(third.value, -1));
    const EdgeStats& fourth = merged_stats(*third.node, 2);
    CHECK(fourth.visits == 1 && near(fourth.value, 1) && near(fourth.score, 0.5));
    CHECK(near(search.root_value(), -(0.2 - 0.6 + 1) / 3));

    // -0.3 + 3/4 sqrt(2) / 3 is less than 0 + 1/4 sqrt(2): the other first move.
    for (std::size_t depth = 1; depth < 4; ++depth) CHECK_EQ(step(search)[0].moves()[0].point, kBad);
    CHECK(step(search).empty());
    CHECK_EQ(search.root_visits(), 2u);
    CHECK(merged_stats(root, kBad).visits == 2 && near(merged_stats(root, kBad).value, (-0.2 - 1) / 2));
    CHECK(near(search.root_value(), -((0.2 - 0.6 + 1) / 3 + (-0.5 + 0.8 + 1) / 3) / 2));

    // -0.3 + 3/4 sqrt(4) / 3 is the most, and so is White's 0.2 + sqrt(2) / 3; then -1 + 1/2 is less than a draw.
    const auto games = step(search);
    CHECK_EQ(games.size(), 1u);
    const auto& moves = games[0].moves();
    CHECK(moves.size() == 3 && moves[0].point == kGood && moves[1].point == 0 && moves[2].point == 2);
    CHECK_EQ(search.tree().root().pending, 1u);  // it is under way

    Game later = four_moves();
    later.play(kGood);
    later.play(0);
    search.set_root(later);
    CHECK_EQ(search.tree().root().pending, 0u);
    CHECK_EQ(search.root_visits(), 0u);  // new simulations are counted
    CHECK_EQ(search.root_moves().front().point, 1);
    CHECK_EQ(search.root_moves().front().visits, 1u);
}

TEST(full_games_in_batches_leave_nothing_pending) {
    for (const int limit : {1, 3, 8}) {
        Search search(simulate_to_end(), 1);
        Game game(5, {}, 0.5f);
        game.set_move_limit(12);
        search.set_root(game);
        int rounds = 0;
        const auto evaluated = [&](int goal) {
            while (static_cast<int>(search.root_visits()) < goal) {
                const int left = goal - static_cast<int>(search.root_visits());
                const int n = search.gather([](int, const Game&) {}, std::min(limit, left));
                CHECK(n <= limit && ++rounds < 10000);
                if (rounds % 7 == 0) {
                    search.forget_waiting();  // as when an evaluator fails
                    continue;
                }
                const std::vector<float> policy(n * (kArea + 1), 1.0f), zeros(n * kArea, 0.0f);
                const std::span<const float> none(zeros.data(), n);
                search.scatter({policy, none, none, zeros}, 5);
            }
        };
        evaluated(100);
        CHECK_EQ(search.root_visits(), 100u);
        search.set_root(game);
        CHECK_EQ(search.tree().root().pending, 0u);
        for (int i = 0; i < search.tree().root().node->edge_count; ++i)
            CHECK_EQ(search.tree().root().node->edges[i].pending, 0u);
    }
}

TEST(full_games_go_on_with_a_full_memory) {
    Search search(simulate_to_end(), 1);
    search.set_root(Game(19, {}, 7.5f));
    const std::vector<float> policy(362, 1.0f), zeros(361, 0.0f);
    for (int rounds = 0; search.root_visits() < 50; ++rounds) {
        CHECK(rounds < 20000);
        const std::size_t n = search.gather([](int, const Game&) {}, 1);
        const std::span<const float> none(zeros.data(), n);
        search.scatter({{policy.data(), n * 362}, none, none, {zeros.data(), n * 361}}, 19);
    }
    CHECK(search.tree().full());
}

TEST(full_games_refuse_what_they_cannot_do) {
    SearchParams params = simulate_to_end();
    params.selection = Selection::puct;
    CHECK_THROWS(Search(params, 1));
    params = simulate_to_end();
    params.transpositions = true;
    CHECK_THROWS(Search(params, 1));
}

TEST(search_passes_where_nothing_else_is_left) {
    SearchParams params = simulate_to_end();
    params.pass_policy = PassPolicy::no_legal_move;
    Search search(params, 1);
    Game game(5, {}, 0.5f);
    game.set_move_limit(40);
    search.set_root(game);
    while (search.root_visits() < 30) {
        const int n = search.gather(
            [](int, const Game& leaf) {
                const auto& moves = leaf.moves();
                if (moves.empty() || moves.back().point != kArea) return;
                Game before = leaf;
                before.undo();
                for (Point p = 0; p < kArea; ++p)
                    CHECK(!before.is_legal(p) || before.board().is_true_eye(p, before.to_play()));
            },
            1);
        const std::vector<float> policy(n * (kArea + 1), 1.0f), zeros(n * kArea, 0.0f);
        const std::span<const float> none(zeros.data(), n);
        search.scatter({policy, none, none, zeros}, 5);
    }
    for (const RootMove& move : search.root_moves()) CHECK(move.point != kArea);
}
