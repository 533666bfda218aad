// Searches by playouts: threads, the all-moves-as-first rule, candidate lists, leaves of several kinds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "search/priors.h"
#include "search/search.h"
#include "tests/check.h"
#include "tests/searches.h"

using namespace tengen;
using tengen::test::kForever;

namespace {

SearchParams by_playouts(Selection selection) {
    SearchParams params = test::by_playouts(selection);
    params.expand_visits = 2;
    return params;
}

Game empty(int size) { return Game(size, Rules::parse("chinese"), 7.5f); }

// Visits of a edge are those of its node: the first ones, before it had a node, and one a visit of a child.
void check_visits(const EdgeStats& edge, std::uint32_t without_node) {
    if (!edge.node) return;
    std::uint32_t below = 0;
    for (int i = 0; i < edge.node->edge_count; ++i) {
        CHECK_EQ(edge.node->edges[i].pending, 0u);
        below += edge.node->edges[i].visits;
        check_visits(edge.node->edges[i], without_node);
    }
    if (!edge.node->terminal) CHECK(edge.visits <= below + without_node + 1 && edge.visits > below);
}

}  // namespace

TEST(playout_search_counts_every_simulation_in_any_number_of_threads) {
    for (const Selection selection : {Selection::uct, Selection::rave, Selection::puct}) {
        for (const int threads : {1, 2, 4}) {
            Search search(by_playouts(selection), 7);
            search.set_root(empty(7));
            CHECK_EQ(search.run(3000, threads, kForever), 3000);
            CHECK_EQ(search.root_visits(), 3000u);
            CHECK_EQ(search.tree().root().pending, 0u);
            // With threads several may be on their way to a move that has no node yet.
            check_visits(search.tree().root(), 2 + static_cast<std::uint32_t>(threads));
            CHECK(std::abs(search.root_value()) <= 1);
            for (const float owner : search.root_ownership()) CHECK(std::abs(owner) <= 1);
        }
    }
}

TEST(playout_search_repeats_with_one_thread) {
    Search one(by_playouts(Selection::rave), 3), same(by_playouts(Selection::rave), 3),
        other(by_playouts(Selection::rave), 4);
    for (Search* search : {&one, &same, &other}) search->set_root(empty(5));
    one.run(500, 1, kForever);
    for (int i = 0; i < 5; ++i) same.run(100, 1, kForever);
    other.run(500, 1, kForever);
    const auto visits = [](const Search& search) {
        std::vector<std::uint32_t> counts;
        for (const auto& move : search.root_moves()) counts.push_back(move.visits);
        return counts;
    };
    CHECK(visits(one) == visits(same));
    CHECK(visits(one) != visits(other));
}

TEST(playout_search_stops_in_time_and_goes_on_when_full) {
    SearchParams params = by_playouts(Selection::rave);
    params.memory = kMinMemory;
    params.expand_visits = 0;
    Search search(params, 1);
    search.set_root(empty(9));
    CHECK_EQ(search.run(std::numeric_limits<long>::max(), 2, 0), 1);  // the root alone
    search.run(6000, 2, kForever);
    CHECK(search.tree().full());
    CHECK(search.tree().held() <= kMinMemory);
    CHECK_EQ(search.root_visits(), 6001u);
}

TEST(playout_search_refuses_what_cannot_work) {
    SearchParams params = by_playouts(Selection::uct);
    params.playouts = 0;
    CHECK_THROWS(Search(params, 1));
    params = {};
    params.playouts = -1;
    CHECK_THROWS(Search(params, 1));
    params = by_playouts(Selection::uct);
    params.playout = "nobody";
    CHECK_THROWS(Search(params, 1));
    Search network({}, 1);
    CHECK_THROWS(network.run(1, 1, kForever));
    network.set_root(empty(5));
    CHECK_THROWS(network.run(1, 1, kForever));
    Search search(by_playouts(Selection::uct), 1);
    CHECK_THROWS(search.run(1, 1, kForever));
    search.set_root(empty(5));
    CHECK_THROWS(search.run(1, 0, kForever));
}

namespace {

// A node with three moves: edges of the given visits and means for the first two, and all-moves-as-first means.
struct Example {
    Tree tree{kMinMemory, {.amaf = true}};
    EdgeStats self;

