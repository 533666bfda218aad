#include "search/leaf.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "board/pass_alive.h"
#include "playout/tactics.h"

namespace tengen {

void candidate_moves(const Game& game, bool prune_eyes, std::vector<Point>& moves, bool superko) {
    const Board& board = game.board();
    const Color own = game.to_play();
    std::optional<PointSet> alive;  // computed only where there is an eye: it costs more than the rest
    const auto fills_eye = [&](Point p) {
        if (!board.is_true_eye(p, own)) return false;
        if (!alive) alive = pass_alive(board, own, game.rules().suicide).area();
        return alive->contains(p);
    };
    moves.clear();
    board.empty_points().for_each([&](Point p) {
        const bool legal =
            superko || game.encore().phase ? game.is_legal(p) : board.is_legal(p, own, game.rules().suicide);
        if (legal && !(prune_eyes && fills_eye(p))) moves.push_back(p);
    });
    game.encore().blocked.for_each([&](Point p) {
        if (game.is_pass_for_ko(p, own)) moves.push_back(p);
    });
    moves.push_back(board.pass());
}

void prune_moves(const Board& board, Color to_play, const SearchParams& params, std::vector<Point>& moves) {
    if (!params.prune_true_eyes && !params.prune_self_atari) return;
    std::erase_if(moves, [&](Point p) {
        if (p == board.pass() || board.at(p) != Color::empty) return false;
        return (params.prune_true_eyes && board.is_true_eye(p, to_play)) ||
               (params.prune_self_atari && is_plain_self_atari(board, p, to_play));
    });
}

Outcome game_outcome(const Game& game, DeadStones rule) {
    if (game.is_no_result()) return {0, 0};
    const float black = score(game, dead_stones(game, rule));
    const float own = game.to_play() == Color::black ? black : -black;
    return {own > 0 ? 1.0f : own < 0 ? -1.0f : 0.0f, own};
}

bool has_draws(const Game& game) {
    const float white = game.komi() + game.white_bonus();
    return (white == std::floor(white)) != game.button_left();
}

float utility_of(float value, float score, const SearchParams& params) {
    const float bounded = std::atan(score / params.score_scale) * 2 * std::numbers::inv_pi_v<float>;
    return (1 - params.score_weight) * value + params.score_weight * bounded;
}

}  // namespace tengen
