// Everything about a search that can be chosen. The Python twin, tengen.engine.params.SearchParams, checks the ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tengen {

// How a simulation goes down the tree; each has its name and function in select.cpp.
enum class Selection : std::uint8_t { puct, puct_alphago, puct_leela_zero, puct_darkforest, gumbel, uct, rave };

// What a move without visits is worth: the parent's mean, or the parent's own evaluation, either less a reduction that
// grows with what was tried; or a constant.
enum class FirstPlay : std::uint8_t { reduction, network, absolute };

// How positions are turned before they are evaluated: not at all, or each by one of the eight symmetries of the board,
// drawn from the search's seed and the position. What is answered is turned back.
enum class LeafSymmetry : std::uint8_t { none, random };

struct SearchParams {
    Selection selection = Selection::puct;

    // PUCT (Silver et al. 2018): score = Q + c(N) * P * sqrt(N) / (1 + n), c(N) = c_puct + c_puct_factor * log((1 + N +
    // base) / base).
    float c_puct = 1.25f;
    float c_puct_base = 19652.0f;
    float c_puct_factor = 1.0f;
    // The other forms of PUCT use c_puct alone, always for utilities in [-1, 1]: twice a constant that was published
    // for win rates in [0, 1].

    // First-play urgency: what a move without visits is worth. The reductions count times sqrt(prior mass of the
    // visited moves), the values stand for themselves.
    FirstPlay fpu = FirstPlay::reduction, root_fpu = FirstPlay::reduction;
    float fpu_reduction = 0.2f;
    float root_fpu_reduction = 0.1f;
    float fpu_value = 0.0f, root_fpu_value = 0.0f;

    // gumbel: the moves that the root considers, the scale of the draws (0: none), and the paper's constants of sigma.
    int gumbel_moves = 16;
    float gumbel_scale = 1.0f;
    float gumbel_c_visit = 50.0f;
    float gumbel_c_scale = 1.0f;

    // UCT (Kocsis and Szepesvari 2006): Q + uct_exploration * sqrt(log N / n), untried moves first. Values lie in
    // [-1, 1], so that sqrt(2) on winrates is sqrt(8) here.
    float uct_exploration = 0.5f;

    // RAVE (Gelly and Silver 2007, in the form of Pachi and Michi): the all-moves-as-first mean of a move counts like a
    // / (1 + a / rave_equivalence) visits where it has a; rave_exploration weighs the prior as c_puct does in PUCT.
    float rave_equivalence = 3500.0f;
    float rave_exploration = 2.5f;

    float virtual_loss = 1.0f;  // lost visits that a simulation under way counts for

    // puct-darkforest: width of the uniform noise on each score, and games of random result that each move starts with
    // (then without noise).
    float puct_noise = 0.0f;
    int virtual_games = 0;

    // Utility = (1 - score_weight) * value + score_weight * (2 / pi) * atan(score / score_scale): what selection
    // maximises.
    float score_weight = 0.05f;
    float score_scale = 10.0f;

    // Leaves. The value is (1 - playout_weight) * network + playout_weight * mean of `playouts` playouts by the policy
    // `playout`. A playout is worth -1 or 1, with playout_slope > 0 tanh(playout_slope / 2 * playout_decay^moves *
    // score) in its stead (the logistic of DarkForest and, with decay, of BakaGo). Priors come from the network, or
    // from a playout policy by name. Where neither value nor priors need the network, it is never asked.
    std::string priors = "network";
    std::string playout = "local";
    float playout_weight = 0.0f;
    int playouts = 0;
    float playout_slope = 0.0f;
    float playout_decay = 1.0f;

    LeafSymmetry leaf_symmetry = LeafSymmetry::none;

    // A move becomes a node of its own, with moves and an evaluation, once it has this many visits; until then each
    // visit is playouts alone.
    std::uint32_t expand_visits = 0;

    // A node keeps its best moves by prior until they have candidate_mass together, or are candidate_max (0: no
    // bound), but at least candidate_min.
    float candidate_mass = 1.0f;
    int candidate_max = 0;
    int candidate_min = 1;

    // A network's priors to the power 1 / this, in every node.
    float policy_temperature = 1.0f;

    // At the root: priors to the power 1 / temperature, then mixed with Dirichlet noise of alpha = noise_total / moves.
    float root_temperature = 1.0f;
    float noise_weight = 0.0f;
    float noise_total = 10.83f;
    float noise_shaped = 0.0f;  // share of the alphas that follows the logarithms of the priors

    // Positions that are reached by several orders of moves share a node (a graph search). See graph.h.
    bool transpositions = false;

    // A search that nobody told how many simulations it has plans this many. With stop_futile a root move that cannot
    // reach the visits that it needs to be chosen gets none, where the number of simulations is known (forms of PUCT).
    // With forced_playouts k > 0 each root move that was tried has sqrt(k * prior * visits) visits at least, which the
    // policy target leaves out again (KataGo). With merge_symmetric only one of root moves that are the same by a
    // symmetry of the position is searched.
    int planned_visits = 400;
    bool stop_futile = false;
    float forced_playouts = 0.0f;
    bool merge_symmetric = false;

    // Each simulation goes on from its new leaf to the end of the game (the AlphaGo-Zero-like 7x7 system;
    // simulate_to_end.cpp says what is counted), which comes after 2 * size * size moves where the game has no limit.
    // With puct_alphago and a network's priors and values alone.
    bool simulate_to_end = false;

    bool forbid_pass = false;  // a side passes only where nothing else is left
    bool prune_eyes = true;    // never fill an own true eye inside own pass-alive area
    // No move at a point that was beyond change at the root (settled_area of root.h), in the whole tree: nothing is
    // looked for below the root, so it costs nothing there. For counting by area.
    bool prune_pass_alive = false;
    bool ownership = false;                       // keep the mean ownership of the evaluated positions for the root
    std::size_t memory = std::size_t{512} << 20;  // bytes that the tree may take; a full tree is searched on as it is

    // The move to play: temperature > 0 draws it by visits^(1 / temperature); else the best lower confidence bound
    // among moves with lcb_share of the most visits, or plainly the most visits without lcb.
    float temperature = 0.0f;
    bool lcb = true;
    float lcb_deviations = 5.0f;
    float lcb_share = 0.15f;

    bool asks_network() const { return priors == "network" || playout_weight < 1; }
};

}  // namespace tengen
