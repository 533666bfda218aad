#include "board/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace tengen {

namespace {

constexpr std::array kNamed = {
    NamedRules{"tromp-taylor", {Ko::positional, Scoring::area, true, HandicapBonus::none, Tax::none, false, false}},
    NamedRules{"chinese", {Ko::simple, Scoring::area, false, HandicapBonus::n, Tax::none, false, true}},
    NamedRules{"chinese-ogs", {Ko::positional, Scoring::area, false, HandicapBonus::n, Tax::none, false, true}},
    NamedRules{"japanese", {Ko::simple, Scoring::territory, false, HandicapBonus::none, Tax::seki, false, false}},
    NamedRules{"korean", {Ko::simple, Scoring::territory, false, HandicapBonus::none, Tax::seki, false, false}},
    NamedRules{"aga", {Ko::situational, Scoring::area, false, HandicapBonus::n_minus_one, Tax::none, false, true}},
    NamedRules{"aga-button",
               {Ko::situational, Scoring::area, false, HandicapBonus::n_minus_one, Tax::none, true, true}},
    NamedRules{"new-zealand", {Ko::situational, Scoring::area, true, HandicapBonus::none, Tax::none, false, true}},
    NamedRules{"ing", {Ko::positional, Scoring::area, true, HandicapBonus::none, Tax::none, false, true}},
    NamedRules{"stone-scoring", {Ko::simple, Scoring::area, false, HandicapBonus::none, Tax::all, false, true}},
    NamedRules{"ancient-territory",
               {Ko::simple, Scoring::territory, false, HandicapBonus::none, Tax::all, false, false}},
};

// Further names of named rules: alias_names() and, in the same order, what they stand for.
constexpr std::array<std::string_view, 6> kAliases = {"chinese-kgs", "ancient-area", "bga", "french", "goe", "nz"};
constexpr std::array<std::string_view, 6> kMeant = {"chinese-ogs", "stone-scoring", "aga", "aga", "ing", "new-zealand"};

// The words for the values of an enumeration, in the order of the values.
using Words = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> kKoWords = {"simple", "positional", "situational"};
constexpr std::array<std::string_view, 2> kScoringWords = {"area", "territory"};
constexpr std::array<std::string_view, 3> kBonusWords = {"none", "n", "n-1"};
constexpr std::array<std::string_view, 3> kTaxWords = {"none", "seki", "all"};
constexpr std::array<std::string_view, 2> kBoolWords = {"false", "true"};

struct Part {
    std::string_view key;      // in parts, as normal() writes it
    std::string_view what;     // in messages
    std::string_view compact;  // in KataGo's compact form
    Words words;
    Words compact_words;
};

constexpr std::array<std::string_view, 3> kCompactBonus = {"0", "n", "n-1"};
constexpr std::array<std::string_view, 2> kCompactBool = {"0", "1"};
constexpr std::array kParts = {
    Part{"ko", "ko rule", "ko", kKoWords, kKoWords},
    Part{"scoring", "scoring rule", "scor", kScoringWords, kScoringWords},
    Part{"suicide", "value of suicide", "sui", kBoolWords, kCompactBool},
    Part{"bonus", "handicap bonus", "whb", kBonusWords, kCompactBonus},
    Part{"tax", "tax", "tax", kTaxWords, kTaxWords},
    Part{"button", "value of button", "button", kBoolWords, kCompactBool},
    Part{"friendly-pass-ok", "value of friendly_pass_ok", "fpok", kBoolWords, kCompactBool},
};
enum PartIndex { kKo, kScoring, kSuicide, kBonus, kTax, kButton, kFriendlyPassOk };

void set_part(Rules& rules, int part, int value) {
    switch (part) {
        case kKo:
            rules.ko = Ko(value);
            break;
        case kScoring:
            rules.scoring = Scoring(value);
            break;
        case kSuicide:
            rules.suicide = value;
            break;
        case kBonus:
            rules.handicap_bonus = HandicapBonus(value);
            break;
        case kTax:
            rules.tax = Tax(value);
            break;
        case kButton:
            rules.button = value;
            break;
        default:
            rules.friendly_pass_ok = value;
    }
}

Tax usual_tax(Scoring scoring) { return scoring == Scoring::territory ? Tax::seki : Tax::none; }

std::string normal(std::string_view text) {
    const auto is_space = [](unsigned char c) { return std::isspace(c); };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    std::string result(text);
    for (char& c : result)
        c = c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

[[noreturn]] void refuse(std::string_view what, std::string_view word, Words known) {
    std::string message = "unknown " + std::string(what) + " '" + std::string(word) + "'; known are";
    for (std::size_t i = 0; i < known.size(); ++i) message += (i ? ", " : " ") + std::string(known[i]);
    throw std::invalid_argument(message);
}

int find_word(std::string_view what, std::string_view word, Words known) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) refuse(what, word, known);
    return static_cast<int>(found - known.begin());
}

