// Everything about a search that can be chosen. The Python twin, tengen.engine.search.SearchParams, checks the ranges.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tengen {

// How a simulation goes down the tree; each has its name and function in select.cpp.
enum class Selection : std::uint8_t { puct };

struct SearchParams {
    Selection selection = Selection::puct;

    // PUCT (Silver et al. 2018): score = Q + c(N) * P * sqrt(N) / (1 + n), c(N) = c_puct + c_puct_factor * log((1 + N +
    // base) / base).
    float c_puct = 1.25f;
    float c_puct_base = 19652.0f;
    float c_puct_factor = 1.0f;
    // A move without visits is worth its parent's mean less this times sqrt(prior mass of the visited moves).
    float fpu_reduction = 0.2f;
    float root_fpu_reduction = 0.1f;
    float virtual_loss = 1.0f;  // lost visits that a simulation under way counts for

    // Utility = (1 - score_weight) * value + score_weight * (2 / pi) * atan(score / score_scale): what selection
    // maximises.
    float score_weight = 0.05f;
    float score_scale = 10.0f;

    // At the root: priors to the power 1 / temperature, then mixed with Dirichlet noise of alpha = noise_total / moves.
    float root_temperature = 1.0f;
    float noise_weight = 0.0f;
    float noise_total = 10.83f;

    bool prune_eyes = true;                       // never fill an own true eye inside own pass-alive area
    bool ownership = false;                       // keep the mean ownership of the evaluated positions for the root
    std::size_t memory = std::size_t{512} << 20;  // bytes that the tree may take; a full tree is searched on as it is

    // The move to play: temperature > 0 draws it by visits^(1 / temperature); else the best lower confidence bound
    // among moves with lcb_share of the most visits, or plainly the most visits without lcb.
    float temperature = 0.0f;
    bool lcb = true;
    float lcb_deviations = 5.0f;
    float lcb_share = 0.15f;
};

}  // namespace tengen
