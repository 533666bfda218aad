#include "board/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace tengen {

namespace {

constexpr std::array kNamed = {
    NamedRules{"tromp-taylor", {Ko::positional, Scoring::area, true, HandicapBonus::none}},
    NamedRules{"chinese", {Ko::simple, Scoring::area, false, HandicapBonus::n}},
    NamedRules{"japanese", {Ko::simple, Scoring::territory, false, HandicapBonus::none}},
    NamedRules{"korean", {Ko::simple, Scoring::territory, false, HandicapBonus::none}},
    NamedRules{"aga", {Ko::situational, Scoring::area, false, HandicapBonus::n_minus_one}},
    NamedRules{"new-zealand", {Ko::situational, Scoring::area, true, HandicapBonus::none}},
};

// The words for the values of an enumeration, in the order of the values.
constexpr std::array<std::string_view, 3> kKoWords = {"simple", "positional", "situational"};
constexpr std::array<std::string_view, 2> kScoringWords = {"area", "territory"};
constexpr std::array<std::string_view, 3> kBonusWords = {"none", "n", "n-1"};
constexpr std::array<std::string_view, 2> kBoolWords = {"false", "true"};

std::string normal(std::string_view text) {
    const auto is_space = [](unsigned char c) { return std::isspace(c); };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    std::string result(text);
    for (char& c : result)
        c = c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

[[noreturn]] void refuse(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
    std::string message = "unknown " + std::string(what) + " '" + std::string(word) + "'; known are";
    for (std::size_t i = 0; i < known.size(); ++i) message += (i ? ", " : " ") + std::string(known[i]);
    throw std::invalid_argument(message);
}

int find_word(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) refuse(what, word, known);
    return static_cast<int>(found - known.begin());
}

Rules find_named(std::string_view name) {
    std::array<std::string_view, kNamed.size()> names;
    std::ranges::transform(kNamed, names.begin(), &NamedRules::name);
    return kNamed[find_word("rules", name, names)].rules;
}

void set_part(Rules& rules, std::string_view key, std::string_view word) {
    static constexpr std::array<std::string_view, 4> kKeys = {"ko", "scoring", "suicide", "bonus"};
    switch (find_word("part of rules", key, kKeys)) {
        case 0:
            rules.ko = Ko(find_word("ko rule", word, kKoWords));
            break;
        case 1:
            rules.scoring = Scoring(find_word("scoring", word, kScoringWords));
            break;
        case 2:
            rules.suicide = find_word("value of suicide", word, kBoolWords);
            break;
        default:
            rules.handicap_bonus = HandicapBonus(find_word("handicap bonus", word, kBonusWords));
    }
}

}  // namespace

std::span<const NamedRules> named_rules() { return kNamed; }

std::string_view name(Ko value) { return kKoWords[static_cast<int>(value)]; }
std::string_view name(Scoring value) { return kScoringWords[static_cast<int>(value)]; }
std::string_view name(HandicapBonus value) { return kBonusWords[static_cast<int>(value)]; }

Rules Rules::parse(std::string_view text) {
    Rules rules;
    for (bool first = true;; first = false) {
        const auto comma = text.find(',');
        const std::string item = normal(text.substr(0, comma));
        const auto equals = item.find('=');
        if (equals != std::string::npos)
            set_part(rules, item.substr(0, equals), item.substr(equals + 1));
        else if (first)
            rules = find_named(item);
        else
            throw std::invalid_argument("rules: '" + item + "' should be of the form part=value");
        if (comma == std::string_view::npos) return rules;
        text.remove_prefix(comma + 1);
    }
}

std::string Rules::text() const {
    const auto found = std::ranges::find(kNamed, *this, &NamedRules::rules);
    if (found != kNamed.end()) return std::string(found->name);
    std::string parts = "ko=";
    parts.append(name(ko)).append(",scoring=").append(name(scoring));
    parts.append(",suicide=").append(kBoolWords[suicide]).append(",bonus=").append(name(handicap_bonus));
    return parts;
}

}  // namespace tengen
