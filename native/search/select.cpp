#include "search/select.h"

#include "board/names.h"
#include "search/gumbel.h"
#include "search/select_katago.h"

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
    {Selection::puct_katago, "puct-katago", select_puct_katago, katago_selection_weights},
    {Selection::gumbel, "gumbel", select_gumbel, improved_policy},
    {Selection::uct, "uct", select_uct, visit_target},
    {Selection::rave, "rave", select_rave, visit_target},
};

constexpr Named<FirstPlay> kFirstPlays[] = {
    {FirstPlay::reduction, "reduction"},
    {FirstPlay::network, "network"},
    {FirstPlay::absolute, "absolute"},
};

constexpr Named<LeafSymmetry> kLeafSymmetries[] = {{LeafSymmetry::none, "none"}, {LeafSymmetry::random, "random"}};

}  // namespace

SelectionRule selection_rule(Selection selection) { return row_of(kRules, selection).rule; }

TargetRule target_rule(Selection selection) { return row_of(kRules, selection).target; }

std::vector<float> visit_target(const SelectionContext& root, const SearchParams&) {
    std::vector<float> visits(root.node.move_count, 0.0f);
    for (int i = 0; i < root.node.edge_count; ++i)
        if (root.prior(i) >= 0) visits[i] = static_cast<float>(root.node.edges[i].visits);
    return visits;
}

std::string_view name(Selection value) { return row_of(kRules, value).name; }
std::string_view name(FirstPlay value) { return row_of(kFirstPlays, value).name; }
std::string_view name(LeafSymmetry value) { return row_of(kLeafSymmetries, value).name; }

void parse(std::string_view text, Selection& value) { value = parse_name(kRules, "selection rule", text); }
void parse(std::string_view text, FirstPlay& value) { value = parse_name(kFirstPlays, "first-play urgency", text); }
void parse(std::string_view text, LeafSymmetry& value) { value = parse_name(kLeafSymmetries, "leaf symmetry", text); }

std::vector<std::string> names(Selection) { return all_names(kRules); }
std::vector<std::string> names(FirstPlay) { return all_names(kFirstPlays); }
std::vector<std::string> names(LeafSymmetry) { return all_names(kLeafSymmetries); }

}  // namespace tengen
