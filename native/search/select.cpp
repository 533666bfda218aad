#include "search/select.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "search/gumbel.h"

namespace tengen {

namespace {

struct NamedRule {
    Selection value;
    std::string_view name;
    SelectionRule rule;
    TargetRule target;
};

constexpr NamedRule kRules[] = {
    {Selection::puct, "puct", select_puct, puct_target},
    {Selection::puct_alphago, "puct-alphago", select_puct_alphago, puct_alphago_target},
    {Selection::puct_leela_zero, "puct-leela-zero", select_puct_leela_zero, puct_leela_zero_target},
    {Selection::puct_darkforest, "puct-darkforest", select_puct_darkforest, puct_darkforest_target},
    {Selection::gumbel, "gumbel", select_gumbel, improved_policy},
    {Selection::uct, "uct", select_uct, visit_target},
    {Selection::rave, "rave", select_rave, visit_target},
};

template <class Value>
struct Named {
    Value value;
    std::string_view name;
};

constexpr Named<FirstPlay> kFirstPlays[] = {
    {FirstPlay::reduction, "reduction"},
    {FirstPlay::network, "network"},
    {FirstPlay::absolute, "absolute"},
};

constexpr Named<LeafSymmetry> kLeafSymmetries[] = {{LeafSymmetry::none, "none"}, {LeafSymmetry::random, "random"}};

template <class Row, std::size_t kRows, class Value>
const Row& entry(const Row (&table)[kRows], Value value) {
    return *std::find_if(std::begin(table), std::end(table), [&](const Row& row) { return row.value == value; });
}

template <class Row, std::size_t kRows>
auto parse(const Row (&table)[kRows], std::string_view what, std::string_view text) {
    std::string known;
    for (const Row& row : table) {
        if (row.name == text) return row.value;
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw std::invalid_argument(std::string(what) + " '" + std::string(text) + "' is unknown: choose " + known);
}

}  // namespace

SelectionRule selection_rule(Selection selection) { return entry(kRules, selection).rule; }

TargetRule target_rule(Selection selection) { return entry(kRules, selection).target; }

std::vector<float> visit_target(const SelectionContext& root, const SearchParams&) {
    std::vector<float> visits(root.node.move_count, 0.0f);
    for (int i = 0; i < root.node.edge_count; ++i)
        if (root.prior(i) >= 0) visits[i] = static_cast<float>(root.node.edges[i].visits);
    return visits;
}

std::string_view name(Selection selection) { return entry(kRules, selection).name; }

Selection parse_selection(std::string_view text) { return parse(kRules, "selection rule", text); }

std::string_view name(FirstPlay fpu) { return entry(kFirstPlays, fpu).name; }

FirstPlay parse_first_play(std::string_view text) { return parse(kFirstPlays, "first-play urgency", text); }

std::string_view name(LeafSymmetry symmetry) { return entry(kLeafSymmetries, symmetry).name; }

LeafSymmetry parse_leaf_symmetry(std::string_view text) { return parse(kLeafSymmetries, "leaf symmetry", text); }

}  // namespace tengen