// The key and the value of "key=value".
std::pair<int, int> read_part(std::string_view key, std::string_view word) {
    std::array<std::string_view, kParts.size()> keys;
    std::ranges::transform(kParts, keys.begin(), &Part::key);
    const int part = find_word("part of rules", key, keys);
    return {part, find_word(kParts[part].what, word, kParts[part].words)};
}

// The parts of KataGo's compact form; none where the text is of another form.
std::vector<std::pair<int, int>> read_compact(std::string_view text) {
    std::vector<std::pair<int, int>> parts;
    const auto take = [&text](std::string_view word) {
        const bool there = text.starts_with(word);
        if (there) text.remove_prefix(word.size());
        while (text.starts_with('-')) text.remove_prefix(1);  // a space
        return there;
    };
    while (!text.empty()) {
        const auto part = std::ranges::find_if(kParts, [&](const Part& p) { return take(p.compact); });
        if (part == kParts.end()) return {};
        if (part->compact == "scor" && !take("e") && !take("ing")) return {};
        int value = -1;
        for (int i = static_cast<int>(part->compact_words.size()) - 1; i >= 0 && value < 0; --i)
            if (take(part->compact_words[i])) value = i;  // backwards: "n-1" before "n"
        if (value < 0) return {};
        parts.emplace_back(static_cast<int>(part - kParts.begin()), value);
    }
    return parts;
}

std::string without_separators(std::string_view name) {
    std::string result(name);
    std::erase(result, '-');
    return result;
}

const Rules* find_named(std::string_view name) {
    const std::string plain = without_separators(name);
    const auto is_it = [&plain](std::string_view known) { return without_separators(known) == plain; };
    if (const auto alias = std::ranges::find_if(kAliases, is_it); alias != kAliases.end())
        return find_named(kMeant[alias - kAliases.begin()]);
    const auto found = std::ranges::find_if(kNamed, is_it, &NamedRules::name);
    return found == kNamed.end() ? nullptr : &found->rules;
}

[[noreturn]] void refuse_name(std::string_view name) {
    std::vector<std::string_view> known;
    for (const NamedRules& rules : kNamed) known.push_back(rules.name);
    known.insert(known.end(), kAliases.begin(), kAliases.end());
    refuse("rules", name, known);
}

}  // namespace

std::span<const NamedRules> named_rules() { return kNamed; }
std::span<const std::string_view> alias_names() { return kAliases; }

std::string_view name(Ko value) { return kKoWords[static_cast<int>(value)]; }
std::string_view name(Scoring value) { return kScoringWords[static_cast<int>(value)]; }
std::string_view name(HandicapBonus value) { return kBonusWords[static_cast<int>(value)]; }
std::string_view name(Tax value) { return kTaxWords[static_cast<int>(value)]; }

Rules Rules::parse(std::string_view text) {
    Rules rules;
    std::array<bool, kParts.size()> given{};
    const auto set = [&](std::pair<int, int> part) {
        set_part(rules, part.first, part.second);
        given[part.first] = true;
    };
    for (bool first = true, last = false; !last; first = false) {
        const auto comma = text.find(',');
        const std::string item = normal(text.substr(0, comma));
        const auto equals = item.find('=');
        if (equals != std::string::npos) {
            set(read_part(std::string_view(item).substr(0, equals), std::string_view(item).substr(equals + 1)));
        } else if (!first) {
            throw std::invalid_argument("rules: '" + item + "' should be of the form part=value");
        } else if (const Rules* named = find_named(item)) {
            rules = *named;
        } else {
            const auto parts = read_compact(item);
            if (parts.empty()) refuse_name(item);
            for (const auto& part : parts) set(part);
        }
        last = comma == std::string_view::npos;
        if (!last) text.remove_prefix(comma + 1);
    }
    if (given[kScoring] && !given[kTax]) rules.tax = usual_tax(rules.scoring);
    return rules;
}

std::string Rules::text() const {
    const auto found = std::ranges::find(kNamed, *this, &NamedRules::rules);
    if (found != kNamed.end()) return std::string(found->name);
    std::string parts = "ko=";
    parts.append(name(ko)).append(",scoring=").append(name(scoring));
    parts.append(",suicide=").append(kBoolWords[suicide]).append(",bonus=").append(name(handicap_bonus));
    if (tax != usual_tax(scoring)) parts.append(",tax=").append(name(tax));
    if (button) parts.append(",button=true");
    if (friendly_pass_ok) parts.append(",friendly_pass_ok=true");
    return parts;
}

}  // namespace tengen
