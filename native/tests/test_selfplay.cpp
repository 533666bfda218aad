// Games of self-play: each is the same whatever else is played, and what is recorded is what the search found.
#include "board/pass_alive.h"
#include "pool/selfplay.h"

#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "board/score.h"
#include "board/symmetry.h"
#include "search/leaf.h"
#include "search/root.h"
#include "tests/check.h"
#include "tests/leaf_batch.h"

using namespace tengen;
using tengen::test::Batch, tengen::test::planes;

namespace {

constexpr int kEdge = 7;

PlayParams puct() {
    PlayParams params;
    params.visits = 24;
    params.cheap_visits = 6;
    params.cheap_share = 0.5f;
    params.full.memory = params.cheap.memory = kMinMemory;
    params.full.noise_weight = 0.25f;
    params.full.forced_playouts = 2;
    params.resign_winrate = 0.05f;
    params.resign_turns = 2;
    return params;
}

PlayParams gumbel() {
    PlayParams params = puct();
    params.full.selection = params.cheap.selection = Selection::gumbel;
    params.full.noise_weight = params.full.forced_playouts = 0;
    params.full.leaf_symmetry = params.cheap.leaf_symmetry = LeafSymmetry::random;
    params.visits = 12;
    params.cheap_share = 0;
    return params;
}

PlayParams alphago(bool simulate_to_end) {
    PlayParams params = puct();
    for (SearchParams* search : {&params.full, &params.cheap}) {
        search->selection = Selection::puct_alphago;
        search->simulate_to_end = simulate_to_end;
        search->noise_weight = search->forced_playouts = 0;
        search->memory = std::size_t{1} << 20;
    }
    return params;
}

GamePlan plan(int i) {
    GamePlan plan;
    plan.index = i;
    plan.seed = 1000 + i;
    plan.size = 5 + i % 3;
    plan.komi = 0.5f + static_cast<float>(i % 4);
    plan.opening_moves = i % 3;
    plan.may_resign = i % 2;
    if (i % 5 == 4) plan.start = {6, 7 | kWhiteBit, 8};
    return plan;
}

// All of a game, to the last bit.
std::string story(const PlayedGame& game) {
    std::ostringstream text;
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    text << game.index << ' ' << game.ending << ' ' << game.winner << ' ' << bits(game.score) << ' '
         << game.evaluations;
    for (std::size_t ply = 0; ply < game.moves.size(); ++ply) {
        text << '\n' << game.moves[ply] << ' ' << bits(game.root_values[ply]) << ' ' << bits(game.surprises[ply]);
        for (const auto weight : game.targets[ply]) text << ' ' << weight;
    }
    text << '\n';
    for (const auto owner : game.ownership) text << int{owner};
    return text.str();
}

// Plays all that was added to the end.
std::map<std::int64_t, PlayedGame> finish(SelfPlay& pool, int edge = kEdge) {
    std::map<std::int64_t, PlayedGame> games;
    Batch batch(pool.slots(), edge);
    while (const int n = pool.gather(planes(), edge, batch.arrays())) {
        CHECK_EQ(pool.waiting(), n);
        CHECK_EQ(pool.playing(), n);
        pool.scatter(batch.evaluate(n), edge);
        for (PlayedGame& game : pool.take()) games[game.index] = std::move(game);
    }
    for (PlayedGame& game : pool.take()) games[game.index] = std::move(game);
    CHECK_EQ(pool.queued(), 0);
    return games;
}

std::map<std::int64_t, PlayedGame> play(const PlayParams& params, int games, int slots, int threads, int edge = kEdge) {
    SelfPlay pool(params, slots, threads);
    for (int i = 0; i < games; ++i) pool.add(plan(i));
    return finish(pool, edge);
}

PlayedGame play_one(const PlayParams& params, const GamePlan& plan) {
    SelfPlay pool(params, 1);
    pool.add(plan);
    return finish(pool).at(plan.index);
}

Game replay(const GamePlan& plan, const PlayedGame& game, std::size_t moves) {
    Game board(plan.size, plan.rules, plan.komi);
    board.set_move_limit(2 * plan.size * plan.size);
    for (std::size_t i = 0; i < moves; ++i)
        board.play(static_cast<Point>(game.moves[i] & (kWhiteBit - 1)),
                   game.moves[i] & kWhiteBit ? Color::white : Color::black);
    return board;
}

}  // namespace

