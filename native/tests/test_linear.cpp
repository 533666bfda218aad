// The linear policy: what is kept up to date from move to move is what a fresh look finds, and draws follow the
// weights.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "board/symmetry.h"
#include "playout/candidates.h"
#include "playout/linear.h"
#include "playout/linear_moves.h"
#include "playout/linear_trainer.h"
#include "tests/check.h"

using namespace tengen;

namespace {

LinearWeights random_weights(std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<std::int8_t> steps(kFeatures);
    for (auto& step : steps) step = static_cast<std::int8_t>(static_cast<int>(random.below(33)) - 16);
    return LinearWeights(std::move(steps));
}

// Plays a game of random moves (a few of them passes) and calls f(board, moves so far, side to move) before each.
template <class F>
void random_game(int size, std::uint64_t seed, F f) {
    SplitMix64 random(seed);
    Board board(size);
    std::vector<Move> moves;
    Color side = Color::black;
    for (int i = 0; i < 2 * size * size; ++i, side = opponent(side)) {
        f(board, moves, side);
        Point p = board.pass();
        for (int tries = 0; tries < 50 && random.below(40); ++tries) {
            const auto q = static_cast<Point>(random.below(board.points()));
            if (!board.is_legal(q, side, true)) continue;  // suicides too: real records may hold them
            p = q;
            break;
        }
        board.play(p, side);
        moves.push_back({p, side});
    }
}

Point back(const std::vector<Move>& moves, std::size_t n) {
    return moves.size() >= n ? moves[moves.size() - n].point : kNoPoint;
}

}  // namespace

TEST(linear_weights_kept_equal_weights_found_anew) {
    const LinearWeights weights = random_weights(1);
    for (int size = kMinSize; size <= kMaxSize; ++size) {
        Board followed(size);
        LinearMoves kept(weights, followed, kNoPoint, kNoPoint);
        std::size_t played = 0;
        int differing = 0;
        random_game(size, size, [&](const Board& board, const std::vector<Move>& moves, Color side) {
            for (; played < moves.size(); ++played) kept.play(followed, moves[played].point, moves[played].color);
            CHECK_EQ(followed.hash(), board.hash());
            // Not every side is asked at every move, so that what is put off must still be right later.
            for (const Color asked : {side, opponent(side)}) {
                if (asked != side && played % 3) continue;
                LinearMoves fresh(weights, board, back(moves, 1), back(moves, 2));
                kept.weigh(followed, asked);
                fresh.weigh(board, asked);
                for (Point p = 0; p < board.points(); ++p) differing += kept.weight(p) != fresh.weight(p);
            }
        });
        CHECK_EQ(differing, 0);
    }
}

TEST(linear_weights_are_the_softmax_of_the_features) {
    const LinearWeights weights = random_weights(2);
    for (const int size : {5, 9, 13, kMaxSize}) {
        int seen = 0;
        random_game(size, 100 + size, [&](const Board& board, const std::vector<Move>& moves, Color side) {
            if (++seen % 7) return;
            LinearMoves now(weights, board, back(moves, 1), back(moves, 2));
            now.weigh(board, side);
            const MoveFeatures found = move_features(board, side, back(moves, 1), back(moves, 2));
            PointSet playable;
            for (std::size_t i = 0; i < found.points.size(); ++i) {
                int steps = 0;
                for (int j = found.offsets[i]; j < found.offsets[i + 1]; ++j) steps += weights.step(found.features[j]);
                const double expected = std::exp(static_cast<double>(steps) / kWeightScale);
                CHECK(std::abs(now.weight(found.points[i]) / expected - 1.0) < 1e-4);
                playable.add(found.points[i]);
            }
            for (Point p = 0; p < board.points(); ++p) {
                const bool may = board.at(p) == Color::empty && is_playable(board, p, side);
                CHECK_EQ(playable.contains(p), may);
                if (!may) CHECK_EQ(now.weight(p), 0.0f);
            }
        });
    }
}

TEST(linear_weights_turn_with_the_board) {
    const LinearPolicy policy(random_weights(3));
    for (const int size : {6, 11}) {
        int seen = 0;
        random_game(size, 200 + size, [&](const Board&, const std::vector<Move>& moves, Color side) {
            if (++seen % 9) return;
            std::array<std::vector<float>, kSymmetries> weights;
            for (int s = 0; s < kSymmetries; ++s) {
                Board turned(size);
                std::vector<Move> before;
                for (const auto& [p, color] : moves) {
                    before.push_back({transform(p, size, s), color});
                    turned.play(before.back().point, color);
                }
                std::vector<Point> all;
                for (Point p = 0; p <= turned.pass(); ++p) all.push_back(transform(p, size, s));
                weights[s].resize(all.size());
                policy.weigh(turned, side, before, all, weights[s]);
                for (std::size_t i = 0; i < all.size(); ++i)
                    CHECK(std::abs(weights[s][i] - weights[0][i]) <= 1e-4f * weights[0][i]);
            }
        });
    }
}

