// Moves and legality on positions of real games, against a board that finds its chains by flood fill.
#include <cstdio>

#include "bench/measure.h"
#include "bench/plain_board.h"

namespace tengen::bench {

namespace {

constexpr int kRounds = 5;
constexpr Rules kRules{};  // positional superko, suicide allowed: what costs most

Color turn(std::size_t ply) { return ply % 2 ? Color::white : Color::black; }

// Plays all records and calls `after(board, ply)` behind every move; `start(size)` makes the empty board.
template <class Start, class After>
void replay(const std::vector<Record>& records, Start start, After after) {
    for (const Record& record : records) {
        auto board = start(record.size);
        for (std::size_t ply = 0; ply < record.moves.size(); ++ply) {
            board.play(record.moves[ply], turn(ply));
            after(board, ply);
        }
    }
}

template <class Start>
double replay_seconds(const std::vector<Record>& records, Start start) {
    return best_seconds(kRounds, [&] { replay(records, start, [](auto&, std::size_t) {}); });
}

constexpr auto kFast = [](int size) { return Board(size); };
constexpr auto kPlain = [](int size) { return PlainBoard(size); };
constexpr auto kGame = [](int size) { return Game(size, kRules, 7.5f); };

void moves(const std::vector<Record>& records) {
    std::size_t count = 0;
    for (const Record& record : records) count += record.moves.size();
    const double fast = replay_seconds(records, kFast), plain = replay_seconds(records, kPlain),
                 game = replay_seconds(records, kGame);
    const auto rate = [&](double seconds) { return static_cast<double>(count) / seconds; };
    std::printf(
        "{\"benchmark\": \"moves\", \"games\": %zu, \"moves\": %zu, \"board_moves_per_second\": %.0f, "
        "\"game_moves_per_second\": %.0f, \"flood_fill_moves_per_second\": %.0f, \"against_flood_fill\": %.2f}\n",
        records.size(), count, rate(fast), rate(game), rate(plain), plain / fast);
}

// Asks for every empty point of every tenth position; returns the seconds of the asking alone and adds up the answers.
template <class Start, class Ask>
double ask_seconds(const std::vector<Record>& records, Start start, Ask ask, long& legal) {
    double best = 1e300;
    for (int round = 0; round < kRounds; ++round) {
        double seconds = 0;
        legal = 0;
        replay(records, start, [&](auto& board, std::size_t ply) {
            if (ply % 10) return;
            const double before = cpu_seconds();
            legal += ask(board, turn(ply + 1));
            seconds += cpu_seconds() - before;
        });
        best = std::min(best, seconds);
    }
    return best;
}

void legality(const std::vector<Record>& records) {
    long positions = 0, fast_legal = 0, plain_legal = 0, game_legal = 0;
    replay(records, kFast, [&](auto&, std::size_t ply) { positions += ply % 10 == 0; });
    const auto all_of = [](const Board& board, auto is_legal) {
        long legal = 0;
        board.empty_points().for_each([&](Point p) { legal += is_legal(p); });
        return legal;
    };
    const double fast = ask_seconds(
        records, kFast,
        [&](Board& board, Color color) {
            return all_of(board, [&](Point p) { return board.is_legal(p, color, true); });
        },
        fast_legal);
    const double game = ask_seconds(
        records, kGame,
        [&](Game& game, Color color) { return all_of(game.board(), [&](Point p) { return game.is_legal(p, color); }); },
        game_legal);
    const double plain = ask_seconds(
        records, kPlain,
        [](PlainBoard& board, Color color) {
            long legal = 0;
            for (Point p = 0; p < board.points(); ++p) legal += board.is_legal(p, color);
            return legal;
        },
        plain_legal);
    const double scale = 1e6 / static_cast<double>(positions);
    std::printf(
        "{\"benchmark\": \"legality\", \"positions\": %ld, \"microseconds\": {\"board\": %.3f, \"superko\": %.3f, "
        "\"flood_fill\": %.3f}, \"against_flood_fill\": %.2f, \"legal\": %ld, \"differ\": %ld, \"superko_bans\": "
        "%ld}\n",
        positions, fast * scale, game * scale, plain * scale, plain / fast, fast_legal, plain_legal - fast_legal,
        fast_legal - game_legal);
}

}  // namespace

void bench_board(const std::vector<Record>& records) {
    moves(records);
    legality(records);
}

}  // namespace tengen::bench
