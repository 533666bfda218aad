// The settings of a search; params.def is the table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/pass_policy.h"
#include "board/symmetry.h"

namespace tengen {

// How a simulation goes down the tree; each has its name and function in select.cpp.
enum class Selection : std::uint8_t {
    puct,
    puct_alphago,
    puct_leela_zero,
    puct_darkforest,
    puct_katago,
    gumbel,
    uct,
    rave
};

// The value of a move without visits: the parent's mean or the parent's own evaluation, either less a reduction that
// grows with what was tried; or a constant.
enum class FirstPlay : std::uint8_t { reduction, network, absolute };

// How positions are transformed before they are evaluated: not at all, or each by one of the eight symmetries of the
// board, drawn from the search's seed and the position. Results are transformed back.
enum class LeafSymmetry : std::uint8_t { none, random };

inline constexpr std::size_t kMinMemory = std::size_t{1} << 20;  // of a tree, in bytes

// The names of the choices, and of all values of a choice in order. parse() throws std::invalid_argument that lists
// them.
std::string_view name(Selection value);
std::string_view name(FirstPlay value);
std::string_view name(LeafSymmetry value);
void parse(std::string_view text, Selection& value);
void parse(std::string_view text, FirstPlay& value);
void parse(std::string_view text, LeafSymmetry& value);
std::vector<std::string> names(Selection);
std::vector<std::string> names(FirstPlay);
std::vector<std::string> names(LeafSymmetry);

struct SearchParams {
#define SEARCH_PARAM(type, name, initial, range, description) type name = initial;
#include "search/params.def"
#undef SEARCH_PARAM

    bool has_amaf() const {
        return selection == Selection::rave || (selection == Selection::puct_darkforest && rave_beta > 0);
    }
    // Whether nodes count by weights, and whether they have NodeStats for that or for their ownership.
    bool is_weighted() const { return selection == Selection::puct_katago; }
    bool has_node_stats() const { return is_weighted() || node_ownership; }
    bool uses_network() const { return priors == "network" || playout_weight < 1; }
    // Whether a move becomes a node with its first visit, for the network's value in each of its visits, and is
    // searched further after `expand_visits` of them.
    bool evaluates_before_expanding() const { return playout_weight < 1 && expand_visits > 0; }
    // Whether nodes may keep fewer moves than there are.
    bool has_candidates() const {
        return candidate_mass < 1 || candidate_mass_middle > 0 || candidate_mass_late > 0 || candidate_max > 0 ||
               candidate_share > 0 || candidate_tried < 1;
    }
    // How finished games are counted: simulations to the end take dead stones off by play.
    DeadStones dead_stones() const { return simulate_to_end ? DeadStones::none : DeadStones::pass_alive; }

    // Throws std::invalid_argument that names a setting out of range or settings that contradict each other.
    void check() const;
    // Throws std::invalid_argument for `priors` or `playout` that is no policy or no readable file of weights.
    void check_policies() const;
};

// A row of the table as text, for other languages. `type` is float, int, bool, str or choice; a float's limits include
// `max`, and `min` unless `min_excluded`.
struct ParamRow {
    std::string name, type, initial, description;
    double min, max;
    bool min_excluded, bounded;
    std::vector<std::string> choices;
};

std::vector<ParamRow> search_param_table();

}  // namespace tengen
