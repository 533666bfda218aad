// Games in a pool against the same games alone; the threads that a pool works with.
#include "pool/pool.h"

#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>

#include "search/text.h"
#include "tests/check.h"
#include "tests/leaf_batch.h"

using namespace tengen;
using tengen::test::Batch, tengen::test::planes;

namespace {

SearchParams noisy() {
    SearchParams params;
    params.noise_weight = 0.25f;
    params.temperature = 1;
    params.ownership = true;
    params.memory = kMinMemory;
    return params;
}

Game start(int i) { return Game(5 + i % 3, Rules{}, 0.5f + static_cast<float>(i % 4)); }
int share(int i) { return 1 + i % 4; }  // leaves a round

constexpr int kMoves = 4, kVisits = 40;

// What a game did: every tree, value, owner and move.
using Story = std::vector<std::string>;

void end_move(Search& search, Game& game, Story& story) {
    const Point move = search.choose();
    story.push_back(tree_text(search.tree(), game.board().size(), 99, 1));
    for (const RootMove& m : search.root_moves())
        story.push_back(std::to_string(m.point) + " " + std::to_string(std::bit_cast<std::uint32_t>(m.value)) + " " +
                        std::to_string(std::bit_cast<std::uint32_t>(m.utility_lcb)));
    for (const float x : search.root_ownership()) story.push_back(std::to_string(std::bit_cast<std::uint32_t>(x)));
    story.push_back("play " + std::to_string(move));
    game.play(move);
    search.set_root(game);
}

Story alone(int i) {
    Game game = start(i);
    Search search(noisy(), i);
    search.set_root(game);
    Batch batch(share(i), game.board().size());
    Story story;
    for (int move = 0; move < kMoves; ++move) {
        while (search.root_visits() < kVisits) {
            const auto [p, s, m] = batch.arrays();
            const int n = search.gather(planes(), batch.edge, p, s, m, share(i));
            search.scatter(batch.evaluate(n), batch.edge);
        }
        end_move(search, game, story);
    }
    return story;
}

std::vector<Story> together(int games, int threads) {
    std::vector<std::uint64_t> seeds(games);
    std::iota(seeds.begin(), seeds.end(), 0);
    SearchPool pool(noisy(), seeds, threads);
    std::vector<Game> boards;
    for (int i = 0; i < games; ++i) {
        boards.push_back(start(i));
        pool.search(i).set_root(boards[i]);
    }
    Batch batch(4 * games, 9);
    std::vector<Story> stories(games);
    std::vector<int> moves(games, 0), limits(games);
    for (;;) {
        for (int i = 0; i < games; ++i) {
            while (moves[i] < kMoves && pool.search(i).root_visits() >= kVisits) {
                end_move(pool.search(i), boards[i], stories[i]);
                ++moves[i];
            }
            limits[i] = moves[i] < kMoves ? share(i) : 0;
        }
        if (std::accumulate(limits.begin(), limits.end(), 0) == 0) return stories;
        const int n = pool.gather(planes(), batch.edge, limits, batch.arrays());
        CHECK_EQ(pool.waiting(), n);
        pool.scatter(batch.evaluate(n), batch.edge);
    }
}

}  // namespace

TEST(pool_game_finds_what_it_finds_alone) {
    constexpr int kGames = 30;
    const auto one = together(kGames, 1);
    for (int i = 0; i < kGames; ++i) CHECK(one[i] == alone(i));
    CHECK(one[0] != one[12]);  // the same board and komi with another seed
    for (const int threads : {2, 5}) CHECK(together(kGames, threads) == one);
}

