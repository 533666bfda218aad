// The pieces of a search in combination: each works alone, and must beside the others.
#include <cmath>

#include "search/search.h"
#include "tests/check.h"
#include "tests/searches.h"

using namespace tengen;
using tengen::test::by_playouts;
using tengen::test::kForever;

namespace {

// In threads of its own, or in batches for a network that likes all moves alike where `threads` is 0.
void search(Search& search, int visits, int threads, int batch) {
    if (threads) {
        search.run(visits, threads, kForever);
        return;
    }
    const auto wanted = search.root_visits() + static_cast<std::uint32_t>(visits);
    const int points = search.game().board().points();
    while (search.root_visits() < wanted) {
        std::vector<float> value;
        const int n = search.gather(
            [&](int, const Game& game) { value.push_back(static_cast<float>(game.board().hash() % 1001) / 500 - 1); },
            batch);
        const std::vector<float> policy(n * (points + 1), 1.0f), zeros(n * points);
        const std::span<const float> none(zeros.data(), n);
        search.scatter({policy, value, none, zeros}, search.game().board().size());
    }
}

// The restriction of a root to these moves.
std::vector<MoveRestriction> only(const Game& game, std::span<const Point> moves) {
    return {{game.to_play(), true, 1, to_move_set(moves)}};
}

void check_nothing_pends(const EdgeStats& edge, int depth = 0) {
    CHECK_EQ(edge.pending, 0u);
    if (!edge.node || depth > 6) return;
    for (int i = 0; i < edge.node->edge_count; ++i) check_nothing_pends(edge.node->edges[i], depth + 1);
}

void check_found(const Search& search) {
    check_nothing_pends(search.tree().root());
    CHECK(std::abs(search.root_value()) <= 1);
    for (const auto& move : search.root_moves()) {
        CHECK(search.game().is_legal(move.point) || move.point == search.game().board().pass());
        CHECK(std::abs(move.value) <= 1.001f);
    }
    for (const float p : search.policy_target()) CHECK(p >= 0 && p <= 1.0001f);
}

// Three kos on 9x9, taken so that White, who takes the third, leaves Black two others that would both repeat.
struct TripleKo {
    static constexpr Point kFirst = 1, kSecond = 5, kThird = 73;  // White's points of each; Black's are one behind
    Game game{9, Rules::parse("tromp-taylor"), 7.5f};

    TripleKo() {
        stones(0, 9, true);
        stones(4, 9, false);
        stones(72, -9, false);
        game.play(kSecond + 1);
        game.play(kFirst);
        game.play(kThird + 1);
        game.play(kSecond);
        game.play(game.board().pass());
    }
    void stones(Point corner, int inward, bool black_holds) {
        const auto at = [&](int column, int row) { return static_cast<Point>(corner + column + row * inward); };
        for (const Point p : {at(0, 0), at(1, 1)}) game.setup(p, Color::black);
        for (const Point p : {at(3, 0), at(2, 1)}) game.setup(p, Color::white);
        black_holds ? game.setup(at(2, 0), Color::black) : game.setup(at(1, 0), Color::white);
    }
};

}  // namespace

TEST(graph_leaves_out_several_moves_that_repeat) {
    const Game root = TripleKo().game;
    const Point third = TripleKo::kThird;
    Game after = root;
    after.play(third);
    for (const Point p : {TripleKo::kFirst + 1, TripleKo::kSecond + 1}) {
        CHECK(after.board().is_legal(static_cast<Point>(p), Color::black, true));
        CHECK(!after.is_legal(static_cast<Point>(p)));
    }
    for (const Selection selection : {Selection::uct, Selection::puct, Selection::rave}) {
        for (const int threads : {0, 1, 2}) {
            SearchParams params = by_playouts(selection);
            params.transpositions = true;
            if (threads == 0) params.priors = "network";
            Search one(params, 1);
            one.set_root(root, only(root, std::array{third}));
            search(one, 600, threads, 8);
            CHECK_EQ(one.root_visits() - 1, one.root_moves()[0].visits);
            const Node& node = *one.tree().root().node->edges[0].node;
            for (int i = 0; i < node.edge_count; ++i)
                if (!after.is_legal(node.moves()[i].point)) CHECK_EQ(node.edges[i].visits, 0u);
            check_nothing_pends(one.tree().root());
        }
    }
}

