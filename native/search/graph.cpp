#include "search/graph.h"

#include <algorithm>

#include "board/random.h"

namespace tengen {

namespace {

std::uint64_t mix(std::uint64_t value) { return SplitMix64(value).next(); }

int stones_on(const Board& board) { return board.stones(Color::black).count() + board.stones(Color::white).count(); }

}  // namespace

PositionKeys::PositionKeys(const Game& root) : count_(stones_on(root.board())) { follow(root); }

void PositionKeys::follow(const Game& game) {
    const Board& board = game.board();
    const int count = stones_on(board);
    const bool moved = !game.moves().empty() && game.moves().back().point != board.pass();
    if (line_ && moved && count != count_ + 1) captured_ = true;
    count_ = count;
    const auto ko = static_cast<std::uint64_t>(board.ko() + 1) * 4 + static_cast<std::uint64_t>(board.ko_color());
    state_ = mix(board.hash() + static_cast<std::uint64_t>(index(game.to_play()))) ^
             mix(ko * 4 + static_cast<std::uint64_t>(std::min(game.passes(), 2)));
    // How long the game still goes on. Not by xor: two moves on and two passes would cancel each other.
    if (game.move_limit() && !game.encore().phase) state_ = mix(state_ + game.moves().size());
    const Encore& encore = game.encore();
    if (encore.phase) {  // what may be played, and what the second phase counts
        state_ = mix(state_ + static_cast<std::uint64_t>(encore.phase)) ^ mix(encore.blocked.hash());
        if (encore.phase == 2) state_ ^= mix(encore.first_stones[0].hash() ^ mix(encore.first_stones[1].hash()));
    }
    if (game.rules().button) state_ = mix(state_ ^ static_cast<std::uint64_t>(index(game.button()) + 1));
    line_ += mix(state_);  // a sum: each time that a position is met counts
}

std::uint64_t PositionKeys::key() const { return captured_ ? state_ ^ mix(line_) : state_; }

}  // namespace tengen
