#include <cmath>
#include <limits>
#include <random>

#include "board/symmetry.h"
#include "features/encode.h"
#include "features/rows.h"
#include "tests/check.h"

using namespace tengen;

namespace {

Game random_game(int size, int moves, unsigned seed) {
    std::mt19937 random(seed);
    Game game(size, Rules::parse("tromp-taylor"), 6.5f);
    for (int i = 0; i < moves; ++i) {
        std::vector<Point> legal;
        game.board().empty_points().for_each([&](Point p) {
            if (game.is_legal(p)) legal.push_back(p);
        });
        game.play(legal.empty() ? game.board().pass() : legal[random() % legal.size()]);
    }
    return game;
}

struct Arrays {
    std::vector<float> planes, scalars, mask;

    Arrays(const PlaneSet& set, int edge)
        : planes(set.planes.size() * edge * edge, 7.0f), scalars(set.scalars.size(), 7.0f), mask(edge * edge, 7.0f) {}
    friend bool operator==(const Arrays&, const Arrays&) = default;
};

Arrays encoded(const Game& game, int symmetry, int edge) {
    const PlaneSet& set = plane_set("tengen");
    Arrays arrays(set, edge);
    encode(set, game, symmetry, edge, arrays.planes.data(), arrays.scalars.data(), arrays.mask.data());
    return arrays;
}

// The memory behind the columns of one game.
struct Column {
    std::vector<std::uint16_t> moves;
    std::vector<std::int32_t> offsets{0, 0}, none{0, 0};
    std::vector<std::uint8_t> size{9}, first{0};
    std::vector<std::int16_t> rules{0};
    std::vector<float> komi{6.5f}, unknown{std::numeric_limits<float>::quiet_NaN()};
    std::vector<std::int8_t> winner{1};

    explicit Column(const Game& game) {
        for (const Move& move : game.moves())
            moves.push_back(static_cast<std::uint16_t>(move.point | (move.color == Color::white ? 0x8000 : 0)));
        offsets[1] = static_cast<std::int32_t>(moves.size());
    }

    GameColumns view() const {
        GameColumns games;
        games.moves = {moves, offsets};
        games.black_stones = games.white_stones = {{}, none};
        games.ownership = {{}, none};
        games.size = size;
        games.first = first;
        games.rules = rules;
        games.komi = komi;
        games.score = games.weight = unknown;
        games.winner = winner;
        games.rule_sets = {Rules::parse("tromp-taylor")};
        return games;
    }
};

}  // namespace

TEST(reading_a_ladder_restores_the_board) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const Game game = random_game(9, 70, seed);
        Board board = game.board();
        read_ladders(board, game.to_play());
        CHECK_EQ(board.hash(), game.board().hash());
        CHECK_EQ(board.ko(), game.board().ko());
        CHECK(board.empty_points() == game.board().empty_points());
        game.board().stones(Color::black).for_each([&](Point p) {
            CHECK(board.liberty_set(p) == game.board().liberty_set(p));
            CHECK_EQ(board.chain_size(p), game.board().chain_size(p));
        });
    }
}

TEST(a_ladder_search_without_nodes_is_an_escape) {
    Board board(9);
    board.place(30, Color::white);
    for (const Point p : {21, 29, 40}) board.place(p, Color::black);
    CHECK(captured_in_ladder(board, 30));
    CHECK(!captured_in_ladder(board, 30, nullptr, 3));
}

TEST(a_layout_is_the_symmetry_of_every_point) {
    for (const int edge : {11, kMaxEdge})
        for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
            const Layout layout(7, symmetry, edge);
            for (Point p = 0; p < 49; ++p) {
                const Point turned = transform(p, 7, symmetry);
                CHECK_EQ(layout[p], turned / 7 * edge + turned % 7);
                CHECK_EQ(layout.policy_index(p), layout[p]);
            }
            CHECK_EQ(layout.policy_index(49), edge * edge);
        }
}

TEST(encoding_writes_every_element) {
    const Arrays arrays = encoded(random_game(9, 40, 1), 3, 13);
    for (const auto* values : {&arrays.planes, &arrays.scalars, &arrays.mask})
        for (const float value : *values) CHECK(value != 7.0f);
}

TEST(rows_encode_as_games_whatever_the_threads) {
    const PlaneSet& set = plane_set("tengen");
    const Game game = random_game(9, 60, 5);
    const Column column(game);
    const GameColumns games = column.view();
    std::vector<Sample> samples;
    for (int ply = 0; ply <= 60; ++ply) samples.push_back({&games, 0, ply, ply % 8});
    const std::size_t batch = samples.size(), area = 81;
    std::vector<float> planes(batch * set.planes.size() * area), scalars(batch * set.scalars.size()),
        mask(batch * area), value(batch), score(batch), ownership(batch * area), weight(batch);
    std::vector<std::int64_t> policy(batch);
    encode_rows(set, samples, 9,
                {planes.data(), scalars.data(), mask.data(), policy.data(), value.data(), score.data(),
                 ownership.data(), weight.data()},
                4);
    for (std::size_t i = 0; i < batch; ++i) {
        const Arrays expected = encoded(replay(samples[i]), samples[i].symmetry, 9);
        CHECK(std::equal(expected.planes.begin(), expected.planes.end(), planes.begin() + i * expected.planes.size()));
        CHECK_EQ(value[i], i % 2 ? 1.0f : -1.0f);
        CHECK(std::isnan(score[i]) && std::isnan(ownership[i * area]));
        CHECK_EQ(weight[i], 1.0f);
    }
    CHECK_EQ(policy[60], -1);
}

TEST(a_damaged_row_is_an_error) {
    Column column(random_game(9, 10, 2));
    column.moves[5] = column.moves[0];
    const GameColumns games = column.view();
    const std::vector<Sample> samples(8, Sample{&games, 0, 8, 0});
    const PlaneSet& set = plane_set("tengen");
    std::vector<float> space(8 * set.planes.size() * 81);
    std::vector<std::int64_t> policy(8);
    float* any = space.data();
    CHECK_THROWS(encode_rows(set, samples, 9, {any, any, any, policy.data(), any, any, any, any}, 1));
}