TEST(selfplay_game_does_not_depend_on_slots_threads_or_edge) {
    constexpr int kGames = 24;
    for (const PlayParams& params : {puct(), gumbel()}) {
        std::map<std::int64_t, std::string> alone;
        for (int i = 0; i < kGames; ++i) alone[i] = story(play_one(params, plan(i)));
        for (const auto& [slots, threads, edge] :
             {std::array{1, 1, 7}, std::array{5, 1, 7}, std::array{7, 3, 9}, std::array{40, 2, 7}}) {
            const auto games = play(params, kGames, slots, threads, edge);
            CHECK_EQ(games.size(), std::size_t{kGames});
            for (const auto& [i, game] : games) CHECK_EQ(story(game), alone[i]);
        }
        CHECK(alone[0] != alone[12]);
    }
}

TEST(selfplay_record_is_a_legal_game_with_its_result) {
    for (const auto& [i, game] : play(puct(), 30, 8, 2)) {
        const GamePlan given = plan(static_cast<int>(i));
        const std::size_t moves = game.moves.size();
        CHECK(game.targets.size() == moves && game.root_values.size() == moves && game.surprises.size() == moves);
        CHECK_EQ(game.given, static_cast<int>(given.start.size()));
        CHECK(std::equal(given.start.begin(), given.start.end(), game.moves.begin()));
        Game board(given.size, given.rules, given.komi);
        for (std::size_t ply = 0; ply < moves; ++ply) {
            const Point point = static_cast<Point>(game.moves[ply] & (kWhiteBit - 1));
            const bool searched = ply >= given.start.size() + given.opening_moves;
            CHECK(!board.is_over());
            CHECK(board.is_legal(point));
            CHECK_EQ(game.moves[ply] & kWhiteBit ? 1 : 0, index(board.to_play()));
            CHECK_EQ(std::isnan(game.root_values[ply]), !searched);
            CHECK_EQ(std::isnan(game.surprises[ply]), game.targets[ply].empty());
            if (!searched) CHECK(game.targets[ply].empty());
            for (const std::uint32_t weight : game.targets[ply])
                CHECK(board.is_legal(static_cast<Point>(weight & 0xffff)) && weight >> 16 > 0);
            board.play(point);
        }
        if (game.ending == "resignation") {
            CHECK(given.may_resign && std::isnan(game.score) && game.ownership.empty());
            CHECK_EQ(game.winner, index(opponent(board.to_play())));
            continue;
        }
        CHECK(board.passes() == 2 ? game.ending == "passes" : game.ending == "settled" || game.ending == "move limit");
        if (game.ending == "settled") CHECK_EQ(settled_area(board).count(), board.board().points());
        CHECK_EQ(game.score, score(board, pass_dead(board.board(), board.rules().suicide)));
        CHECK_EQ(game.winner, game.score > 0 ? 0 : 1);
        const float owned = static_cast<float>(std::count(game.ownership.begin(), game.ownership.end(), 0)) -
                            static_cast<float>(std::count(game.ownership.begin(), game.ownership.end(), 1));
        CHECK_EQ(game.score, owned - given.komi);
    }
}

TEST(selfplay_share_of_cheap_searches) {
    int full = 0, all = 0;
    PlayParams params = puct();
    params.cheap_share = 0.7f;
    params.resign_winrate = 0;
    for (const auto& [i, game] : play(params, 40, 10, 1))
        for (std::size_t ply = 0; ply < game.moves.size(); ++ply) {
            all += !std::isnan(game.root_values[ply]);
            full += !game.targets[ply].empty();
        }
    CHECK(all > 600);
    const double share = double(full) / all, deviation = std::sqrt(0.21 / all);
    CHECK(std::abs(share - 0.3) < 4 * deviation);
}

// Who was how sure is read off the record.
TEST(selfplay_searches_decided_games_cheaply) {
    PlayParams params = puct();
    params.cheap_share = params.resign_winrate = 0;
    params.decided_winrate = 0.52f;
    params.decided_turns = 3;
    params.decided_cheap_share = 1;
    int decided = 0, open = 0;
    for (const auto& [i, game] : play(params, 40, 10, 1)) {
        int black = 0, white = 0;  // turns in a row at which Black, White was that sure to win
        for (std::size_t ply = 0; ply < game.moves.size(); ++ply) {
            const float value = game.root_values[ply];
            if (std::isnan(value)) continue;
            const bool thin = black >= 3 || white >= 3;
            CHECK_EQ(game.targets[ply].empty(), thin);
            (thin ? decided : open) += 1;
            const float winrate = ((game.moves[ply] & kWhiteBit ? -value : value) + 1) / 2;
            black = winrate >= 0.52f ? black + 1 : 0;
            white = 1 - winrate >= 0.52f ? white + 1 : 0;
        }
    }
    CHECK(decided > 50);
    CHECK(open > 200);
}