    Example() {
        const std::array<Point, 3> moves = {0, 1, 2};
        Node* const node = tree.make_node(moves);
        set_priors_from_weights(*node, std::array<float, 3>{0.5f, 0.3f, 0.2f});
        node->ready = true;
        self.node = node;
        self.visits = 31;
        self.utility = -0.1f;  // the side to move at the node stands at 0.1
        for (int i = 0; i < 2; ++i) tree.add_edge(*node);
        node->edges[0].visits = 20;
        node->edges[0].utility = 0.2f;
        node->edges[1].visits = 10;
        node->edges[1].utility = 0.3f;
        node->amaf()[0] = {0.1f, 60};
        node->amaf()[1] = {-0.2f, 30};
        node->amaf()[2] = {0.5f, 100};
    }
    SelectionContext context() const { return {*self.node, self, nullptr, true, true}; }
};

}  // namespace

TEST(uct_by_hand) {
    Example example;
    SearchParams params = by_playouts(Selection::uct);
    CHECK_EQ(select_uct(example.context(), params), 2);  // the untried move first
    example.tree.add_edge(*example.self.node);
    example.self.node->edges[2].visits = 1;
    example.self.node->edges[2].utility = -0.9f;
    // sqrt(log 31 / n) is 0.414, 0.586 and 1.853 for n = 20, 10 and 1.
    params.uct_exploration = 0.3f;  // 0.324, 0.476, -0.344
    CHECK_EQ(select_uct(example.context(), params), 1);
    params.uct_exploration = 1;  // 0.614, 0.886, 0.953
    CHECK_EQ(select_uct(example.context(), params), 2);
    example.self.node->edges[2].pending = 1;  // one more loss: mean -0.95 of 2, 1.310 wide: 0.360
    CHECK_EQ(select_uct(example.context(), params), 1);
}

// Six visits, one of them the position's own: log 6 decides for the first move, log 7 would for the second.
TEST(uct_takes_the_logarithm_of_the_visits) {
    Example example;
    example.self.visits = 6;
    example.self.node->edges[0].visits = 4, example.self.node->edges[0].utility = 0.5f;
    example.self.node->edges[1].visits = 1, example.self.node->edges[1].utility = -0.18f;
    SearchParams params = by_playouts(Selection::uct);
    params.uct_exploration = 1;
    SelectionContext context = example.context();
    context.may_expand = false;
    CHECK_EQ(select_uct(context, params), 0);  // 0.5 + 0.669 and -0.18 + 1.339
    example.self.node->edges[1].utility = -0.16f;
    CHECK_EQ(select_uct(context, params), 1);
}

TEST(rave_by_hand) {
    Example example;
    SearchParams params = by_playouts(Selection::rave);
    params.rave_exploration = 0;
    params.rave_equivalence = 50;
    // Weights of the all-moves-as-first means: 60 * 50 / 110 = 27.27, 30 * 50 / 80 = 18.75, 100 * 50 / 150 = 33.33.
    // (4 + 2.727 + 0.1) / 48.27 = 0.141; (3 - 3.75 + 0.1) / 29.75 = -0.022; (16.67 + 0.1) / 34.33 = 0.488
    CHECK_EQ(select_rave(example.context(), params), 2);
    params.rave_equivalence = 0.1f;  // hardly any: 4.11 / 21.1 = 0.195; 3.08 / 11.1 = 0.277; 0.15 / 1.1 = 0.136
    CHECK_EQ(select_rave(example.context(), params), 1);
    params.rave_exploration = 1;  // + 5.657 * prior / (n + 1): 0.135, 0.154, 1.131
    CHECK_EQ(select_rave(example.context(), params), 2);
    SelectionContext closed = example.context();
    closed.may_expand = false;  // the untried move is out of reach
    CHECK_EQ(select_rave(closed, params), 1);
}

