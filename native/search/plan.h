// The plan of a search at its root: how many simulations will follow, and the random draws that go with them.
#pragma once

#include <array>
#include <cstdint>

#include "search/node.h"
#include "search/params.h"
#include "search/random.h"

namespace tengen {

struct RootPlan {
    std::uint32_t simulations = 0;                          // planned, those that visit a move
    bool budget_is_exact = false;                           // the caller gave the number; else it is planned_visits
    std::array<std::uint32_t, kMaxPoints + 1> before = {};  // visits of each move when the plan was made
    std::array<float, kMaxPoints + 1> gumbel = {};          // one draw for each move, for the selection rule gumbel

    // Plans `count` simulations (params.planned_visits where it is 0) from a root as it is; null for an empty tree.
    void begin(const Node* root, int count, const SearchParams& params);
    // New draws, for a new root. Takes nothing from `random` where the params need none.
    void draw(int points, const SearchParams& params, Random& random);

    // Visits of a root move since then; pending simulations count too.
    std::uint32_t since(const Node& root, int edge) const {
        if (edge >= root.edge_count) return 0;
        const EdgeStats& stats = root.edges[edge];
        return stats.visits + stats.pending - before[root.moves()[edge].point];
    }
    std::uint32_t used(const Node& root) const {
        std::uint32_t total = 0;
        for (int i = 0; i < root.edge_count; ++i) total += since(root, i);
        return total;
    }
    std::uint32_t left(const Node& root) const {
        const std::uint32_t spent = used(root);
        return spent < simulations ? simulations - spent : 0;
    }
};

}  // namespace tengen