// The first searched move of a game against a plain search that is driven by hand.
TEST(selfplay_records_what_a_search_finds) {
    PlayParams merged = puct(), tempered = puct();
    merged.full.noise_weight = merged.full.forced_playouts = 0;
    merged.full.merge_symmetric = merged.cheap.merge_symmetric = true;
    tempered.full.noise_weight = 0;
    tempered.full.policy_temperature = tempered.cheap.policy_temperature = 2;
    for (PlayParams params : {puct(), gumbel(), merged, tempered}) {
        params.cheap_share = 0;
        const GamePlan given = plan(0);
        const PlayedGame game = play_one(params, given);
        Game start(given.size, given.rules, given.komi);
        start.set_move_limit(2 * given.size * given.size);
        Search search(params.full, given.seed);
        search.set_root(start);
        search.plan(params.visits);
        Batch batch(1, kEdge);
        while (search.root_visits() < static_cast<std::uint32_t>(params.visits)) {
            const auto [p, s, m] = batch.arrays();
            search.scatter(batch.evaluate(search.gather(planes(), kEdge, p, s, m, 1)), kEdge);
        }
        CHECK_EQ(game.root_values[0], search.root_value());
        const auto target = search.policy_target();
        std::map<int, double> weights;
        double total = 0, kl = 0;
        for (const auto weight : game.targets[0]) total += weights[weight & 0xffff] = weight >> 16;
        const bool visits = params.full.selection == Selection::puct && !params.full.merge_symmetric;
        for (std::size_t p = 0; p < target.size(); ++p)
            CHECK(std::abs(weights[static_cast<int>(p)] / total - target[p]) < (visits ? 1e-6 : 1e-3));
        // The surprise is that of the network's own policy, even if the search flattened it.
        params.full.merge_symmetric = false;
        params.full.policy_temperature = 1;
        Search plain(params.full, given.seed);
        plain.set_root(start);
        const auto [p, s, m] = batch.arrays();
        plain.scatter(batch.evaluate(plain.gather(planes(), kEdge, p, s, m, 1)), kEdge);
        for (const auto& move : plain.root_moves())
            if (target[move.point] > 0) kl += target[move.point] * std::log(target[move.point] / move.prior);
        CHECK(std::abs(game.surprises[0] - kl) < 1e-3);
        if (visits) CHECK(total <= params.visits - 1);
        if (!visits) CHECK(std::abs(total - 10000) < 50);
    }
}

TEST(selfplay_opening_is_drawn_among_all_symmetric_moves) {
    PlayParams params = puct();
    params.full.merge_symmetric = params.cheap.merge_symmetric = true;
    std::map<int, int> first;
    SelfPlay pool(params, 50);
    for (int i = 0; i < 400; ++i) {
        GamePlan given = plan(0);
        given.index = i;
        given.seed = i;
        given.opening_moves = 1;
        pool.add(given);
    }
    for (const auto& [i, game] : finish(pool)) ++first[game.moves[0]];
    CHECK(first.size() > 20);  // of 25 points, in six classes
}

// Powers of priors below 0.01 to the 60th are 0, and so are all priors of a network that gives no move a chance.
TEST(selfplay_draws_a_move_where_all_priors_are_nothing) {
    const auto check = [](const PlayParams& params, bool no_policy) {
        SelfPlay pool(params, 4);
        for (int i = 0; i < 8; ++i) {
            GamePlan given = plan(i);
            given.start.clear();
            given.opening_moves = i % 4;
            pool.add(given);
        }
        Batch batch(pool.slots(), kEdge);
        std::vector<PlayedGame> games;
        while (const int n = pool.gather(planes(), kEdge, batch.arrays())) {
            LeafResults found = batch.evaluate(n);
            const std::vector<float> nothing(found.policy.size(), 0.0f);
            if (no_policy) found.policy = nothing;
            pool.scatter(found, kEdge);
            for (PlayedGame& game : pool.take()) games.push_back(std::move(game));
        }
        for (PlayedGame& game : pool.take()) games.push_back(std::move(game));
        CHECK_EQ(games.size(), std::size_t{8});
        for (const PlayedGame& game : games)
            for (std::size_t ply = 0; ply < game.moves.size(); ++ply)
                CHECK_EQ(std::isfinite(game.surprises[ply]), !game.targets[ply].empty());
    };
    PlayParams params = puct();
    params.full.policy_temperature = params.cheap.policy_temperature = 60;
    check(params, false);
    params = puct();
    params.full.raw_priors = params.cheap.raw_priors = true;
    check(params, true);
}

