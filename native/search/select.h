// Selection rules: which move a simulation tries next.
#pragma once

#include <cstdint>
#include <vector>

#include "board/types.h"
#include "search/node.h"
#include "search/params.h"
#include "search/plan.h"

namespace tengen {

// The position in which a rule selects. `self` leads to `node`. At the root `root_priors` holds a prior for each edge,
// negative where the move is not allowed; elsewhere it is null and the edges' own priors count. `may_expand`: the tree
// may grow, so that moves without a node are open, and the next untried move. `may_revisit`: edges without a node are
// open even when the tree may not grow. `may_add_edge`: the list of edges may grow; without it no untried move is open.
// `salt` seeds rules that draw: their draws depend on it and on the statistics alone.
struct SelectionContext {
    const Node& node;
    const EdgeStats& self;
    const float* root_priors;
    bool may_expand;
    bool may_revisit = false;
    std::uint64_t salt = 0;
    const RootPlan* plan = nullptr;        // at the root
    const float* masked_priors = nullptr;  // replaces all other priors where superko forbids moves of this line
    const float* root_bonus = nullptr;     // of utility, for each edge at the root; for puct-katago
    bool may_add_edge = true;
    Color to_play = Color::black;

    bool is_open(const EdgeStats& stats) const { return stats.node || may_expand || may_revisit; }
    bool untried_are_open() const { return may_expand && may_add_edge; }

    float prior(int edge) const {
        const float* const given = masked_priors ? masked_priors : root_priors;
        return given ? given[edge] : node.moves()[edge].prior.value();
    }
};

// Returns the index of a move; from edge_count on it is untried. -1 if there is nothing to choose.
using SelectionRule = int (*)(const SelectionContext&, const SearchParams&);

// The forms of PUCT: Q + c * P * (a function of the parent's visits) / (1 + n), for utilities in [-1, 1].
int select_puct(const SelectionContext& context, const SearchParams& params);
int select_puct_alphago(const SelectionContext& context, const SearchParams& params);
int select_puct_leela_zero(const SelectionContext& context, const SearchParams& params);
int select_puct_darkforest(const SelectionContext& context, const SearchParams& params);
int select_puct_katago(const SelectionContext& context, const SearchParams& params);
int select_gumbel(const SelectionContext& context, const SearchParams& params);
int select_uct(const SelectionContext& context, const SearchParams& params);
int select_rave(const SelectionContext& context, const SearchParams& params);

SelectionRule selection_rule(Selection selection);

// The policy target of a search: a weight for each move of the root, 0 where it was not allowed.
using TargetRule = std::vector<float> (*)(const SelectionContext&, const SearchParams&);

// Visits.
std::vector<float> visit_target(const SelectionContext& root, const SearchParams& params);
// Visits without those that forced_playouts forced: of every move but the most visited those that its score, with fewer
// visits, did not earn against the most visited's (Wu 2019, section 3.2).
std::vector<float> puct_target(const SelectionContext& root, const SearchParams& params);
std::vector<float> puct_alphago_target(const SelectionContext& root, const SearchParams& params);
std::vector<float> puct_leela_zero_target(const SelectionContext& root, const SearchParams& params);
std::vector<float> puct_darkforest_target(const SelectionContext& root, const SearchParams& params);

TargetRule target_rule(Selection selection);

}  // namespace tengen
