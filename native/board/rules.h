// Rule sets: the parts that rules are made of, and the names that people give to their combinations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tengen {

enum class Ko : std::uint8_t { simple, positional, situational };
enum class Scoring : std::uint8_t { area, territory };
enum class HandicapBonus : std::uint8_t { none, n, n_minus_one };
enum class Tax : std::uint8_t { none, seki, all };

// Simple ko holds under every value of `ko`; the superkos forbid further repetitions. A suicide of one stone, which
// only repeats the position, is never legal; `suicide` allows that of two or more.
struct Rules {
    Ko ko = Ko::positional;
    Scoring scoring = Scoring::area;
    bool suicide = true;
    HandicapBonus handicap_bonus = HandicapBonus::none;
    Tax tax = Tax::none;  // surrounded points that do not count: none, the eyes of a seki, those and 2 a group
    bool button = false;  // the first pass takes the button, which is half a point and no pass (Game::button)
    bool friendly_pass_ok = false;  // area scoring: dead stones need not be captured before the game ends

    friend bool operator==(const Rules&, const Rules&) = default;

    // A name ("chinese"), parts ("ko=simple,scoring=area,suicide=false,bonus=n"), a name and then parts that differ
    // from it ("chinese,ko=positional"), or KataGo's compact form ("koSIMPLEscoreAREAtaxNONEsui0whbN"). Parts that are
    // not given are those of tromp-taylor, but where scoring is given without tax, territory has tax=seki and area
    // tax=none. Any case; "-", "_" and " " in a name may be left out or mixed up. Throws std::invalid_argument naming
    // the word that it does not know and the words that it does.
    static Rules parse(std::string_view text);

    // The name of the rule set if it has one (the first of its names), else its parts; parse() reads it back.
    std::string text() const;
};

struct NamedRules {
    std::string_view name;
    Rules rules;
};

// One name for each rule set, and "korean". parse() knows further names of the same rules: alias_names().
std::span<const NamedRules> named_rules();
std::span<const std::string_view> alias_names();

std::string_view name(Ko value);
std::string_view name(Scoring value);
std::string_view name(HandicapBonus value);
std::string_view name(Tax value);

}  // namespace tengen
