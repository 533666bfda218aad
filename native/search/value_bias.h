// Subtree value bias (KataGo): positions that were reached by the same last two moves in the same surroundings share
// how far the network's utility was from what the search found below them, and correct new evaluations by it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "board/board.h"

namespace tengen {

struct ValueBias {
    double difference = 0, weight = 0;  // sums over the nodes of an entry
    std::uint64_t key = 0;
    std::uint32_t nodes = 0;

    float mean() const { return weight > 0.001 ? static_cast<float>(difference / weight) : 0; }
};

class ValueBiasTable {
  public:
    explicit ValueBiasTable(std::size_t max_entries) : max_entries_(max_entries) {}

    // The entry of a key for one more node; null where the table is full.
    ValueBias* take(std::uint64_t key);
    // A node that added these sums is gone: the share `freed` of them is forgotten.
    void give(ValueBias& entry, float difference, float weight, float freed);
    void clear() { entries_.clear(); }

  private:
    std::size_t max_entries_;
    std::unordered_map<std::uint64_t, ValueBias> entries_;
};

// The key of a position that `mover` reached by `last` on `board`, the board before it, after `before`: the two moves,
// the ko, and 5x5 points around the last with their stones and which of them are in atari. `last` is a point.
std::uint64_t value_bias_key(const Board& board, Color mover, Point before, Point last);

}  // namespace tengen