TEST(pool_rows_are_those_of_its_searches_without_gaps) {
    const std::vector<std::uint64_t> seeds(13, 0);
    SearchPool pool({}, seeds, 3);
    std::vector<int> limits(13);
    for (int i = 0; i < 13; ++i) {
        pool.search(i).set_root(start(i));
        limits[i] = i % 5;
    }
    const std::size_t width = planes().planes.size() * 81;
    Batch batch(4 * 13, 9);
    for (int round = 0; round < 6; ++round) {
        const int n = pool.gather(planes(), 9, limits, batch.arrays());
        int row = 0;
        for (int i = 0; i < 13; ++i) {
            CHECK_EQ(pool.search(i).waiting(), limits[i] == 0 ? 0 : round == 0 ? 1 : limits[i]);
            Batch twin(4, 9);
            Search copy({}, 0);
            copy.set_root(start(i));
            for (int before = 0; before <= round; ++before) {
                const auto [p, s, m] = twin.arrays();
                const int rows = copy.gather(planes(), 9, p, s, m, limits[i]);
                if (before < round) copy.scatter(twin.evaluate(rows), 9);
            }
            const std::size_t rows = pool.search(i).waiting(), at = row;
            CHECK(std::memcmp(batch.arrays().planes + at * width, twin.arrays().planes, rows * width * 4) == 0);
            CHECK(std::memcmp(batch.arrays().mask + at * 81, twin.arrays().mask, rows * 81 * 4) == 0);
            row += static_cast<int>(rows);
        }
        CHECK_EQ(row, n);
        pool.scatter(batch.evaluate(n), 9);
    }
}

TEST(pool_refuses_what_cannot_work) {
    CHECK_THROWS(SearchPool({}, {}, 1));
    const std::vector<std::uint64_t> seeds{1, 2};
    CHECK_THROWS(SearchPool({}, seeds, 0));
    SearchPool pool({}, seeds, 2);
    Batch batch(8, 7);
    const auto gather = [&](std::vector<int> limits) { return pool.gather(planes(), 7, limits, batch.arrays()); };
    CHECK_EQ(gather({0, 0}), 0);
    CHECK_THROWS(gather({1, 1}));  // no root
    pool.search(0).set_root(Game(7, {}, 0.5f));
    pool.search(1).set_root(Game(9, {}, 0.5f));
    CHECK_THROWS(gather({1}));
    CHECK_THROWS(gather({1, -1}));
    CHECK_THROWS(gather({1, 1}));  // 9x9 in tensors of 7x7
    CHECK_EQ(gather({4, 0}), 1);
    CHECK_THROWS(gather({4, 0}));  // still waits
    CHECK_THROWS(pool.scatter(batch.evaluate(2), 7));
    pool.forget_waiting();
    CHECK_EQ(pool.waiting(), 0);
    CHECK_EQ(gather({4, 0}), 1);
}

TEST(pool_drops_only_the_game_with_a_bad_result) {
    const std::vector<std::uint64_t> seeds{1, 2, 3};
    SearchPool pool({}, seeds, 2);
    for (int i = 0; i < 3; ++i) pool.search(i).set_root(Game(5, {}, 0.5f));
    Batch batch(3, 5);
    CHECK_EQ(pool.gather(planes(), 5, std::vector<int>{1, 1, 1}, batch.arrays()), 3);
    LeafResults results = batch.evaluate(3);
    std::vector<float> value(results.value.begin(), results.value.end());
    value[1] = std::numeric_limits<float>::quiet_NaN();
    results.value = value;
    CHECK_THROWS(pool.scatter(results, 5));
    CHECK_EQ(pool.waiting(), 1);
    pool.forget_waiting();
    CHECK_EQ(pool.search(0).root_visits(), 1u);
    CHECK_EQ(pool.search(1).root_visits(), 0u);
    CHECK_EQ(pool.search(2).root_visits(), 1u);
}

TEST(pool_workers_do_every_task_once) {
    for (const int threads : {1, 2, 7}) {
        Workers workers(threads);
        for (int round = 0; round < 300; ++round) {
            std::vector<std::atomic<int>> done(round % 20);
            workers.run(static_cast<int>(done.size()), [&](int i) { ++done[i]; });
            for (const auto& times : done) CHECK_EQ(times.load(), 1);
        }
    }
}

TEST(pool_workers_throw_the_first_failure_after_all_is_done) {
    Workers workers(3);
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> done = 0;
        std::string caught;
        try {
            workers.run(20, [&](int i) {
                ++done;
                if (i % 6 == 5) throw std::runtime_error(std::to_string(i));
            });
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
        CHECK_EQ(caught, "5");
        CHECK_EQ(done.load(), 20);
    }
    workers.run(3, [](int) {});
    CHECK_THROWS(Workers(0));
}