// A short list of candidates is the best of those that may be played.
TEST(candidates_at_the_root_are_cut_among_allowed_moves) {
    for (const bool network : {false, true}) {
        SearchParams params = by_playouts(Selection::puct);
        params.candidate_max = 2;
        if (network) params.priors = "network";
        Search one(params, 1);
        const Game game(5, Rules::parse("chinese"), 7.5f);
        for (const Point move : {Point{3}, Point{17}}) {
            one.set_root(game, only(game, std::array{move}));
            search(one, 50, network ? 0 : 1, 4);
            CHECK_EQ(one.choose(), move);
        }
        Search other(params, 1);
        other.set_root(game, only(game, std::array<Point, 3>{3, 17, 20}));
        search(other, 50, network ? 0 : 1, 4);
        CHECK_EQ(other.root_moves().size(), 2u);
        other.set_root(game);  // a list for three moves is none for all
        CHECK_EQ(other.root_visits(), 0u);
    }
}

TEST(every_selection_works_with_threads_batches_graphs_and_little_memory) {
    for (int s = 0; s <= static_cast<int>(Selection::rave); ++s) {
        if (by_playouts(static_cast<Selection>(s)).is_weighted()) continue;  // reads networks alone, no playouts
        for (int mix = 0; mix < 32; ++mix) {
            SearchParams params = by_playouts(static_cast<Selection>(s));
            const int threads = mix & 1 ? 3 : 0;
            if (threads == 0) {
                params.priors = "network";
                params.playout_weight = 0.5f;
            }
            params.transpositions = mix & 2;
            if (!params.transpositions) params.expand_visits = 3;
            if (mix & 4) params.memory = kMinMemory;
            params.stop_futile = mix & 8;
            params.forced_playouts = mix & 8 ? 2 : 0;
            params.prune_pass_alive = params.merge_symmetric = mix & 16;
            if (mix & 16) params.candidate_max = 6;
            params.virtual_loss = mix & 8 ? 0.0f : 1.0f;
            Search one(params, static_cast<std::uint64_t>(mix));
            Game game(mix & 4 ? 9 : 5, Rules::parse(mix & 2 ? "tromp-taylor" : "japanese"), 0.5f);
            if (mix & 16) game.set_move_limit(9);
            for (int move = 0; move < 5 && !game.is_over(); ++move) {
                one.set_root(game);
                one.plan(60);
                search(one, 60, threads, 8);
                check_found(one);
                const Point chosen = one.choose();
                CHECK(chosen != kNoPoint);
                game.play(chosen);
            }
        }
    }
}

TEST(a_tree_is_kept_for_the_same_limit_of_moves_alone) {
    Search one(by_playouts(Selection::uct), 1);
    Game game(5, Rules::parse("chinese"), 7.5f);
    game.set_move_limit(3);
    one.set_root(game);
    one.run(100, 1, kForever);
    one.set_root(game);
    CHECK_EQ(one.root_visits(), 100u);
    game.set_move_limit(4);
    one.set_root(game);
    CHECK_EQ(one.root_visits(), 0u);
}

TEST(a_root_after_the_end_is_searched) {
    const Point pass = 25;
    for (const int threads : {0, 2}) {
        for (const bool shares : {false, true}) {
            for (int end = 0; end < 3; ++end) {
                SearchParams params = by_playouts(Selection::uct);
                params.transpositions = shares;
                if (threads == 0) params.priors = "network";
                Game game(5, Rules::parse("tromp-taylor"), 0.5f);
                game.play(12);
                if (end == 0) game.play(pass), game.play(pass);
                if (end == 1) game.resign(Color::white);
                if (end == 2) game.set_move_limit(1);
                CHECK(game.is_over());
                Search one(params, 1);
                one.set_root(game);
                search(one, 200, threads, 4);
                check_found(one);
                CHECK(one.root_visits() >= 200);
            }
        }
    }
}