TEST(selfplay_full_games_are_counted_as_they_stand) {
    PlayParams params = alphago(true);
    params.full.pass_policy = params.cheap.pass_policy = PassPolicy::no_legal_move;
    params.visits = 4;
    params.cheap_visits = 2;
    params.settle = false;
    params.pass_policy = PassPolicy::no_legal_move;
    int with_dead = 0;
    for (const auto& [i, game] : play(params, 40, 8, 2)) {
        if (std::isnan(game.score)) continue;
        const Game board = replay(plan(static_cast<int>(i)), game, game.moves.size());
        CHECK_EQ(game.score, score(board, PointSet()));
        with_dead += pass_dead(board.board(), board.rules().suicide).count() > 0;
    }
    CHECK(with_dead > 0);
}

// A dead stone of White's in a corner, all else Black's: the game ends by what is pass-alive, however searches count.
TEST(selfplay_settled_games_are_counted_by_what_is_alive) {
    for (const bool simulate_to_end : {false, true}) {
        GamePlan given = plan(0);
        given.size = 5;
        given.komi = 23.5f;
        given.opening_moves = 0;
        given.start.clear();
        for (Point p = 1; p < 23; ++p) {
            if (p > 1) given.start.push_back(static_cast<Point>((p == 2 ? 24 : 25) | kWhiteBit));
            given.start.push_back(p);
        }
        const PlayedGame game = play_one(alphago(simulate_to_end), given);
        CHECK_EQ(game.ending, std::string_view("settled"));
        CHECK_EQ(game.score, 1.5f);
        CHECK_EQ(game.winner, 0);
    }
}

TEST(selfplay_temperature_zero_plays_what_the_search_chose) {
    for (PlayParams params : {puct(), gumbel()}) {
        params.temperature = params.temperature_late = 0;
        params.cheap_share = 0;
        params.full.lcb = params.cheap.lcb = false;
        params.full.forced_playouts = 0;
        for (const auto& [i, game] : play(params, 6, 3, 1)) {
            if (params.full.selection == Selection::gumbel) continue;  // its survivor need not lead the target
            for (std::size_t ply = 0; ply < game.moves.size(); ++ply) {
                std::uint32_t most = 0, played = 0;
                for (const auto weight : game.targets[ply]) {
                    most = std::max(most, weight >> 16);
                    if ((weight & 0xffff) == (game.moves[ply] & (kWhiteBit - 1u))) played = weight >> 16;
                }
                CHECK_EQ(played, most);
            }
        }
    }
}

TEST(selfplay_evaluations_with_and_without_a_kept_tree) {
    PlayParams params = gumbel();
    params.resign_winrate = 0;
    params.full.prune_eyes = params.cheap.prune_eyes = false;
    GamePlan given = plan(2);
    given.opening_moves = 0;
    const PlayedGame kept = play_one(params, given);
    params.reuse = false;
    const PlayedGame anew = play_one(params, given);
    // Never more than a search's visits a move, fewer where simulations ended in finished games.
    const auto most = [&](const PlayedGame& game) { return params.visits * static_cast<long>(game.moves.size()); };
    CHECK(anew.evaluations <= most(anew) && anew.evaluations > most(anew) / 2);
    CHECK(kept.evaluations < most(kept));
}

TEST(selfplay_forbidden_passes) {
    PlayParams params = puct();
    params.pass_policy = PassPolicy::no_legal_move;
    params.settle = false;
    params.resign_winrate = 0;
    for (const auto& [i, game] : play(params, 9, 4, 1)) {
        const GamePlan given = plan(static_cast<int>(i));
        for (std::size_t ply = given.start.size(); ply < game.moves.size(); ++ply) {
            const Game board = replay(given, game, ply);
            if ((game.moves[ply] & (kWhiteBit - 1)) != board.board().pass()) continue;
            std::vector<Point> legal;
            candidate_moves(board, false, legal);
            CHECK_EQ(legal.size(), std::size_t{1});
        }
    }
}

