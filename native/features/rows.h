// Encoding of batches directly from the columns of a game store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/plane_set.h"

namespace tengen {

// Lists of one column: row i is values[offsets[i] .. offsets[i + 1]).
template <class T>
struct ListColumn {
    std::span<const T> values;
    std::span<const std::int32_t> offsets;
    std::span<const T> row(std::size_t i) const { return values.subspan(offsets[i], offsets[i + 1] - offsets[i]); }
};

// Lists of lists of one column: those of row i are lists rows[i] .. rows[i + 1). Without `rows` every row is empty.
template <class T>
struct NestedColumn {
    ListColumn<T> lists;
    std::span<const std::int32_t> rows;
    std::size_t size(std::size_t i) const { return rows.empty() ? 0 : static_cast<std::size_t>(rows[i + 1] - rows[i]); }
    std::span<const T> list(std::size_t i, std::size_t j) const {
        return j < size(i) ? lists.row(static_cast<std::size_t>(rows[i]) + j) : std::span<const T>();
    }
};

// The columns of one shard that batches need, in memory of the caller. The formats are in docs/reference/files.md.
// Unknown is NaN in komi, score and weight, -1 in winner, and an empty list in ownership and visits.
struct GameColumns {
    ListColumn<std::uint16_t> moves, black_stones, white_stones;
    ListColumn<std::uint8_t> ownership;
    NestedColumn<std::uint32_t> visits;  // a list for each move: point in the low, visits in the high 16 bits
    std::span<const std::uint8_t> size, first;
    std::span<const std::int16_t> rules;  // index into rule_sets
    std::span<const float> komi, score, weight;
    std::span<const std::int8_t> winner;
    std::array<std::span<const std::int8_t>, 2> ranks;  // by color, as in Ranks; empty if the store has none
    std::vector<Rules> rule_sets;

    std::size_t rows() const { return size.size(); }
};

inline constexpr float kUnknownKomi = 6.5f;  // used where a record has no komi

// Other rules and komi for a recorded game. People play nearly the same moves under all rule sets, so one game gives
// training examples for several: with territory scoring for area scoring and one point less komi (for the last dame),
// with the reverse, and, where the score is known, with another komi. Where the score is known, score and winner are
// changed to match. A game with other_scoring must have begun on an empty board with Black to play.
struct RulesVariant {
    bool other_scoring = false;
    float komi_shift = 0.0f;
};

// One position of a game: the position before move `ply`. At the end of the game there is no move to predict.
struct Sample {
    const GameColumns* games;
    std::int64_t row;
    int ply;
    int symmetry;
    RulesVariant variant = {};
};

// Output arrays of a batch of B samples, with the batch axis first. Planes, scalars and mask are as encode() writes
// them. All targets are for the side to move: policy [B] is the index of the move or -1, value [B] in -1..1, score [B]
// in points, ownership [B, edge, edge] with +1 for own points. NaN is unknown, and in ownership also off the board.
// weight [B] is 1 by default. The optional target [B, edge * edge + 1] has the probabilities of the move: shares of the
// recorded visits, or 1 for the move played. reply has those of the opponent's next move. Rows without a move are 0.
struct BatchArrays {
    float* planes;
    float* scalars;
    float* mask;
    std::int64_t* policy;
    float* value;
    float* score;
    float* ownership;
    float* weight;
    float* target = nullptr;
    float* reply = nullptr;
};

// The game of a sample, replayed up to its ply. Ko and suicide are not checked. Throws std::invalid_argument for a
// stone or move off the board or on a stone, and for an invalid size, rule set, komi or color to play.
Game replay(const Sample& sample);

// The position of `game`, the replay of a sample, for the side that plays the recorded move (moves need not alternate),
// or for the side to move at the end of the game.
FeatureContext context_of(const Sample& sample, const Game& game);

// Fills the arrays on `threads` threads. The result does not depend on their number, nor does the error: that of the
// first sample that has one. Throws std::invalid_argument as replay() does, for an invalid move to predict or recorded
// visit, and for an ownership that does not cover the board.
void encode_rows(const PlaneSet& set, std::span<const Sample> samples, int edge, const BatchArrays& out, int threads);

}  // namespace tengen
