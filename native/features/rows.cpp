#include "features/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "features/encode.h"
#include "processor/threads.h"

namespace tengen {

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

[[noreturn]] void refuse(const Sample& sample, const std::string& what) {
    throw std::invalid_argument("row " + std::to_string(sample.row) + " is no game: " + what);
}

Point checked_point(const Sample& sample, const Board& board, std::uint16_t move) {
    const Point p = move_point(move);
    if (p > board.pass() || (p != board.pass() && board.at(p) != Color::empty))
        refuse(sample, "move to point " + std::to_string(p));
    return p;
}

float side_sign(Color side) { return side == Color::black ? 1.0f : -1.0f; }

// Rules, komi and result of a game under the variant of its sample.
struct Labels {
    Rules rules;
    float komi;
    float score;  // Black minus White, NaN where unknown
    int winner;   // as in the store
};

// The margin of an even game by the other scoring, where `margin` is that by its own, both without komi. By area the
// stones that were played count too, so the margins differ by how many more Black has played. A record under territory
// scoring may end before the last dame are filled; then the parity of the board says that number, as every point
// belongs to a side by area (which the neutral points of a seki may change).
float margin_by_other_scoring(const Sample& sample, float margin, bool was_territory) {
    const auto row = static_cast<std::size_t>(sample.row);
    const int edge = sample.games->size[row], points = edge * edge;
    if (was_territory) return margin + static_cast<float>(std::abs(points - std::lround(margin)) % 2);
    int more = 0;
    for (const std::uint16_t move : sample.games->moves.row(row))
        if (move_point(move) != points) more += move_color(move) == Color::black ? 1 : -1;
    return margin - static_cast<float>(more);
}

Labels labels_of(const Sample& sample) {
    const GameColumns& games = *sample.games;
    const auto row = static_cast<std::size_t>(sample.row);
    const auto rules = static_cast<std::size_t>(games.rules[row]);
    if (rules >= games.rule_sets.size()) refuse(sample, "rule set " + std::to_string(games.rules[row]));
    const float komi = games.komi[row];
    Labels game{games.rule_sets[rules], std::isnan(komi) ? kUnknownKomi : komi, games.score[row], games.winner[row]};
    const bool is_known = !std::isnan(game.score);
    if (sample.variant.other_scoring) {
        const bool territory = game.rules.scoring == Scoring::territory;
        const float shift = territory ? 1.0f : -1.0f;
        if (is_known)
            game.score = margin_by_other_scoring(sample, game.score + game.komi, territory) - (game.komi + shift);
        game.komi += shift;
        game.rules.scoring = territory ? Scoring::area : Scoring::territory;
        game.rules.tax = territory ? Tax::none : Tax::seki;
    }
    if (is_known) {
        game.komi += sample.variant.komi_shift;
        game.score -= sample.variant.komi_shift;
    }
    const bool is_varied = sample.variant.other_scoring || sample.variant.komi_shift != 0.0f;
    if (is_known && is_varied) game.winner = game.score > 0.0f ? 0 : game.score < 0.0f ? 1 : 2;
    return game;
}

float value_target(int winner, Color side) {
    if (winner < 0) return kUnknown;
    if (winner > 1) return 0.0f;
    return static_cast<int>(index(side)) == winner ? 1.0f : -1.0f;
}

void write_ownership(std::span<const std::uint8_t> packed, Color side, const Layout& layout, float* out) {
    std::fill_n(out, layout.edge() * layout.edge(), kUnknown);
    if (packed.empty()) return;
    if (static_cast<int>(packed.size()) * 4 < layout.points())
        throw std::invalid_argument("an ownership of " + std::to_string(packed.size()) + " bytes is too short for " +
                                    std::to_string(layout.points()) + " points");
    const float owner[4] = {side_sign(side), -side_sign(side), 0.0f, 0.0f};
    for (int p = 0; p < layout.points(); ++p)
        out[layout[static_cast<Point>(p)]] = owner[packed[p / 4] >> (p % 4 * 2) & 3];
}

// Probabilities of the move at `ply`; all 0 if the game has no such move.
void write_target(const Sample& sample, int ply, const Layout& layout, float* out) {
    const GameColumns& games = *sample.games;
    const auto row = static_cast<std::size_t>(sample.row), move = static_cast<std::size_t>(ply);
    const auto index_of = [&](std::uint32_t point) {
        if (point > static_cast<std::uint32_t>(layout.points()))
            refuse(sample, "move to point " + std::to_string(point));
        return layout.policy_index(static_cast<Point>(point));
    };
    std::fill_n(out, layout.edge() * layout.edge() + 1, 0.0f);
    const auto moves = games.moves.row(row);
    if (move >= moves.size()) return;
    const auto visits = games.visits.list(row, move);
    if (visits.empty()) {
        out[index_of(move_point(moves[move]))] = 1.0f;
        return;
    }
    std::uint64_t total = 0;
    for (const auto entry : visits) total += entry >> 16;
    if (!total) refuse(sample, "no visit is counted at move " + std::to_string(ply));
    for (const auto entry : visits)
        out[index_of(entry & 0xffff)] += static_cast<float>(entry >> 16) / static_cast<float>(total);
}

// The opponent's reply to the move of a sample; none if one side plays twice.
void write_reply(const Sample& sample, const Layout& layout, float* out) {
    const auto moves = sample.games->moves.row(static_cast<std::size_t>(sample.row));
    const auto next = static_cast<std::size_t>(sample.ply) + 1;
    const bool answered = next < moves.size() && move_color(moves[next]) != move_color(moves[next - 1]);
    write_target(sample, answered ? sample.ply + 1 : static_cast<int>(moves.size()), layout, out);
}

void encode_sample(const PlaneSet& set, const Sample& sample, int edge, const BatchArrays& out, std::size_t i) {
    const GameColumns& games = *sample.games;
    const Game game = replay(sample);
    FeatureContext context = context_of(sample, game);
    const Color side = context.own;
    const Layout layout(game.board().size(), sample.symmetry, edge);
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    encode(set, context, layout, out.planes + i * set.planes.size() * area, out.scalars + i * set.scalars.size(),
           out.mask + i * area);
    const auto moves = games.moves.row(sample.row);
    const bool has_move = sample.ply < static_cast<int>(moves.size());
    out.policy[i] = has_move ? layout.policy_index(checked_point(sample, game.board(), moves[sample.ply])) : -1;
    const Labels result = labels_of(sample);
    out.value[i] = value_target(result.winner, side);
    out.score[i] = result.score * side_sign(side);
    const float weight = games.weight[sample.row];
    out.weight[i] = std::isnan(weight) ? 1.0f : weight;
    write_ownership(games.ownership.row(sample.row), side, layout, out.ownership + i * area);
    if (out.target) write_target(sample, sample.ply, layout, out.target + i * (area + 1));
    if (out.reply) write_reply(sample, layout, out.reply + i * (area + 1));
}

}  // namespace

