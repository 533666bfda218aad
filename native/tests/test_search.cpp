// The parts of the search that Python does not see: memory, priors, noise, the choice of a move.
#include "search/search.h"

#include <cmath>
#include <cstring>
#include <set>

#include "search/leaf.h"
#include "search/root.h"
#include "search/select.h"
#include "search/select_katago.h"
#include "tests/check.h"

using namespace tengen;

namespace {

// One round trip with equal priors and value 0.
int step(Search& search, int limit) {
    const int size = search.game().board().size(), area = size * size;
    const int n = search.gather([](int, const Game&) {}, limit);
    const std::vector<float> policy(n * (area + 1), 1.0f), zeros(n * area, 0.0f);
    const std::span<const float> none(zeros.data(), n);
    search.scatter({policy, none, none, zeros}, size);
    return n;
}

SearchParams small_memory() {
    SearchParams params;
    params.memory = kMinMemory;
    return params;
}

}  // namespace

TEST(search_prior_keeps_12_bits) {
    for (float p = 1.0f; p > 1e-8f; p *= 0.83f) CHECK(std::abs(Prior(p).value() / p - 1) < 0x1p-12f);
    CHECK_EQ(Prior(1.0f).value(), 1.0f);
    CHECK_EQ(Prior(0.0f).value(), 0.0f);
    CHECK(Prior(0.3f) < Prior(0.4f));
    CHECK(Prior(1e-9f) < Prior(1e-8f));
}

TEST(search_arena_never_passes_its_limit) {
    NodePool arena(kMinMemory);
    SplitMix64 random(1);
    std::vector<std::pair<void*, std::size_t>> out;
    for (int i = 0; i < 200000; ++i) {
        if (random.below(100) < 52) {
            const std::size_t bytes = 1 + random.below(i % 2 ? 1500 : 12000);
            if (void* block = arena.take(bytes)) {
                std::memset(block, i, bytes);
                out.push_back({block, bytes});
            }
        } else if (!out.empty()) {
            std::swap(out[random.below(static_cast<std::uint32_t>(out.size()))], out.back());
            arena.give(out.back().first, out.back().second);
            out.pop_back();
        }
        CHECK(arena.used() <= arena.held() && arena.held() <= kMinMemory);
    }
    CHECK(!out.empty());
    for (const auto& [block, bytes] : out) arena.give(block, bytes);
    CHECK_EQ(arena.used(), 0u);
}

TEST(search_arena_gives_back_what_it_took) {
    NodePool arena(kMinMemory);
    const auto fill = [&] {
        std::vector<void*> blocks;
        while (void* block = arena.take(1500)) blocks.push_back(block);
        return blocks;
    };
    const auto first = fill();
    CHECK(first.size() > kMinMemory / 1536 - 30);
    CHECK_EQ(std::set<void*>(first.begin(), first.end()).size(), first.size());
    for (void* block : first) arena.give(block, 1500);
    CHECK_EQ(fill().size(), first.size());
    arena.clear();
    CHECK_EQ(arena.used(), 0u);
    CHECK(fill().size() >= first.size());  // fewer and larger chunks waste less at their ends
}

TEST(search_noise_is_a_distribution) {
    alignas(Node) std::byte memory[sizeof(Node) + 82 * sizeof(MovePrior)];
    Node& node = *new (memory) Node;
    node.move_count = 82;
    SearchParams params;
    params.noise_weight = 0.25f;
    Random random(3);
    MoveSet allowed;
    allowed.set();
    allowed.reset(7);
    double change = 0;
    for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 82; ++i) node.moves()[i] = {static_cast<Point>(i), Prior(i < 2 ? 0.4f : 0.2f / 80)};
        const auto priors = root_priors(node, allowed, {}, params, random);
        double total = 0;
        for (int i = 0; i < 82; ++i) {
            if (node.moves()[i].point == 7)
                CHECK(priors[i] < 0);
            else
                total += priors[i];
            if (node.moves()[i].point == 0) change += priors[i] - 0.4 / (1 - 0.2 / 80);
            if (i) CHECK(priors[i] <= priors[i - 1]);  // nothing is tried yet, so all edges are sorted
        }
        CHECK(std::abs(total - 1) < 1e-4);
    }
    CHECK(std::abs(change / 200 - 0.25 * (1.0 / 81 - 0.401)) < 0.01);  // the noise is 1 / 81 in the mean
}

TEST(search_gamma_variates_have_their_moments) {
    for (const double alpha : {0.03, 0.5, 1.0, 4.0}) {
        Random random(5);
        const int n = 40000;
        double sum = 0, squares = 0;
        for (int i = 0; i < n; ++i) {
            const double x = std::exp(random.log_gamma_variate(alpha));
            sum += x;
            squares += x * x;
        }
        const double mean = sum / n, variance = squares / n - mean * mean;
        CHECK(std::abs(mean / alpha - 1) < 0.1);
        CHECK(std::abs(variance / alpha - 1) < 0.2);
    }
}

