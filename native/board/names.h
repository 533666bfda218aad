// Enumerations with a text form: a table of names, and the conversion in both directions.
#pragma once

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tengen {

template <class Value>
struct Named {
    Value value;
    std::string_view name;
};

// The row of a table whose member `value` is `value`, which must be there.
template <class Row, std::size_t kRows, class Value>
constexpr const Row& row_of(const Row (&table)[kRows], Value value) {
    return *std::find_if(std::begin(table), std::end(table), [&](const Row& row) { return row.value == value; });
}

// The value of a name. Throws std::invalid_argument that lists the known names; `what` is the subject of the message.
template <class Row, std::size_t kRows>
auto parse_name(const Row (&table)[kRows], std::string_view what, std::string_view text) {
    std::string known;
    for (const Row& row : table) {
        if (row.name == text) return row.value;
        known.append(known.empty() ? "" : ", ").append(row.name);
    }
    throw std::invalid_argument(std::string(what) + " '" + std::string(text) + "' is unknown: choose " + known);
}

template <class Row, std::size_t kRows>
std::vector<std::string> all_names(const Row (&table)[kRows]) {
    std::vector<std::string> names;
    for (const Row& row : table) names.emplace_back(row.name);
    return names;
}

}  // namespace tengen