// A network without a pass logit gives the pass the prior 0, so that it is no candidate.
TEST(selfplay_passes_by_rule_beside_candidates) {
    PlayParams params = puct();
    params.resign_winrate = 0;
    params.settle = false;
    params.full.candidate_mass = params.cheap.candidate_mass = 0.9f;
    SelfPlay pool(params, 8);
    for (int i = 0; i < 24; ++i) pool.add(plan(i));
    Batch batch(pool.slots(), kEdge);
    int games = 0, passed = 0;
    const auto count = [&] {
        for (const PlayedGame& game : pool.take()) {
            ++games;
            passed += replay(plan(static_cast<int>(game.index)), game, game.moves.size()).passes() == 2;
        }
    };
    while (const int n = pool.gather(planes(), kEdge, batch.arrays())) {
        LeafResults results = batch.evaluate(n);
        std::vector<float> policy;
        for (int row = 0; row < n; ++row)
            for (int p = 0; p < batch.area; ++p) policy.push_back(results.policy[row * (batch.area + 1) + p]);
        results.policy = policy;
        pool.scatter(results, kEdge);
        count();
    }
    count();
    CHECK_EQ(games, 24);
    CHECK(passed > 0);
}

TEST(selfplay_ends) {
    PlayParams params = puct();
    params.max_moves = 9;
    GamePlan given = plan(0);
    PlayedGame game = play_one(params, given);
    CHECK(game.moves.size() <= 9);
    if (game.moves.size() == 9) CHECK(game.ending == "move limit" || game.ending == "passes");

    // Nobody's winrate is below 0, everybody's below 1.
    params = puct();
    params.resign_winrate = 1;
    params.resign_turns = 3;
    given.may_resign = true;
    given.opening_moves = 1;
    game = play_one(params, given);
    CHECK_EQ(game.ending, "resignation");
    CHECK_EQ(game.winner, 0);             // White has the first searched turn
    CHECK_EQ(game.moves.size(), 1u + 4);  // two turns each, and White's third is not played
    given.may_resign = false;
    CHECK(play_one(params, given).ending != "resignation");
}

// Two eyes each on a wall down the middle: nothing is left to play but what the rules allow.
TEST(selfplay_settled_start_is_counted_at_once) {
    GamePlan given;
    given.index = 7;
    given.size = 5;
    given.komi = 0.5f;
    // Columns: black 1 and part of 0, white 3 and part of 4, column 2 shared.
    for (const auto& [black, white] :
         {std::pair{1, 3}, {6, 8}, {11, 13}, {16, 18}, {21, 23}, {10, 14}, {2, 7}, {12, 17}, {22, 25}}) {
        given.start.push_back(static_cast<std::uint16_t>(black));
        given.start.push_back(static_cast<std::uint16_t>(white | kWhiteBit));
    }
    const Game end = start_of(given);
    CHECK_EQ(settled_area(end).count(), 25);
    const PlayedGame game = play_one(puct(), given);
    CHECK_EQ(game.ending, "settled");
    CHECK_EQ(game.evaluations, 0);
    CHECK_EQ(game.moves.size(), given.start.size());
    CHECK_EQ(game.score, 13 - 12 - 0.5f);
    CHECK_EQ(game.winner, 0);
}

TEST(selfplay_evaluation_that_failed_can_be_made_again) {
    const PlayedGame expected = play_one(puct(), plan(1));
    SelfPlay pool(puct(), 1);
    pool.add(plan(1));
    Batch batch(1, kEdge);
    std::vector<PlayedGame> games;
    for (int round = 0; pool.gather(planes(), kEdge, batch.arrays()); ++round) {
        if (round % 3 == 0) {
            pool.forget_waiting();
            continue;
        }
        pool.scatter(batch.evaluate(1), kEdge);
        for (auto& game : pool.take()) games.push_back(std::move(game));
    }
    CHECK_EQ(games.size(), 1u);
    CHECK_EQ(story(games.at(0)), story(expected));
}

