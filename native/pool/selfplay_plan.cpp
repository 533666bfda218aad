#include "pool/selfplay_plan.h"

#include <cmath>
#include <stdexcept>

namespace tengen {

namespace {

void require(bool fits, const std::string& what) {
    if (!fits) throw std::invalid_argument(what);
}

template <class T>
void at_least(T value, T minimum, const char* what) {
    require(std::isfinite(static_cast<double>(value)) && value >= minimum,
            std::string(what) + " must be " + std::to_string(minimum) + " or more, not " + std::to_string(value));
}

void share(float value, const char* what) {
    require(value >= 0 && value <= 1, std::string(what) + " must be 0 to 1, not " + std::to_string(value));
}

void positive(float value, const char* what) {
    require(std::isfinite(value) && value > 0, std::string(what) + " must be above 0, not " + std::to_string(value));
}

}  // namespace

Game start_of(const GamePlan& plan) {
    at_least(plan.opening_moves, 0, "opening_moves");
    Game game(plan.size, plan.rules, plan.komi);
    for (std::size_t i = 0; i < plan.start.size(); ++i) {
        const Point point = move_point(plan.start[i]);
        const Color color = move_color(plan.start[i]);
        require(!game.is_over(), "the start of game " + std::to_string(plan.index) + " goes on after its end");
        const Legality legality = game.legality(point, color);
        require(legality == Legality::legal, "move " + std::to_string(i + 1) + " of the start of game " +
                                                 std::to_string(plan.index) + " is not legal at point " +
                                                 std::to_string(point) + ": " + std::string(reason(legality)));
        game.play(point, color);
    }
    require(!game.is_over(), "the start of game " + std::to_string(plan.index) + " is a finished game");
    return game;
}

void PlayParams::check() const {
    at_least(visits, 1, "visits");
    at_least(cheap_visits, 1, "cheap_visits");
    share(cheap_share, "cheap_share");
    share(decided_cheap_share, "decided_cheap_share");
    share(decided_winrate, "decided_winrate");
    at_least(decided_turns, 0, "decided_turns");
    at_least(temperature, 0.0f, "temperature");
    at_least(temperature_late, 0.0f, "temperature_late");
    const bool draws = temperature > 0 || temperature_late > 0;
    for (const SearchParams& search : {full, cheap})
        require(
            !draws || !search.stop_futile || search.selection == Selection::gumbel,
            "stop_futile gives moves no visits that a temperature draws and the policy target needs: set one of them "
            "alone; a run that has both goes on as another run, with start: its newest network");
    positive(temperature_halflife, "temperature_halflife");
    positive(opening_temperature, "opening_temperature");
    share(resign_winrate, "resign_winrate");
    at_least(resign_turns, 0, "resign_turns");
    at_least(max_moves, 0, "max_moves");
}

}  // namespace tengen