TEST(a_move_that_is_first_for_its_player_counts_for_all_his_positions) {
    SearchParams params = by_playouts(Selection::rave);
    params.expand_visits = 0;
    Search search(params, 1);
    search.set_root(empty(5));
    search.run(400, 1, kForever);
    // Each playout fills the board, so nearly every move is first for one side or the other: the shares of both add up.
    const Node& root = *search.tree().root().node;
    float total = 0;
    for (int i = 0; i < root.move_count; ++i) {
        const Amaf& amaf = root.amaf()[i];
        if (root.moves()[i].point == 25) CHECK_EQ(amaf.visits, 0.0f);  // a pass is no such move
        CHECK(amaf.visits <= 400 && std::abs(amaf.utility) <= 1.0f);
        total += amaf.visits;
    }
    CHECK(total > 400 * 25 * 0.4f && total < 400 * 25 * 0.6f);
    for (int i = 0; i < root.edge_count; ++i)
        if (root.moves()[i].point != 25) CHECK(root.amaf()[i].visits >= static_cast<float>(root.edges[i].visits));
}

TEST(candidates_are_cut_by_mass_and_count) {
    const std::array<Point, 5> moves = {3, 1, 4, 0, 2};
    const std::array<float, 5> weights = {5, 1, 2, 1.5f, 0.5f};
    const auto kept = [&](float mass, int most, int least, bool amaf) {
        Tree tree(kMinMemory, {.amaf = amaf});
        Node& node = *tree.make_node(moves);
        set_priors_from_weights(node, weights);
        SearchParams params;
        params.candidate_mass = mass;
        params.candidate_max = most;
        params.candidate_min = least;
        cut_candidates(tree, node, params, 361, 0);
        float total = 0;
        std::vector<Point> points;
        for (int i = 0; i < node.move_count; ++i) {
            total += node.moves()[i].prior.value();
            points.push_back(node.moves()[i].point);
        }
        CHECK(std::abs(total - 1) < 0.01f);
        tree.drop_node(&node);
        CHECK_EQ(tree.bytes(), 0u);
        return points;
    };
    for (const bool amaf : {false, true}) {
        CHECK(kept(1, 0, 1, amaf) == std::vector<Point>({3, 4, 0, 1, 2}));
        CHECK(kept(0.7f, 0, 1, amaf) == std::vector<Point>({3, 4}));
        CHECK(kept(0.71f, 0, 1, amaf) == std::vector<Point>({3, 4, 0}));
        CHECK(kept(0.9f, 2, 1, amaf) == std::vector<Point>({3, 4}));
        CHECK(kept(0.1f, 0, 3, amaf) == std::vector<Point>({3, 4, 0}));
        CHECK(kept(0, 1, 9, amaf).size() == 5);
    }
}

// Of the moves with the mass and the minimum a share is kept; the maximum is one of what is kept.
TEST(candidates_may_be_kept_in_part) {
    const std::array<Point, 5> moves = {0, 1, 2, 3, 4};
    const auto kept = [&](float mass, int least, int most) {
        Tree tree(kMinMemory);
        Node& node = *tree.make_node(moves);
        set_priors_from_weights(node, std::array{5.0f, 2.0f, 1.5f, 1.0f, 0.5f});
        SearchParams params;
        params.candidate_mass = mass, params.candidate_min = least, params.candidate_max = most;
        params.candidate_tried = 0.5f;
        CHECK(params.has_candidates());
        cut_candidates(tree, node, params, 361, 0);
        return int{node.move_count};
    };
    CHECK_EQ(kept(1, 1, 0), 3);
    CHECK_EQ(kept(1, 1, 2), 2);
    CHECK_EQ(kept(0.8f, 1, 0), 2);
    CHECK_EQ(kept(0.8f, 1, 2), 2);
    CHECK_EQ(kept(0.6f, 1, 0), 1);
    CHECK_EQ(kept(0.1f, 2, 0), 1);
    CHECK_EQ(kept(0.1f, 3, 0), 2);
}