TEST(search_lower_bound_is_tighter_with_visits_and_agreement) {
    const SearchParams params;
    const auto edge = [](int visits, float low, float high) {
        EdgeStats made;
        for (int i = 0; i < visits; ++i) made.add(i % 2 ? low : high, 0, 0);
        return made;
    };
    CHECK_EQ(lower_bound(EdgeStats{}, params), -1.0f);
    CHECK(lower_bound(edge(1000, 0.4f, 0.6f), params) > lower_bound(edge(100, 0.4f, 0.6f), params));
    CHECK(lower_bound(edge(1000, 0.4f, 0.6f), params) > lower_bound(edge(1000, 0.0f, 1.0f), params));
    CHECK(std::abs(lower_bound(edge(10000, 0.0f, 1.0f), params) - (0.5f - 5 * 0.5f / 100)) < 1e-3);
}

// One result in 20 is a loss, for 4 million visits: in float the mean drifts by 0.02.
TEST(search_mean_of_millions_of_visits) {
    EdgeStats edge, by_sums;
    constexpr std::uint32_t kVisits = 4'000'000;
    for (std::uint32_t i = 0; i < kVisits; ++i) {
        const float u = i % 20 == 7 ? -1 : 1;
        edge.add(u, u, 10 * u);
        if (i % 20 == 0) by_sums.add_sums(20, 18, 20, 18, 180);
    }
    for (const EdgeStats& stats : {edge, by_sums}) {
        CHECK_EQ(stats.visits, kVisits);
        CHECK(std::abs(stats.utility - 0.9) < 1e-6 && std::abs(stats.square - 1) < 1e-6);
        CHECK(std::abs(stats.value - 0.9) < 1e-6 && std::abs(stats.score - 9) < 1e-5);
    }
}

// Quantiles of Student's t from a table (1e-5, one side).
TEST(search_lower_bound_by_students_t) {
    SearchParams params;
    params.lcb_probability = 1e-5f;
    const auto below = [&](std::uint32_t visits) {
        EdgeStats stats{};
        stats.visits = visits;
        stats.utility = 0.9f;
        const auto n = static_cast<float>(visits);
        const float variance = 1e-4f;  // of the sample, with n - 1
        stats.square = stats.utility * stats.utility + (variance * (n - 1) - 4e-4f) / n;
        return (stats.utility - lower_bound(stats, params)) / std::sqrt(variance / n);
    };
    CHECK_EQ(lower_bound(EdgeStats{}, params), -1.0f);
    CHECK(std::abs(below(11) / 7.527f - 1) < 0.01f);
    CHECK(std::abs(below(31) / 5.054f - 1) < 0.01f);
    CHECK(std::abs(below(101) / 4.478f - 1) < 0.01f);
    CHECK(std::abs(below(5000) / 4.285f - 1) < 0.03f);
}

TEST(search_choice_by_lower_bound_among_well_visited_moves) {
    const std::vector<RootMove> moves{{1, 100, 0, 0, 0, 0.20f, 0.5f},
                                      {2, 60, 0, 0, 0, 0.30f, 0.2f},
                                      {3, 14, 0, 0, 0, 0.90f, 0.1f},
                                      {4, 0, 0, 0, 0, -1, 0.1f}};
    SearchParams params;
    Random random(1);
    CHECK_EQ(choose_move(moves, params, 25, random), 2);
    params.lcb = false;
    CHECK_EQ(choose_move(moves, params, 25, random), 1);
    params.lcb = true;
    params.lcb_share = 0.1f;
    CHECK_EQ(choose_move(moves, params, 25, random), 3);
    CHECK_EQ(choose_move(std::vector<RootMove>{{4, 0, 0, 0, 0, -1, 0.1f}}, params, 25, random), kNoPoint);
}

TEST(search_bound_raises_among_moves_of_enough_weight) {
    const std::vector<Bound> bounds{{0.1f, 0.1f}, {0.3f, 0.2f}, {0.2f, 0.3f}};
    std::vector<float> weights{10, 2, 1};
    favor_lower_bound(weights, bounds, 1.5f);
    CHECK(std::abs(weights[1] - 10 * (0.3f / 0.14f) * (0.3f / 0.14f)) < 1e-3);
    CHECK_EQ(weights[0], 10.0f);
    weights = {10, 1, 2};
    favor_lower_bound(weights, bounds, 1.5f);  // the move of the best bound has too little and changes nothing
    CHECK_EQ(weights[1], 1.0f);
    CHECK(weights[2] > 10);
}

TEST(search_bonus_of_the_end_by_rules) {
    const std::vector<float> ownership(25, 1.0f);
    const auto of_pass = [&](const char* rules) {
        return ending_bonus(Game(5, Rules::parse(rules), 0), ownership, 0.5f)[25];
    };
    CHECK_EQ(of_pass("tromp-taylor"), 0.0f);
    CHECK_EQ(of_pass("button=true"), -0.25f);
    CHECK(std::abs(of_pass("japanese") + 1 / 3.0f) < 1e-6);
}

