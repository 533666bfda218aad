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

// Simple ko holds under every value of `ko`; the superkos forbid further repetitions. A suicide of one stone, which
// only repeats the position, is never legal; `suicide` allows that of two or more.
struct Rules {
    Ko ko = Ko::positional;
    Scoring scoring = Scoring::area;
    bool suicide = true;
    HandicapBonus handicap_bonus = HandicapBonus::none;

    friend bool operator==(const Rules&, const Rules&) = default;

    // A name ("chinese"), parts ("ko=simple,scoring=area,suicide=false,bonus=n"), or a name and then parts that differ
    // from it ("chinese,ko=positional"). Parts that are not given are those of tromp-taylor. Any case; "_" and " " read
    // as "-". Throws std::invalid_argument naming the word that it does not know and the words that it does.
    static Rules parse(std::string_view text);

    // The name of the rule set if it has one (the first of its names), else all parts; parse() reads it back.
    std::string text() const;
};

struct NamedRules {
    std::string_view name;
    Rules rules;
};

std::span<const NamedRules> named_rules();

std::string_view name(Ko value);
std::string_view name(Scoring value);
std::string_view name(HandicapBonus value);

}  // namespace tengen
