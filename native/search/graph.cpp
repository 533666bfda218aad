#include "search/graph.h"

#include <algorithm>

#include "board/random.h"

namespace tengen {

std::uint64_t position_key(const Game& game) {
    const Board& board = game.board();
    // Where there is no ko, ko_color() is that of the last one.
    const int ko = board.ko() == kNoPoint ? 0 : 2 * board.ko() + 2 + index(board.ko_color());
    std::uint64_t key = hash64(board.hash() + static_cast<std::uint64_t>(index(game.to_play())));
    const auto add = [&](std::uint64_t value) { key = hash64(key + value); };
    add(static_cast<std::uint64_t>(4 * ko + std::min(game.passes(), 2)));
    for (const Color color : {Color::black, Color::white}) add(static_cast<std::uint64_t>(game.captures(color)));
    const Encore& encore = game.encore();
    if (game.move_limit() && !encore.phase) add(game.moves().size());  // how long the game still goes on
    if (encore.phase) {  // what may be played, and what the second phase counts
        add(static_cast<std::uint64_t>(encore.phase));
        add(encore.blocked.hash());
        for (const PointSet& stones : encore.first_stones) add(stones.hash());
    }
    if (game.rules().button) add(static_cast<std::uint64_t>(index(game.button()) + 1));
    return key;
}

}  // namespace tengen
