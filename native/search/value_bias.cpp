#include "search/value_bias.h"

#include <algorithm>

#include "board/random.h"

namespace tengen {

ValueBias* ValueBiasTable::take(std::uint64_t key) {
    if (entries_.size() >= max_entries_ && !entries_.contains(key)) return nullptr;
    ValueBias& entry = entries_[key];
    entry.key = key;
    ++entry.nodes;
    return &entry;
}

void ValueBiasTable::give(ValueBias& entry, float difference, float weight, float freed) {
    entry.difference -= freed * difference;
    entry.weight -= freed * weight;
    if (--entry.nodes == 0) entries_.erase(entry.key);
}

std::uint64_t value_bias_key(const Board& board, Color mover, Point before, Point last) {
    // The parts of a key are added, so the mover has bits of its own.
    const std::uint64_t moves = static_cast<std::uint64_t>(before) << 16 | static_cast<std::uint64_t>(last);
    std::uint64_t key = hash64(moves << 1 | static_cast<std::uint64_t>(index(mover)));
    key = hash64(key + static_cast<std::uint64_t>(board.ko() + 1));
    const int size = board.size(), row = last / size, column = last % size;
    for (int y = std::max(row - 2, 0); y <= std::min(row + 2, size - 1); ++y)
        for (int x = std::max(column - 2, 0); x <= std::min(column + 2, size - 1); ++x) {
            const auto point = static_cast<Point>(y * size + x);
            const Color color = board.at(point);
            if (color == Color::empty) continue;
            const bool atari = board.liberties(point) == 1;
            const std::uint64_t stone = static_cast<std::uint64_t>(index(color)) << 1 | atari;
            key = hash64(key + (static_cast<std::uint64_t>(point) << 4 | stone));
        }
    return key;
}

}  // namespace tengen