// Priors, value and owners of a turned position, against the position that is encoded turned by hand.
TEST(selfplay_leaf_symmetry_turns_there_and_back) {
    Game game(5, {}, 0.5f);
    for (const Point p : {6, 8, 12}) game.play(p);
    std::array<int, kSymmetries> times{};
    for (int seed = 0; seed < 80; ++seed) {
        SearchParams params;
        params.memory = kMinMemory;
        params.leaf_symmetry = LeafSymmetry::random;
        params.ownership = true;
        Search search(params, seed);
        search.set_root(game);
        Batch batch(1, kEdge), twin(1, kEdge);
        const auto [p, s, m] = batch.arrays();
        search.scatter(batch.evaluate(search.gather(planes(), kEdge, p, s, m, 1)), kEdge);
        int fits = -1;
        for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
            const auto [tp, ts, tm] = twin.arrays();
            encode(planes(), game, symmetry, kEdge, tp, ts, tm);
            const LeafResults results = twin.evaluate(1);
            const auto at = [&](Point point) {
                const Point turned = transform(point, 5, symmetry);
                return turned / 5 * kEdge + turned % 5;
            };
            bool same = search.root_value() == results.value[0];
            float total = results.policy[kEdge * kEdge];
            for (const RootMove& move : search.root_moves())
                if (move.point != 25) total += results.policy[at(move.point)];
            for (const RootMove& move : search.root_moves())
                if (move.point != 25)
                    same = same && std::abs(move.prior - results.policy[at(move.point)] / total) < 1e-3;
            for (Point point = 0; point < 25; ++point)
                same = same && search.root_ownership()[point] == results.ownership[at(point)];
            if (same) fits = symmetry;
        }
        CHECK(fits >= 0);
        if (fits >= 0) ++times[fits];
    }
    for (const int n : times) CHECK(n > 0);
}

TEST(selfplay_targets_keep_the_shares_of_large_weights) {
    const auto target = [](std::vector<float> weights, bool whole) { return packed_target(weights, whole); };
    CHECK(target({3, 0, 65535}, true) == (std::vector<std::uint32_t>{3u << 16, 2u | 65535u << 16}));
    CHECK(target({20000, 0, 380000}, true) == (std::vector<std::uint32_t>{3449u << 16, 2u | 65535u << 16}));
    CHECK(target({0.05f, 0.95f}, false) == (std::vector<std::uint32_t>{500u << 16, 1u | 9500u << 16}));
}

TEST(selfplay_refuses_what_cannot_work) {
    const auto with = [](auto change) {
        PlayParams params = puct();
        change(params);
        SelfPlay(params, 2);
    };
    CHECK_THROWS(SelfPlay(puct(), 0));
    CHECK_THROWS(SelfPlay(puct(), 1, 0));
    CHECK_THROWS(with([](PlayParams& p) { p.visits = 0; }));
    CHECK_THROWS(with([](PlayParams& p) { p.cheap_share = 1.5f; }));
    CHECK_THROWS(with([](PlayParams& p) { p.decided_winrate = -0.1f; }));
    CHECK_THROWS(with([](PlayParams& p) { p.decided_turns = -1; }));
    CHECK_THROWS(with([](PlayParams& p) { p.temperature = std::numeric_limits<float>::quiet_NaN(); }));
    CHECK_THROWS(with([](PlayParams& p) { p.temperature_halflife = 0; }));
    CHECK_THROWS(with([](PlayParams& p) { p.full.stop_futile = p.cheap.stop_futile = true; }));
    with([](PlayParams& p) {
        p = gumbel();
        p.full.stop_futile = p.cheap.stop_futile = true;  // no effect there
    });
    CHECK_THROWS(with([](PlayParams& p) { p.cheap.memory *= 2; }));
    CHECK_THROWS(with([](PlayParams& p) { p.cheap.transpositions = true; }));
    CHECK_THROWS(with([](PlayParams& p) { p.cheap.prune_pass_alive = true; }));
    SelfPlay pool(puct(), 2);
    const auto add = [&](auto change) {
        GamePlan given = plan(0);
        change(given);
        pool.add(given);
    };
    CHECK_THROWS(add([](GamePlan& p) { p.size = 1; }));
    CHECK_THROWS(add([](GamePlan& p) { p.komi = std::numeric_limits<float>::infinity(); }));
    CHECK_THROWS(add([](GamePlan& p) { p.opening_moves = -1; }));
    CHECK_THROWS(add([](GamePlan& p) { p.start = {99}; }));
    CHECK_THROWS(add([](GamePlan& p) { p.start = {1, 1 | kWhiteBit}; }));
    CHECK_THROWS(add([](GamePlan& p) { p.start = {25, 25 | kWhiteBit}; }));
    CHECK_EQ(pool.queued(), 0);
    add([](GamePlan& p) { p.size = 9; });
    Batch batch(2, kEdge);
    CHECK_THROWS(pool.gather(planes(), kEdge, batch.arrays()));
    Batch large(2, 9);
    CHECK_EQ(pool.gather(planes(), 9, large.arrays()), 1);
    CHECK_THROWS(pool.gather(planes(), 9, large.arrays()));
    CHECK_THROWS(pool.scatter(large.evaluate(2), 9));
}
