#include "search/select.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tengen {

namespace {

// Prior mass of the moves that have visits: first-play urgency falls with it, for what is left is what the policy
// dislikes.
float visited_mass(const Junction& at) {
    float mass = 0;
    for (int i = 0; i < at.node.link_count; ++i)
        if (at.node.links[i].visits) mass += std::max(at.prior(i), 0.0f);
    return std::min(mass, 1.0f);
}

float first_play_urgency(const Junction& at, const SearchParams& params) {
    const float reduction = at.root_priors ? params.root_fpu_reduction : params.fpu_reduction;
    return -at.self.utility - reduction * std::sqrt(visited_mass(at));
}

float exploration(const Junction& at, const SearchParams& params) {
    const auto visits = static_cast<float>(at.self.visits + at.self.pending);
    const float c =
        params.c_puct + params.c_puct_factor * std::log((1 + visits + params.c_puct_base) / params.c_puct_base);
    return c * std::sqrt(visits);
}

}  // namespace

int select_puct(const Junction& at, const SearchParams& params) {
    const float explore = exploration(at, params), urgency = first_play_urgency(at, params);
    int best = -1;
    float best_score = 0;
    const auto consider = [&](int edge, float q, float visits) {
        const float score = q + explore * at.prior(edge) / (1 + visits);
        if (best < 0 || score > best_score) best = edge, best_score = score;
    };
    for (int i = 0; i < at.node.link_count; ++i) {
        const Link& link = at.node.links[i];
        if (at.prior(i) < 0 || !at.is_open(link)) continue;
        const auto visits = static_cast<float>(link.visits);
        const float lost = static_cast<float>(link.pending) * params.virtual_loss, n = visits + lost;
        consider(i, n > 0 ? (link.utility * visits - lost) / n : urgency, n);
    }
    const int next = at.node.link_count;
    if (at.may_open && next < at.node.edge_count && at.prior(next) >= 0) consider(next, urgency, 0);
    return best;
}

namespace {

struct NamedRule {
    Selection selection;
    std::string_view name;
    SelectionRule rule;
};

constexpr NamedRule kRules[] = {
    {Selection::puct, "puct", select_puct},
    {Selection::uct, "uct", select_uct},
    {Selection::rave, "rave", select_rave},
};

const NamedRule& entry(Selection selection) {
    return *std::find_if(std::begin(kRules), std::end(kRules),
                         [&](const NamedRule& r) { return r.selection == selection; });
}

}  // namespace

SelectionRule selection_rule(Selection selection) { return entry(selection).rule; }

std::string_view name(Selection selection) { return entry(selection).name; }

Selection parse_selection(std::string_view text) {
    std::string known;
    for (const NamedRule& rule : kRules) {
        if (rule.name == text) return rule.selection;
        known += (known.empty() ? "" : ", ") + std::string(rule.name);
    }
    throw std::invalid_argument("selection rule '" + std::string(text) + "' is unknown: choose " + known);
}

}  // namespace tengen
