// What the ladders of a position cost, read with a limit of `nodes`: one figure a position, of the fastest of three
// rounds.
#include <cstdio>

#include "bench/measure.h"
#include "board/ladder.h"
#include "features/encode.h"

namespace tengen::bench {

namespace {

constexpr int kRounds = 6;               // half of them for the ladders alone, half for the whole encoding
constexpr int kFirst = 80, kLast = 180;  // moves played: the middle of a game
constexpr std::size_t kMax = 10000;

Game position(const Record& record, std::size_t ply) {
    Game game(record.size, Rules{}, 7.5f);
    for (std::size_t i = 0; i < ply; ++i) game.play(record.moves[i]);
    return game;
}

// A position of each game in turn, at plies that differ from game to game, until there are enough: (game, ply).
std::vector<std::pair<std::size_t, std::size_t>> places(const std::vector<Record>& records) {
    std::vector<std::pair<std::size_t, std::size_t>> chosen;
    for (int round = 0; round <= kLast - kFirst; ++round)
        for (std::size_t i = 0; i < records.size() && chosen.size() < kMax; ++i) {
            const std::size_t ply = kFirst + (i * 37 + static_cast<std::size_t>(round) * 29) % (kLast - kFirst + 1);
            if (records[i].size == 19 && ply <= records[i].moves.size()) chosen.push_back({i, ply});
        }
    return chosen;
}

struct Sums {
    double median, mean, of_100_90, of_100_99;
};

// `values` in seconds, each with the price of reading the clock.
Sums microseconds(std::vector<double> values, double clock) {
    double sum = 0;
    for (double& value : values) sum += value = 1e6 * (value - clock);
    return {quantile(values, 0.5), sum / static_cast<double>(values.size()), quantile(values, 0.9),
            quantile(values, 0.99)};
}

}  // namespace

void bench_ladders(const std::vector<Record>& records, int nodes) {
    const PlaneSet& set = plane_set("tengen");
    const auto positions = places(records);
    if (positions.empty()) {
        std::fprintf(stderr, "no 19x19 game of %d moves\n", kFirst);
        return;
    }
    std::vector<float> planes(set.planes.size() * kMaxPoints), scalars(set.scalars.size()), mask(kMaxPoints);
    std::vector<double> ladders(positions.size(), 1e300), all = ladders;
    Board board(kMinSize);
    // All positions in a round, not all rounds of a position: what is measured again at once is known to the
    // processor's predictors, and takes half the time that it takes in life.
    for (int round = 0; round < kRounds; ++round)
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const Game game = position(records[positions[i].first], positions[i].second);
            if (round % 2) {
                all[i] = std::min(all[i], best_seconds(1, [&] {
                                      encode(set, game, 0, kMaxSize, planes.data(), scalars.data(), mask.data());
                                  }));
            } else {
                ladders[i] = std::min(ladders[i], best_seconds(1, [&] {
                                          board = game.board();
                                          read_ladders(board, game.to_play(), nodes);
                                      }));
            }
        }
    const double clock = best_seconds(1000, [] {});
    const Sums reading = microseconds(ladders, clock), encoding = microseconds(all, clock);
    std::printf(
        "{\"benchmark\": \"ladders\", \"nodes\": %d, \"positions\": %zu, \"plies\": [%d, %d], \"microseconds\": "
        "{\"median\": %.2f, "
        "\"mean\": %.2f, \"of_100\": {\"90\": %.2f, \"99\": %.2f}}, \"encode_microseconds\": {\"median\": %.2f, "
        "\"mean\": %.2f}, \"share_of_encode\": %.2f}\n",
        nodes, positions.size(), kFirst, kLast, reading.median, reading.mean, reading.of_100_90, reading.of_100_99,
        encoding.median, encoding.mean, reading.mean / encoding.mean);
}

}  // namespace tengen::bench