// A policy that gives a fifth to moves that are not there.
TEST(raw_priors_are_those_of_the_policy) {
    const std::array<Point, 3> moves = {0, 1, 2};
    const auto priors = [&](float mass, float temperature, bool raw) {
        Tree tree(kMinMemory);
        Node& node = *tree.make_node(moves);
        const std::array policy = {0.1f, 0.5f, 0.2f, 0.05f, 0.15f};
        set_priors_from_policy(node, policy, Layout(2, 0, 2), temperature, raw);
        SearchParams params;
        params.candidate_mass = mass, params.raw_priors = raw;
        cut_candidates(tree, node, params, 4, 0);
        std::vector<float> found;
        for (int i = 0; i < node.move_count; ++i) found.push_back(node.moves()[i].prior.value());
        return found;
    };
    const auto close = [](const std::vector<float>& a, const std::vector<float>& b) {
        return std::ranges::equal(a, b, [](float x, float y) { return std::abs(x - y) < 1e-3f; });
    };
    CHECK(close(priors(1, 1, false), {0.625f, 0.25f, 0.125f}));
    CHECK(close(priors(0.75f, 1, false), {0.714f, 0.286f}));
    CHECK(close(priors(1, 1, true), {0.5f, 0.2f, 0.1f}));
    CHECK(close(priors(0.75f, 1, true), {0.5f, 0.2f, 0.1f}));
    CHECK(close(priors(0.65f, 1, true), {0.5f, 0.2f}));
    CHECK(close(priors(1, 0.5f, true), {0.25f / 0.325f, 0.04f / 0.325f, 0.01f / 0.325f}));
}

// BakaGo's and DarkForest's way: the network is asked once a move has some visits, and its list is short.
TEST(network_is_asked_after_a_threshold_of_visits) {
    SearchParams params;
    params.playouts = 2;
    params.playout = "uniform";
    params.playout_weight = 1;
    params.expand_visits = 8;
    params.candidate_mass = 0.8f;
    params.candidate_max = 5;
    Search search(params, 1);
    search.set_root(empty(5));
    int asked = 0;
    while (search.root_visits() < 500) {
        std::vector<float> policy;
        const int n = search.gather([&](int, const Game&) { policy.insert(policy.end(), 26, 1.0f); }, 1);
        asked += n;
        const std::vector<float> zeros(n * 25);
        const std::span<const float> none(zeros.data(), n);
        search.scatter({policy, none, none, zeros}, 5);
    }
    CHECK(asked > 20 && asked < 500 / 5);
    CHECK_EQ(search.root_moves().size(), 5u);
    CHECK(search.tree().nodes() == static_cast<std::size_t>(asked));
}

TEST(values_mix_playouts_and_network) {
    SearchParams params;
    params.playouts = 1;
    params.playout = "uniform";
    params.playout_weight = 0.25f;
    params.score_weight = 0;
    Search search(params, 1);
    search.set_root(Game(5, Rules::parse("chinese"), -100));  // Black wins every playout by over 75 points
    const int n = search.gather([](int, const Game&) {}, 1);
    CHECK_EQ(n, 1);
    const std::vector<float> policy(26, 1), value{-0.5f}, score{8}, ownership(25);
    search.scatter({policy, value, score, ownership}, 5);
    CHECK(std::abs(search.root_value() - (0.75f * -0.5f + 0.25f)) < 1e-6f);
    CHECK(search.root_score() >= 0.75f * 8 + 0.25f * 75 && search.root_score() <= 0.75f * 8 + 0.25f * 125);
}

TEST(playouts_are_worth_what_their_slope_says) {
    SearchParams params = by_playouts(Selection::uct);
    const Game game(5, Rules::parse("chinese"), 24.5f);
    LeafPlayouts hard(params, 5);
    params.playout_slope = 0.1f;
    LeafPlayouts soft(params, 5);
    params.playout_decay = 0.5f;
    LeafPlayouts decayed(params, 5);
    for (int i = 0; i < 20; ++i) {
        const Outcome a = hard.play(game), b = soft.play(game), c = decayed.play(game);
        CHECK_EQ(a.score, b.score);
        CHECK_EQ(a.value, a.score > 0 ? 1.0f : -1.0f);
        CHECK(std::abs(b.value - (2 / (1 + std::exp(-0.1f * b.score)) - 1)) < 1e-5f);  // the logistic, from -1 to 1
        CHECK(std::abs(c.value) < 1e-4f);
    }
}

