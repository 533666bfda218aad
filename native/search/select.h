// Selection rules: which move a simulation tries next.
#pragma once

#include <string_view>

#include "search/node.h"
#include "search/params.h"

namespace tengen {

// What a rule sees. `self` leads to `node`. At the root `root_priors` holds a prior for each edge, negative where the
// move is not allowed; elsewhere it is null and the edges' own priors count. `may_open`: moves without a node are open.
struct Junction {
    const Node& node;
    const Link& self;
    const float* root_priors;
    bool may_open;

    float prior(int edge) const { return root_priors ? root_priors[edge] : node.edges()[edge].prior.value(); }
};

// Returns an edge; link_count stands for a first try of the next edge. -1 if there is nothing to choose.
using SelectionRule = int (*)(const Junction&, const SearchParams&);

int select_puct(const Junction& junction, const SearchParams& params);

SelectionRule selection_rule(Selection selection);

std::string_view name(Selection selection);
// Throws std::invalid_argument that lists the names there are.
Selection parse_selection(std::string_view text);

}  // namespace tengen
