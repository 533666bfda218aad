#include "playout/prior.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "playout/patterns.h"
#include "playout/tactics.h"

namespace tengen {

namespace {

constexpr int kPriorLadderNodes = 100;

// Adds what touches the points of `edge` to `reached`, a chain at a time: all stones of a chain lie at the same place
// (the common fate graph of Graepel et al. 2001). Returns what was added.
PointSet step(const Board& board, PointSet& reached, const PointSet& edge) {
    PointSet added;
    edge.for_each([&](Point p) { added |= board.table().neighbor_sets[p]; });
    added = added.minus(reached);
    const PointSet stones = added.minus(board.empty_points());
    stones.for_each([&](Point p) {
        if (!reached.contains(p))
            board.for_each_stone(p, [&](Point s) {
                reached.add(s);
                added.add(s);
            });
    });
    reached |= added;
    return added;
}

}  // namespace

LocalPrior::LocalPrior(const Board& board, Color color, std::span<const Move> before)
    : board_(board), color_(color), around_(neighborhoods(board.size())) {
    read_chains();
    const Point last = before.empty() ? kNoPoint : before.back().point;
    if (last == kNoPoint || last == board.pass()) return;
    PointSet reached, edge;
    edge.add(last);
    if (board.at(last) != Color::empty) board.for_each_stone(last, [&](Point s) { edge.add(s); });
    reached = edge;
    for (PointSet& steps : steps_) steps = edge = step(board, reached, edge);
    for (const Point p : around_.points(last)) beside_last_.add(p);
    if (board.at(last) == opponent(color) && in_atari(board, last)) capture_last_ = last_liberty(board, last);
}

// Where the other side's chains can be captured or put into atari, and own ones saved.
void LocalPrior::read_chains() {
    std::optional<Board> copy;  // add_saves() reads on it
    board_.stones(opponent(color_)).for_each([&](Point p) {
        if (board_.chain(p) != p) return;
        const int liberties = board_.liberties(p);
        if (liberties == 1) captures_ |= board_.liberty_set(p);
        if (liberties == 2) ataris_ |= board_.liberty_set(p);
    });
    board_.stones(color_).for_each([&](Point p) {
        if (board_.chain(p) != p || !in_atari(board_, p)) return;
        if (!copy) copy = board_;
        Choices saves;
        add_saves(*copy, p, kPriorLadderNodes, saves);
        for (int i = 0; i < saves.size(); ++i) saves_.add(saves[i]);
    });
}

float LocalPrior::weight(Point p) const {
    if (p == board_.pass()) return weights_.pass;
    if (board_.is_true_eye(p, color_)) return weights_.eye;
    float weight = 1;
    if (captures_.contains(p))
        weight *= board_.capture_size(p, color_) == 1 ? weights_.capture : weights_.big_capture;
    else if (is_self_atari(board_, p, color_))
        weight *= weights_.self_atari;
    if (p == capture_last_) weight *= weights_.capture_last;
    if (saves_.contains(p)) weight *= weights_.save;
    if (ataris_.contains(p)) weight *= weights_.atari;
    if (beside_last_.contains(p) && matches_3x3(around_.code(board_, p), color_)) weight *= weights_.pattern;
    for (std::size_t i = 0; i < steps_.size(); ++i)
        if (steps_[i].contains(p)) weight *= weights_.near[i];
    return weight * region(p);
}

// What the line means where no stone is near.
float LocalPrior::region(Point p) const {
    const int size = board_.size(), row = p / size, column = p % size;
    const int line = std::min({row, column, size - 1 - row, size - 1 - column});
    if (line > 3 || !board_.table().neighbor_sets[p].minus(board_.empty_points()).empty()) return 1;
    constexpr int reach = 3;
    for (int r = std::max(row - reach, 0); r <= std::min(row + reach, size - 1); ++r) {
        const int width = reach - std::abs(r - row);
        for (int c = std::max(column - width, 0); c <= std::min(column + width, size - 1); ++c)
            if (board_.at(static_cast<Point>(r * size + c)) != Color::empty) return 1;
    }
    return line < 2 ? weights_.empty_low : weights_.empty_high;
}

}  // namespace tengen
