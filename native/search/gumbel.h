// Gumbel AlphaZero (Danihelka, Guez, Schrittwieser and Silver 2022, "Policy improvement by planning with Gumbel").
//
// At the root sequential halving: of the best `gumbel_moves` moves by g + logit, g a Gumbel draw for each move, the
// better half by g + logit + sigma(q) stays after each round, until the planned simulations are used. Below the root
// the move whose share of the visits lags most behind the improved policy softmax(logit + sigma(q)). Here q is the mean
// utility as a number in 0..1, sigma(q) = (gumbel_c_visit + maximum visits of a move) * gumbel_c_scale * q, and moves
// without visits have the mix of the node's own value and the means of the others that the paper calls v_mix.
#pragma once

#include <cstdint>
#include <vector>

#include "search/select.h"

namespace tengen {

int select_gumbel(const SelectionContext& context, const SearchParams& params);

// The survivor to play: of the moves with the maximum visits since the plan was made, the best by g + logit + sigma(q).
// -1 if none has one.
int gumbel_choice(const SelectionContext& root, const SearchParams& params);

// softmax(logit + sigma(q)) over all edges that are allowed: the policy that the search recommends.
std::vector<float> improved_policy(const SelectionContext& context, const SearchParams& params);

// Sequential halving as a schedule: how many visits the move has that simulation t (from 0 on) visits, with m moves at
// the start and n simulations planned. Each round gives every survivor max(1, floor(n / (ceil(log2 m) * survivors)))
// visits; the last two survivors share all that is left, beyond n too.
std::uint32_t halving_visits(std::uint32_t m, std::uint32_t n, std::uint32_t t);

}  // namespace tengen