TEST(search_target_of_a_root_without_edges_is_empty) {
    alignas(Node) std::byte memory[sizeof(Node) + sizeof(MovePrior)];
    Node& node = *new (memory) Node;
    node.move_count = 1;
    node.moves()[0] = {3, Prior(1)};
    const EdgeStats self{.node = &node, .visits = 5};
    SearchParams params;
    params.forced_playouts = 2;
    CHECK(puct_target({.node = node, .self = self, .root_priors = nullptr, .may_expand = false}, params) ==
          std::vector<float>{0.0f});
}

TEST(search_diversity_exchanges_the_best_move_for_a_close_second_one) {
    SearchParams params;
    params.lcb = false;
    params.diversity = 0.5f;
    const auto share = [&](std::vector<RootMove> moves, Point point) {
        Random random(7);
        int hits = 0;
        for (int i = 0; i < 2000; ++i) hits += choose_move(moves, params, 25, random) == point;
        return hits / 2000.0;
    };
    CHECK(std::abs(share({{1, 100}, {2, 51}, {3, 10}}, 2) - 0.5) < 0.05);  // over four standard deviations
    CHECK_EQ(share({{1, 100}, {2, 50}}, 1), 1.0);
    CHECK_EQ(share({{1, 100}, {25, 90}}, 1), 1.0);  // a pass is no variation, and has none
    CHECK_EQ(share({{25, 100}, {1, 90}}, 25), 1.0);
    params.lcb = true;
    CHECK_EQ(share({{1, 100, 0, 0, 0, 0.2f}, {2, 90, 0, 0, 0, 0.3f}}, 2), 1.0);  // the bound chose it
}

TEST(search_temperature_draws_by_visits) {
    const std::vector<RootMove> moves{
        {1, 60, 0, 0, 0, 0, 0}, {2, 30, 0, 0, 0, 0, 0}, {3, 10, 0, 0, 0, 0, 0}, {4, 0, 0, 0, 0, 0, 0}};
    SearchParams params;
    Random random(9);
    const auto share = [&](float temperature, Point point) {
        params.temperature = temperature;
        int hits = 0;
        for (int i = 0; i < 20000; ++i) hits += choose_move(moves, params, 25, random) == point;
        return hits / 20000.0;
    };
    CHECK(std::abs(share(1, 1) - 0.6) < 0.02);
    CHECK(std::abs(share(0.5f, 1) - 0.36 / 0.46) < 0.02);
    CHECK_EQ(share(0.01f, 1), 1.0);
    CHECK(std::abs(share(50, 3) - 1.0 / 3) < 0.03);
    CHECK_EQ(share(1, 4), 0.0);
}

TEST(search_gather_and_scatter_alternate) {
    Search search(small_memory(), 0);
    const auto nothing = [](int, const Game&) {};
    CHECK_THROWS(search.gather(nothing, 1));
    search.set_root(Game(5, {}, 0.5f));
    CHECK_EQ(search.gather(nothing, 8), 1);  // the root alone
    CHECK_THROWS(search.gather(nothing, 8));
    CHECK_THROWS(search.scatter({}, 5));
    search.forget_waiting();
    CHECK_EQ(search.tree().nodes(), 0u);
    CHECK_EQ(search.tree().bytes(), 0u);
    CHECK_EQ(step(search, 8), 1);
    CHECK_EQ(step(search, 8), 8);
    CHECK_EQ(search.root_visits(), 9u);
    CHECK_EQ(search.tree().root().pending, 0u);
}

TEST(search_leaves_of_a_batch_are_distinct) {
    Search search(small_memory(), 0);
    search.set_root(Game(7, {}, 0.5f));
    step(search, 1);
    for (int round = 0; round < 30; ++round) {
        std::set<std::vector<Point>> seen;
        const int n = search.gather(
            [&](int, const Game& game) {
                std::vector<Point> moves;
                for (const Move& move : game.moves()) moves.push_back(move.point);
                CHECK(seen.insert(moves).second);
            },
            16);
        CHECK_EQ(static_cast<int>(seen.size()), n);
        search.forget_waiting();
        step(search, 16);
    }
}

TEST(search_reuses_memory_over_a_game) {
    Search search(small_memory(), 0);
    Game game(9, {}, 7.0f);
    for (int move = 0; move < 20; ++move) {
        search.set_root(game);
        const auto goal = search.root_visits() + 600;
        while (search.root_visits() < goal) step(search, 8);
        CHECK(search.tree().held() <= kMinMemory);
        game.play(search.choose());
    }
}

TEST(search_prunes_only_eyes_in_pass_alive_area) {
    Game game(5, {}, 0.5f);
    for (const Point p : {1, 3, 5, 6, 7, 8, 9}) game.setup(p, Color::black);  // two eyes in the corners and one between
    std::vector<Point> moves;
    candidate_moves(game, true, moves);
    CHECK_EQ(moves.front(), 10);
    CHECK_EQ(moves.back(), 25);
    candidate_moves(game, false, moves);
    CHECK_EQ(moves.front(), 0);
    game.set_to_play(Color::white);
    candidate_moves(game, true, moves);
    CHECK_EQ(moves.front(), 10);  // suicide of one stone is never legal
}
