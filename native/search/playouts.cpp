#include "search/playouts.h"

#include <cmath>

#include "board/score.h"

namespace tengen {

namespace {

// Black's stones minus White's that were ever put on the board, handicap and setup included.
int stones_played(const Game& game) {
    const Board& board = game.board();
    return board.stones(Color::black).count() + game.captures(Color::white) - board.stones(Color::white).count() -
           game.captures(Color::black);
}

}  // namespace

LeafPlayouts::LeafPlayouts(const SearchParams& params, std::uint64_t seed)
    : slope_(params.playout_slope),
      decay_(params.playout_decay),
      policy_(playout_policy(params.playout, params.playout_temperature)),
      random_(seed),
      board_(kMinSize),
      ends_(params.playouts) {}

void LeafPlayouts::shuffle(std::span<Point> moves) {
    for (std::size_t left = moves.size(); left > 1; --left)
        std::swap(moves[left - 1], moves[random_.below(static_cast<std::uint32_t>(left))]);
}

Outcome LeafPlayouts::play(const Game& leaf) {
    Outcome mean{0, 0};
    for (PlayoutResult& end : ends_) {
        play_one(leaf, end);
        mean.value += end.black.value;
        mean.score += end.black.score;
    }
    const float scale = (leaf.to_play() == Color::black ? 1.0f : -1.0f) / static_cast<float>(ends_.size());
    return {mean.value * scale, mean.score * scale};
}

// Under territory scoring each stone that was played costs a point of the area, so that moves into own territory in
// the playout do not matter.
void LeafPlayouts::play_one(const Game& leaf, PlayoutResult& end) {
    board_ = leaf.board();
    end.trace.clear();
    const int moves = policy_->play(board_, leaf.to_play(), leaf.moves(), random_, &end.trace);
    end.area = policy_->area(board_);
    int points = end.area[0].count() - end.area[1].count();
    if (leaf.rules().tax == Tax::all) points -= group_tax(board_, end.area, board_.empty_points());
    if (leaf.rules().scoring == Scoring::territory)
        points -= stones_played(leaf) + end.trace.stones[0] - end.trace.stones[1];
    const float score = static_cast<float>(points) - leaf.white_compensation();
    const float lead = score - added_komi_;
    const float win = lead > 0 ? 1.0f : lead < 0 ? -1.0f : 0.0f;
    const float soft = slope_ / 2 * std::pow(decay_, static_cast<float>(moves)) * lead;
    end.black = {slope_ > 0 ? std::tanh(soft) : win, score};
}

}  // namespace tengen
