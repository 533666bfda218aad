#include "search/params.h"

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "playout/policy.h"
#include "search/select.h"

namespace tengen {

namespace {

constexpr double kMaxSetting = 1e9;  // of a float without a tighter bound: the search computes in float32

// --- Ranges, as params.def writes them.

struct Range {
    double min, max;
    bool min_excluded = false, bounded = true;
};

constexpr Range any() { return {0, 0, false, false}; }
constexpr Range at_least(double min) { return {min, kMaxSetting}; }
constexpr Range above(double min, double max = kMaxSetting) { return {min, max, true}; }
constexpr Range between(double min, double max) { return {min, max}; }

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(const std::string& value) { return value; }
template <std::integral T>
std::string text(T value) {
    return std::to_string(value);
}
// So many digits that they read as the same number. std::to_chars would need macOS 13.3.
template <std::floating_point T>
std::string text(T value) {
    char digits[32];
    for (int precision = 6; precision <= std::numeric_limits<T>::max_digits10; ++precision) {
        std::snprintf(digits, sizeof digits, "%.*g", precision, static_cast<double>(value));
        if (static_cast<T>(std::strtod(digits, nullptr)) == value) break;
    }
    return digits;
}
template <class Enum>
    requires std::is_enum_v<Enum>
std::string text(Enum value) {
    return std::string(name(value));
}

// --- The check of one setting.

template <class T>
void check_range(const char*, const T&, Range) {}

template <Number T>
void check_range(const char* setting, const T& value, Range range) {
    const auto number = static_cast<double>(value);
    if ((range.min_excluded ? number > range.min : number >= range.min) && number <= range.max) return;
    throw std::invalid_argument(std::string(setting) + " must be " + (range.min_excluded ? "more than " : "at least ") +
                                text(range.min) + " and at most " + text(range.max) + ", not " + text(value));
}

// --- The table as text.

template <class T>
std::vector<std::string> choices_of() {
    if constexpr (std::is_enum_v<T>) return names(T{});
    return {};
}

template <class T>
const char* type_name() {
    if constexpr (std::is_enum_v<T>) return "choice";
    if constexpr (std::same_as<T, bool>) return "bool";
    if constexpr (std::is_floating_point_v<T>) return "float";
    if constexpr (std::is_integral_v<T>) return "int";
    return "str";
}

}  // namespace

void SearchParams::check() const {
#define SEARCH_PARAM(type, name, initial, range, description) check_range(#name, name, range);
#include "search/params.def"
#undef SEARCH_PARAM
    if (playouts < 1 && (playout_weight > 0 || expand_visits > 0))
        throw std::invalid_argument("playout_weight and expand_visits need playouts of 1 or more");
    if (playout_temperature != 1 && !playout.starts_with("linear"))
        throw std::invalid_argument("playout_temperature is of linear playouts: set playout to linear, not " + playout);
    if (rave_beta > 0 && playouts < 1) throw std::invalid_argument("rave_beta needs playouts of 1 or more");
    if (transpositions && expand_visits > 0)
        throw std::invalid_argument("transpositions share nodes, which expand_visits delays: set one of them alone");
    if (is_weighted() && (priors != "network" || playouts > 0 || simulate_to_end))
        throw std::invalid_argument(
            "selection puct-katago needs a network's priors and values alone, without playouts and simulate_to_end");
    if (node_ownership && has_amaf())
        throw std::invalid_argument("node_ownership goes with selection rules without all-moves-as-first means");
    if (root_symmetries > 1 && (playouts > 0 || simulate_to_end))
        throw std::invalid_argument("root_symmetries above 1 goes without playouts and simulate_to_end");
    if (simulate_to_end &&
        (selection != Selection::puct_alphago || priors != "network" || playouts > 0 || transpositions || stop_futile))
        throw std::invalid_argument(
            "simulate_to_end needs selection puct-alphago and a network's priors and values alone, without playouts, "
            "transpositions and stop_futile");
}

void SearchParams::check_policies() const {
    if (priors != "network") playout_policy(priors);
    playout_policy(playout);
}

std::vector<ParamRow> search_param_table() {
    const SearchParams defaults;
    std::vector<ParamRow> rows;
    const auto add = [&]<class T>(const char* setting, const T& initial, Range range, const char* description) {
        rows.push_back({setting, type_name<T>(), text(initial), description, range.min, range.max, range.min_excluded,
                        range.bounded, choices_of<T>()});
    };
#define SEARCH_PARAM(type, name, initial, range, description) add(#name, defaults.name, range, description);
#include "search/params.def"
#undef SEARCH_PARAM
    return rows;
}

}  // namespace tengen