// Area and territory differ by the stones that each side put down, whatever is on the board.
TEST(playouts_count_by_the_rules) {
    SearchParams params = by_playouts(Selection::uct);
    Game area(7, Rules::parse("tromp-taylor"), 0), territory(7, Rules::parse("japanese"), 0);
    for (Game* game : {&area, &territory}) {
        game->play(8);
        game->play(24, Color::black);
        game->play(30, Color::black);  // Black has put down three stones more
    }
    LeafPlayouts by_area(params, 2), by_territory(params, 2);
    for (int i = 0; i < 20; ++i) {
        const Outcome a = by_area.play(area), b = by_territory.play(territory);
        const auto& stones = by_area.ends()[0].trace.stones;
        const float sign = area.to_play() == Color::black ? 1 : -1;
        CHECK_EQ(a.score - b.score, sign * static_cast<float>(3 + stones[0] - stones[1]));
    }
}

TEST(darkforest_shares_its_mean_with_all_moves_as_first) {
    SplitMix64 random(11);
    const auto unit = [&] { return random.uniform_float(); };
    SearchParams params;
    params.selection = Selection::puct_darkforest;
    params.rave_beta = 100;
    params.playouts = 1;
    int untried = 0, changed = 0;
    for (int round = 0; round < 200; ++round) {
        params.c_puct = 10 * unit();
        Tree tree(kMinMemory, {.amaf = true});
        const std::array<Point, 4> moves = {7, 3, 9, 1};
        Node& node = *tree.make_node(moves);
        set_priors_from_weights(node, std::array{unit(), unit(), unit(), unit()});
        for (int i = 0; i < 2; ++i) CHECK(tree.add_edge(node));
        EdgeStats self;
        self.visits = 1;
        for (int i = 0; i < 4; ++i) {
            if (round % 3) node.amaf()[i] = {2 * unit() - 1, 1 + 50 * unit()};
            if (i >= 2) continue;
            node.edges[i].visits = 1 + random.below(60);
            node.edges[i].utility = 2 * unit() - 1;
            self.visits += node.edges[i].visits;
        }
        // The published formula, for wins in 0..1.
        const double parent = self.visits, beta = std::sqrt(100 / (parent + 100));
        int best = -1, best_alone = -1;
        double highest = 0, highest_alone = 0;
        for (int i = 0; i < 4; ++i) {
            const double n = i < 2 ? node.edges[i].visits : 0, wins = i < 2 ? n * (node.edges[i].utility + 1) / 2 : 0;
            const double explore = params.c_puct / 2 * node.moves()[i].prior.value() * std::sqrt(parent + 1) / (n + 1);
            const double mean = (wins + 0.5) / (n + 1), all = (node.amaf()[i].utility + 1) / 2;
            const double score = (round % 3 ? (1 - beta) * mean + beta * all : mean) + explore;
            if (best < 0 || score > highest) best = i, highest = score;
            if (best_alone < 0 || mean + explore > highest_alone) best_alone = i, highest_alone = mean + explore;
        }
        CHECK_EQ(select_puct_darkforest({node, self, nullptr, true}, params), best);
        untried += best >= 2;
        changed += best != best_alone;
    }
    CHECK(untried > 10);
    CHECK(changed > 10);
}

TEST(darkforest_has_its_virtual_games_among_the_visits_of_a_node) {
    SplitMix64 random(12);
    const auto unit = [&] { return random.uniform_float(); };
    SearchParams params;
    params.selection = Selection::puct_darkforest;
    params.c_puct = 10;
    params.virtual_games = 5;
    int changed = 0;
    for (int round = 0; round < 400; ++round) {
        Tree tree(kMinMemory);
        const std::array<Point, 3> moves = {7, 3, 9};
        Node& node = *tree.make_node(moves);
        set_priors_from_weights(node, std::array{unit(), unit(), unit()});
        node.value = unit(), node.score = unit();
        EdgeStats self;
        self.visits = 1;
        std::array<float, 3> priors;
        for (int i = 0; i < 3; ++i) {
            CHECK(tree.add_edge(node));
            node.edges[i].visits = random.below(3);
            node.edges[i].utility = 2 * unit() - 1;
            self.visits += node.edges[i].visits;
            priors[i] = node.moves()[i].prior.value();
        }
        const bool root = round % 2, white = round % 4 > 1;
        SelectionContext context{node, self, root ? priors.data() : nullptr, true, true, random.next()};
        context.to_play = white ? Color::white : Color::black;
        const std::uint64_t seed = context.salt ^ (std::uint64_t{std::bit_cast<std::uint32_t>(node.value)} << 32 |
                                                   std::bit_cast<std::uint32_t>(node.score));
        const auto best = [&](double parent) {
            int best = -1;
            double highest = 0;
            for (int i = 0; i < 3; ++i) {
                const Point move = node.moves()[i].point;
                const double drawn = SplitMix64(seed + move).uniform();
                const double black = std::floor(drawn * 5), games = node.edges[i].visits + 5;
                const double wins =
                    node.edges[i].visits * (node.edges[i].utility + 1) / 2 + (white ? 5 - black : black);
                const double score = (wins + 0.5) / (games + 1) + 5 * priors[i] * std::sqrt(parent + 1) / (games + 1);
                if (best < 0 || score > highest) best = i, highest = score;
            }
            return best;
        };
        CHECK_EQ(select_puct_darkforest(context, params), best(self.visits + (root ? 0 : 5)));
        changed += best(self.visits) != best(self.visits + 5);
    }
    CHECK(changed > 10);
}

