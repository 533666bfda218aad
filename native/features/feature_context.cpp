#include "features/feature_context.h"

#include <algorithm>

namespace tengen {

const PointSet& FeatureContext::with_liberties(Color color, int liberties) {
    if (!liberties_) {
        liberties_.emplace();
        for (const Color c : {Color::black, Color::white})
            board.stones(c).for_each(
                [&](Point p) { liberties_->stones[index(c)][std::min(board.liberties(p), kLiberties) - 1].add(p); });
    }
    return liberties_->stones[index(color)][liberties - 1];
}

PointSet FeatureContext::with_at_least(Color color, int liberties) {
    PointSet fewer;
    for (int n = 1; n < liberties; ++n) fewer |= with_liberties(color, n);
    return board.stones(color).minus(fewer);
}

const MoveEffects& FeatureContext::effects() {
    if (effects_) return *effects_;
    effects_.emplace();
    const PointSet &empty = board.empty_points(), &in_atari = with_liberties(other, 1), strong = with_at_least(own, 4);
    empty.minus(ko_bans()).for_each([&](Point p) {
        // Most moves keep three or more liberties and capture nothing. A few set operations find these.
        const PointSet& around = board.table().neighbor_sets[p];
        if (!around.intersects(in_atari) && (around.intersects(strong) || (around & empty).count() >= 3)) return;
        if (!board.is_legal(p, own, game.rules().suicide)) return;
        if (const int captured = board.capture_size(p, own))
            (captured == 1 ? effects_->captures_one : effects_->captures_more).add(p);
        const int liberties = board.liberties_after(p, own);
        if (liberties == 1) effects_->leaves_one.add(p);
        if (liberties == 2) effects_->leaves_two.add(p);
    });
    return *effects_;
}

const PointSet& FeatureContext::ko_bans() {
    if (ko_bans_) return *ko_bans_;
    ko_bans_.emplace();
    if (own == game.to_play()) *ko_bans_ = game.superko_bans();
    if (board.ko() != kNoPoint && board.ko_color() == own) ko_bans_->add(board.ko());
    return *ko_bans_;
}

const Ladders& FeatureContext::ladders() {
    if (!ladders_) {
        // The reader plays on a copy. An assignment takes only what a board of that size uses; a new board takes all.
        thread_local Board copy(kMinSize);
        copy = board;
        ladders_ = read_ladders(copy, own);
        ladders_->captures = ladders_->captures.minus(ko_bans());
        ladders_->escapes = ladders_->escapes.minus(ko_bans());
    }
    return *ladders_;
}

const PassAlive& FeatureContext::pass_alive_of(Color color) {
    auto& slot = alive_[index(color)];
    if (!slot) slot = pass_alive(board, color, game.rules().suicide);
    return *slot;
}

const Move* FeatureContext::last(int back) const {
    const auto& moves = game.moves();
    return back <= static_cast<int>(moves.size()) ? &moves[moves.size() - back] : nullptr;
}

PointSet FeatureContext::recent(int back) const {
    PointSet found;
    if (const Move* move = last(back); move && move->point != board.pass()) found.add(move->point);
    return found;
}

bool FeatureContext::was_pass(int back) const {
    const Move* move = last(back);
    return move && move->point == board.pass();
}

// Calls visit(board, back) for every position of the game from `oldest` to 1 moves ago, the oldest first.
template <class F>
void FeatureContext::replay(int oldest, F visit) const {
    Board past(board.size());
    for (const Move& stone : game.setup_stones()) past.place(stone.point, stone.color);
    const auto& moves = game.moves();
    for (int back = static_cast<int>(moves.size()); back > 0; --back) {
        if (back <= oldest) visit(past, back);
        if (back > 1) past.play(moves[moves.size() - back].point, moves[moves.size() - back].color);
    }
}

const PointSet& FeatureContext::laddered(Color color, int back) {
    if (back == 0) return ladders().stones[index(color)];
    if (!past_laddered_) {
        past_laddered_.emplace();
        // The reader restores the board that it plays on.
        replay(kPastLadders,
               [&](Board& past, int ago) { (*past_laddered_)[ago - 1] = read_ladders(past, last(ago)->color).stones; });
    }
    return (*past_laddered_)[back - 1][index(color)];
}

const std::array<std::int16_t, kMaxPoints>& FeatureContext::last_played() {
    if (!last_played_) {
        last_played_.emplace();
        std::int16_t number = 0;
        for (const Move& move : game.moves()) {
            ++number;
            if (move.point != board.pass()) (*last_played_)[move.point] = number;
        }
    }
    return *last_played_;
}

float FeatureContext::self_komi() const {
    const float white = game.komi() + game.white_bonus();
    return own == Color::white ? white : -white;
}

}  // namespace tengen