Game replay(const Sample& sample) {
    const GameColumns& games = *sample.games;
    const auto row = static_cast<std::size_t>(sample.row);
    const Labels labels = labels_of(sample);
    Game game(games.size[row], labels.rules, labels.komi);
    const Board& board = game.board();
    const auto set_up = [&](std::span<const std::uint16_t> stones, Color color) {
        for (const auto p : stones) {
            if (p >= board.points()) refuse(sample, "a stone on point " + std::to_string(p));
            game.setup(static_cast<Point>(p), color);
        }
    };
    set_up(games.black_stones.row(row), Color::black);
    set_up(games.white_stones.row(row), Color::white);
    if (games.first[row] > 1) refuse(sample, "color " + std::to_string(games.first[row]) + " to play");
    game.set_to_play(static_cast<Color>(games.first[row]));
    for (const auto move : games.moves.row(row).first(sample.ply))
        game.play(checked_point(sample, board, move), move_color(move));
    return game;
}

FeatureContext context_of(const Sample& sample, const Game& game) {
    const GameColumns& games = *sample.games;
    const auto moves = games.moves.row(sample.row);
    const Color side = sample.ply < static_cast<int>(moves.size()) ? move_color(moves[sample.ply]) : game.to_play();
    Ranks ranks{};
    for (std::size_t color = 0; color < 2; ++color)
        if (!games.ranks[color].empty()) ranks[color] = games.ranks[color][sample.row];
    return FeatureContext(game, side, ranks);
}

void encode_rows(const PlaneSet& set, std::span<const Sample> samples, int edge, const BatchArrays& out, int threads) {
    parallel_for(samples.size(), threads, [&](std::size_t i) { encode_sample(set, samples[i], edge, out, i); });
}

}  // namespace tengen