TEST(added_komi_counts_in_the_value_of_a_playout_alone) {
    SearchParams params = by_playouts(Selection::uct);
    params.playout_slope = 0.1f;
    const Game even(7, Rules::parse("chinese"), 3.5f), given(7, Rules::parse("chinese"), 10.5f);
    LeafPlayouts added(params, 5), plain(params, 5);
    added.add_komi(7);
    for (int i = 0; i < 20; ++i) {
        const Outcome a = added.play(even), b = plain.play(given);
        CHECK_EQ(a.value, b.value);
        CHECK_EQ(a.score, b.score + 7);
    }
}

TEST(dynamic_komi_follows_the_winrate_of_the_last_root) {
    // Black is 40 points ahead; 1000 * (1 - 0.5) points of komi turn every playout over.
    for (const float factor : {0.0f, 1000.0f}) {
        SearchParams params = by_playouts(Selection::uct);
        params.dynamic_komi = factor;
        Search search(params, 3);
        Game game(5, Rules::parse("chinese"), -40);
        search.set_root(game);
        search.run(200, 1, kForever);
        CHECK_EQ(search.root_value(), 1.0f);
        game.play(12);
        search.set_root(game);
        const auto kept = static_cast<float>(search.root_visits());
        search.run(200, 1, kForever);
        const float expected = factor > 0 ? (-kept + 200) / (kept + 200) : -1;  // for White
        CHECK(std::abs(search.root_value() - expected) < 1e-3f);
        game.play(7);
        search.set_root(Game(5, Rules::parse("chinese"), -40));  // another game
        search.run(10, 1, kForever);
        CHECK_EQ(search.root_value(), 1.0f);
    }
}

TEST(candidates_follow_the_phase_of_the_game_and_the_board) {
    const std::array<Point, 8> moves = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto kept = [&](int points, std::size_t played) {
        Tree tree(kMinMemory);
        Node& node = *tree.make_node(moves);
        set_priors_from_weights(node, std::array{40.0f, 20.0f, 12.0f, 10.0f, 7.0f, 6.0f, 3.0f, 2.0f});
        SearchParams params;
        params.candidate_mass = 0.8f, params.candidate_mass_middle = 0.87f, params.candidate_mass_late = 0.94f;
        params.candidate_share = 0.125f, params.candidate_min = 2;
        cut_candidates(tree, node, params, points, played);
        return int{node.move_count};
    };
    // Mass 82, 89 and 95 of 100 after four, five and six moves. 81 / 361 of 100 moves are 22, of 200 moves 45.
    for (const auto& [played, count] : {std::pair{0, 4}, {100, 4}, {101, 5}, {200, 5}, {201, 6}})
        CHECK_EQ(kept(361, static_cast<std::size_t>(played)), count);
    for (const auto& [played, count] : {std::pair{22, 4}, {23, 5}, {45, 5}, {46, 6}})
        CHECK_EQ(kept(81, static_cast<std::size_t>(played)), count);
    CHECK_EQ(kept(25, 300), 3);  // floor(25 / 8)
    CHECK_EQ(kept(8, 300), 2);   // the minimum
}
