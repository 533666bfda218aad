// The results of a network for leaves of a search, and its evaluation of the root.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tengen {

// Results for the leaves of one gather, row by row: policy [n, edge * edge + 1], or [n, edge * edge] of a network
// without a pass logit, value [n], score [n] and ownership [n, edge, edge], each for the side to move of its leaf.
// All but policy and value are empty where the network does not predict them.
struct LeafResults {
    std::span<const float> policy = {}, value = {}, score = {}, ownership = {};
    // [n] each: probability of no result, lead and standard deviation of the score in points, expected short-term
    // errors of value and score, and the rest of the game's length as KataGo's variance time.
    std::span<const float> no_result = {}, lead = {}, score_stdev = {}, value_error = {}, score_error = {},
                           time_left = {};

    // The outputs of one number a leaf that may be empty, and their names in Python.
    struct ScalarOutput {
        const char* name;
        std::span<const float> LeafResults::* column;
    };
    static const std::array<ScalarOutput, 7> kOptional;
    static constexpr std::size_t kScore = 0, kScoreStdev = 3;  // where kOptional has these

    // Throws std::logic_error unless these are the results of `rows` leaves in tensors of `edge`.
    void check(std::size_t rows, int edge) const;
    bool has_pass(int edge) const;
    // The results of `count` leaves from `first` on.
    LeafResults rows(std::size_t first, std::size_t count) const;
};

inline constexpr std::array<LeafResults::ScalarOutput, 7> LeafResults::kOptional{{
    {"score", &LeafResults::score},
    {"no_result", &LeafResults::no_result},
    {"lead", &LeafResults::lead},
    {"score_stdev", &LeafResults::score_stdev},
    {"value_error", &LeafResults::value_error},
    {"score_error", &LeafResults::score_error},
    {"time_left", &LeafResults::time_left},
}};
static_assert(LeafResults::kOptional[LeafResults::kScore].column == &LeafResults::score &&
              LeafResults::kOptional[LeafResults::kScoreStdev].column == &LeafResults::score_stdev);

// The network's own output for the root: a probability for each point and pass (without a pass logit 0), value,
// ownership by point (empty where it is not known) and the outputs of LeafResults::kOptional in their order (nothing
// where they are not known), for the side to move.
struct RootEvaluation {
    std::vector<float> policy, ownership;
    float value;
    std::array<std::optional<float>, LeafResults::kOptional.size()> optional;
};

// KataGo's mean of the outputs for one position: of probabilities, of points and of the squares of scores. An output
// that any part lacks is missing.
RootEvaluation mean_of(std::span<const RootEvaluation> parts);

}  // namespace tengen
