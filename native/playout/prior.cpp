#include "playout/prior.h"

#include <algorithm>
#include <cstdlib>

#include "playout/patterns.h"
#include "playout/tactics.h"

namespace tengen {

namespace {

// The points next to `from`, a chain at a time: what two chains or points have between them is one step, and all
// stones of a chain lie at the same place (the common fate graph of Graepel et al. 2001).
PointSet step(const Board& board, const PointSet& from) {
    PointSet reached = from;
    from.for_each([&](Point p) {
        for (const Point n : board.neighbors(p)) {
            if (reached.contains(n)) continue;
            if (board.at(n) == Color::empty)
                reached.add(n);
            else
                board.for_each_stone(n, [&](Point s) { reached.add(s); });
        }
    });
    return reached;
}

}  // namespace

LocalPrior::LocalPrior(const Board& board, Color color, std::span<const Move> before)
    : board_(board), color_(color), around_(neighborhoods(board.size())) {
    read_chains();
    const Point last = before.empty() ? kNoPoint : before.back().point;
    if (last == kNoPoint || last == board.pass()) return;
    PointSet reached;
    if (board.at(last) == Color::empty)
        reached.add(last);
    else
        board.for_each_stone(last, [&](Point s) { reached.add(s); });
    for (PointSet& near : near_) near = reached = step(board, reached);
    for (const Point p : around_.points(last)) beside_last_.add(p);
    if (board.at(last) == opponent(color) && in_atari(board, last)) capture_last_ = last_liberty(board, last);
}

// Where own chains in atari can be saved, and where a chain of two liberties can be put into atari.
void LocalPrior::read_chains() {
    Board copy = board_;  // add_saves() reads on it
    for (const Color color : {Color::black, Color::white}) {
        board_.stones(color).for_each([&](Point p) {
            if (board_.chain(p) != p) return;
            const int liberties = board_.liberties(p);
            if (color == color_ && liberties == 1) {
                Choices saves;
                add_saves(copy, p, 100, saves);
                for (int i = 0; i < saves.size(); ++i) saves_.add(saves[i]);
            } else if (color != color_ && liberties == 2) {
                ataris_ |= board_.liberty_set(p);
            }
        });
    }
}

float LocalPrior::weight(Point p) const {
    if (p == board_.pass()) return weights_.pass;
    if (board_.is_true_eye(p, color_)) return weights_.eye;
    float weight = 1;
    const int captured = board_.capture_size(p, color_);
    if (captured) weight *= captured == 1 ? weights_.capture : weights_.big_capture;
    if (p == capture_last_) weight *= weights_.capture_last;
    if (saves_.contains(p)) weight *= weights_.save;
    if (ataris_.contains(p)) weight *= weights_.atari;
    if (!captured && is_self_atari(board_, p, color_)) weight *= weights_.self_atari;
    if (beside_last_.contains(p) && matches_3x3(around_.code(board_, p), color_)) weight *= weights_.pattern;
    for (std::size_t i = 0; i < near_.size(); ++i) {
        if (!near_[i].contains(p)) continue;
        weight *= weights_.near[i];
        break;
    }
    return weight * region(p);
}

// What the line means where no stone is near.
float LocalPrior::region(Point p) const {
    const int size = board_.size(), row = p / size, column = p % size;
    const int line = std::min({row, column, size - 1 - row, size - 1 - column});
    if (line > 3) return 1;
    const int reach = 3;
    for (int r = std::max(row - reach, 0); r <= std::min(row + reach, size - 1); ++r) {
        const int width = reach - std::abs(r - row);
        for (int c = std::max(column - width, 0); c <= std::min(column + width, size - 1); ++c)
            if (board_.at(static_cast<Point>(r * size + c)) != Color::empty) return 1;
    }
    return line < 2 ? weights_.empty_low : weights_.empty_high;
}

}  // namespace tengen
