#include "board/game_end.h"

#include <array>
#include <limits>

#include "board/pass_alive.h"

namespace tengen {

namespace {

std::optional<float> margin_of(const Game& game, const std::array<PointSet, 2>& areas) {
    const int points = game.board().points();
    if (game.rules().tax != Tax::none) return std::nullopt;  // the area says too little
    // Either side may still get a button that is left.
    const float komi = game.komi() + game.white_bonus(), doubt = game.button_left() ? 0.5f : 0.0f;
    const float black = static_cast<float>(2 * areas[0].count() - points) - komi - doubt;
    if (black > 0) return black;
    const float white = static_cast<float>(points - 2 * areas[1].count()) - komi + doubt;
    if (white < 0) return white;
    return std::nullopt;
}

Color leader(float score) { return score > 0 ? Color::black : score < 0 ? Color::white : Color::empty; }

GameEnd counted(const Game& game, Ending reason, DeadStones rule) {
    const PointSet dead = dead_stones(game, rule);
    const float points = score(game, dead);
    return {reason, leader(points), true, points, counted_owners(game, dead), game.board().size()};
}

GameEnd uncounted(const Game& game, Ending reason, Color winner) {
    return {reason, winner, false, std::numeric_limits<float>::quiet_NaN(), {}, game.board().size()};
}

}  // namespace

PointSet dead_stones(const Game& game, DeadStones rule) {
    return rule == DeadStones::none ? PointSet() : pass_dead(game.board(), game.rules().suicide);
}

std::optional<GameEnd> game_end(const Game& game, const EndRules& rules) {
    // What the rules of the game end.
    const Ending reason = game.ending();
    if (reason == Ending::resignation) return uncounted(game, reason, opponent(game.resigned()));
    if (game.is_no_result()) return uncounted(game, reason, Color::empty);
    if (reason != Ending::none) return counted(game, reason, rules.dead_stones);

    // What pass-alive area decides.
    if (game.rules().scoring != Scoring::area || !(rules.settle || rules.sure_win)) return std::nullopt;
    const auto areas = pass_alive_areas(game.board(), game.rules().suicide);
    if (rules.settle && (areas[0] | areas[1]).count() == game.board().points())
        return counted(game, Ending::settled, DeadStones::pass_alive);
    if (!rules.sure_win) return std::nullopt;
    const std::optional<float> margin = margin_of(game, areas);
    if (!margin) return std::nullopt;
    GameEnd end = counted(game, Ending::sure_win, DeadStones::pass_alive);
    end.winner = leader(*margin), end.score = *margin;
    return end;
}

std::optional<float> sure_margin(const Game& game) {
    if (game.rules().scoring != Scoring::area) return std::nullopt;
    return margin_of(game, pass_alive_areas(game.board(), game.rules().suicide));
}

}  // namespace tengen