TEST(linear_draws_follow_the_weights_to_a_power) {
    const LinearWeights weights = random_weights(4);
    constexpr int kDraws = 40000;
    for (const auto& [size, power] : {std::pair{9, 1.0f}, {kMaxSize, 1.0f}, {9, 2.0f}, {kMaxSize, 8.0f}, {19, 0.7f}}) {
        Board board(size);
        std::vector<Move> moves;
        random_game(size, 300 + size, [&, half = size * size / 2](const Board& now, const auto& before, Color) {
            if (static_cast<int>(before.size()) != half) return;
            board = now;
            moves = before;
        });
        const Color side = opponent(moves.back().color);
        LinearMoves policy(weights, board, back(moves, 1), back(moves, 2));
        SplitMix64 random(17);
        std::vector<int> drawn(board.points() + 1);
        std::vector<double> wanted(board.points());
        policy.weigh(board, side);
        for (Point p = 0; p < board.points(); ++p) wanted[p] = std::pow(static_cast<double>(policy.weight(p)), power);
        for (int i = 0; i < kDraws; ++i) ++drawn[policy.draw(board, side, random, power)];
        CHECK_EQ(drawn[board.pass()], 0);
        double total = 0.0, chi2 = 0.0, rare = 0.0;
        for (Point p = 0; p < board.points(); ++p) total += wanted[p];
        int cells = 0, rarely = 0;
        for (Point p = 0; p < board.points(); ++p) {
            const double expected = kDraws * wanted[p] / total;
            if (expected == 0.0) CHECK_EQ(drawn[p], 0);
            if (expected < 10.0) {
                rare += expected;
                rarely += drawn[p];
                continue;
            }
            chi2 += (drawn[p] - expected) * (drawn[p] - expected) / expected;
            ++cells;
        }
        if (rare > 0.0) chi2 += (rarely - rare) * (rarely - rare) / rare;
        CHECK(cells > (power > 2 ? 1 : 10));
        CHECK(chi2 < cells + 4.0 * std::sqrt(2.0 * cells));
    }
}

TEST(linear_policy_passes_only_where_nothing_is_left) {
    const LinearPolicy policy(random_weights(5));
    Board board(5);
    const std::vector<Point> asked = {12, board.pass()};
    std::vector<float> weights(2);
    policy.weigh(board, Color::black, {}, asked, weights);
    CHECK(weights[0] > 0.0f && weights[1] == 0.0f);
    // Black lives with two eyes on a board that is otherwise full.
    for (Point p = 0; p < 25; ++p)
        if (p != 6 && p != 18) board.place(p, Color::black);
    policy.weigh(board, Color::black, {}, asked, weights);
    CHECK(weights[0] == 0.0f && weights[1] == 1.0f);
}

TEST(linear_weights_survive_their_file) {
    const auto path =
        (std::filesystem::temp_directory_path() / ("tengen-linear-" + std::to_string(std::rand()))).string();
    const LinearWeights weights = random_weights(6);
    std::vector<std::int8_t> steps(kFeatures);
    for (Feature f = 0; f < kFeatures; ++f) steps[f] = static_cast<std::int8_t>(weights.step(f));
    write_linear_weights(path, "{}", steps);
    const LinearWeights again = read_linear_weights(path);
    int differing = 0;
    for (Feature f = 0; f < kFeatures; ++f) differing += again.step(f) != weights.step(f);
    CHECK_EQ(differing, 0);
    CHECK(linear_policy("linear:" + path) != nullptr);
    CHECK(playout_policy("linear:" + path) != nullptr);

    std::ifstream in(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto refused = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        CHECK_THROWS(read_linear_weights(path));
    };
    refused("");
    refused("TENGEN");
    refused(whole.substr(0, 12));
    refused(whole.substr(0, whole.size() - 1));
    refused(whole + "x");
    for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{12}, std::size_t{15}, std::size_t{18},
                                 whole.size() / 2, whole.size() - 1}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
        refused(damaged);
    }
    std::filesystem::remove(path);
    CHECK_THROWS(read_linear_weights(path));
    CHECK_THROWS(write_linear_weights("/no/such/folder/weights", "{}", steps));
    steps.pop_back();
    CHECK_THROWS(write_linear_weights(path, "{}", steps));
    CHECK_THROWS(LinearWeights(steps));
}

TEST(linear_has_a_name_once_its_weights_have_a_place) {
    CHECK_THROWS(playout_policy("linear"));
    const auto before = playout_policies().size();
    set_linear_path("/no/such/weights");
    CHECK_EQ(playout_policies().size(), before + 1);
    CHECK_THROWS(playout_policy("linear"));
    set_linear_path("");
    CHECK_EQ(playout_policies().size(), before);
}
