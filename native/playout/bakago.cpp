#include "playout/bakago.h"

#include <algorithm>
#include <utility>

#include "playout/candidates.h"
#include "playout/tactics.h"

namespace tengen {

namespace {

constexpr int kBest = 11;

// From the edge, which is 1.
int line_of(const Board& board, Point p) {
    const int size = board.size(), row = p / size, column = p % size;
    return 1 + std::min({row, column, size - 1 - row, size - 1 - column});
}

float proximity(const Board& board, Point p, const RecentMoves& recent, BakagoQueue queue) {
    constexpr std::array<float, 4> kBases = {100, 75, 50, 25};
    const int size = board.size();
    for (int i = 0; i < std::min<int>(kBases.size(), recent.count); ++i) {
        const Point move = recent.points[queue == BakagoQueue::newest ? i : recent.count - 1 - i];
        if (move == kNoPoint) continue;
        const int down = p / size - move / size, right = p % size - move % size;
        const int distance = down * down + right * right;
        if (distance <= 18) return kBases[i] * static_cast<float>(36 - distance) / 36;
    }
    return 0;
}

bool touches_both(const Board& board, Point p) {
    const PointSet& around = board.table().neighbor_sets[p];
    return around.intersects(board.stones(Color::black)) && around.intersects(board.stones(Color::white));
}

bool is_good(const Board& board, Point p, Color color) {
    return is_playable(board, p, color) && !is_plain_self_atari(board, p, color);
}

// The moves of one playout.
class Player {
  public:
    Player(const Board& board, std::span<const Move> before, BakagoQueue queue, SplitMix64& random)
        : board_(board),
          queue_(queue),
          random_(random),
          recent_(board, before),
          move_(static_cast<int>(before.size())) {}

    Point choose(Color color) {
        const Point p = draw(lists_[index(color)], color);
        recent_.push(board_, p);
        ++move_;
        return p;
    }

  private:
    struct Best {
        std::array<Point, kBest> points;
        int count = 0;
        int made = 0;  // before which move
    };

    int lasts() const {
        return move_ < moves_for(board_.points(), 100) ? 10 : move_ < moves_for(board_.points(), 200) ? 5 : 3;
    }

    // A list may hold what has become illegal or an eye since it was made.
    Point draw(Best& list, Color color) {
        if (move_ - list.made >= lasts()) list.count = 0;
        for (bool fresh = false;; fresh = true) {
            while (list.count) {
                const auto at = random_.below(static_cast<std::uint32_t>(list.count));
                const Point p = std::exchange(list.points[at], list.points[list.count - 1]);
                --list.count;
                if (is_playable(board_, p, color)) return p;
            }
            if (fresh) return board_.pass();
            refresh(list, color);
        }
    }

    void refresh(Best& list, Color color) {
        struct Scored {
            float score;
            std::uint32_t tie;
            Point point;
        };
        std::array<Scored, kMaxPoints> scored;
        int count = 0;
        board_.empty_points().for_each([&](Point p) {
            if (!is_good(board_, p, color)) return;
            scored[count++] = {bakago_score(board_, p, move_, recent_, queue_),
                               static_cast<std::uint32_t>(random_.next() >> 32), p};
        });
        list.count = std::min(count, kBest);
        std::nth_element(
            scored.begin(), scored.begin() + list.count, scored.begin() + count,
            [](const Scored& a, const Scored& b) { return a.score != b.score ? a.score > b.score : a.tie < b.tie; });
        for (int i = 0; i < list.count; ++i) list.points[i] = scored[i].point;
        list.made = move_;
    }

    const Board& board_;
    const BakagoQueue queue_;
    SplitMix64& random_;
    RecentMoves recent_;
    int move_;
    std::array<Best, 2> lists_;
};

}  // namespace

RecentMoves::RecentMoves(const Board& board, std::span<const Move> before) : RecentMoves() {
    const auto last = before.last(std::min(before.size(), points.size()));
    for (const Move& move : last) push(board, move.point);
}

void RecentMoves::push(const Board& board, Point p) {
    std::shift_right(points.begin(), points.end(), 1);
    points[0] = p == board.pass() ? kNoPoint : p;
    count = std::min<int>(count + 1, points.size());
}

BakagoParts bakago_parts(const Board& board, Point p, const RecentMoves& recent, BakagoQueue queue) {
    BakagoParts parts;
    for (const Point n : board.neighbors(p)) {
        if (board.at(n) == Color::empty) continue;
        const int liberties = board.liberties(n);
        parts.liberty = std::max(parts.liberty, static_cast<float>(20 * (6 - liberties)));
        if (liberties == 1) parts.atari = 100;
    }
    parts.proximity = proximity(board, p, recent, queue);
    return parts;
}

float bakago_score(const Board& board, Point p, int move, const RecentMoves& recent, BakagoQueue queue) {
    const BakagoParts parts = bakago_parts(board, p, recent, queue);
    const int line = line_of(board, p);
    const float sum = parts.liberty + parts.atari + parts.proximity;
    const float score = 5.0f + (line > 1 ? 10.0f : 0.0f) + 0.2f * sum;
    const int opening = moves_for(board.points(), 30);
    if (move < opening) {
        const float played = static_cast<float>(move) / static_cast<float>(opening);
        const auto closeness = static_cast<float>(std::max(0, 100 - 25 * std::abs(line - 4)));
        return score + 0.25f * (played * sum / 3 + (1 - played) * closeness);
    }
    if (move < moves_for(board.points(), 190)) return score + 0.25f * sum / 3;
    return score + 0.125f * (parts.liberty + parts.atari) + (touches_both(board, p) ? 50.0f : 0.0f);
}

int BakagoPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                       PlayoutTrace* trace) const {
    Player player(board, before, queue_, random);
    const int limit = moves_for(board.points(), 400) - static_cast<int>(before.size());
    return play_moves(board, to_play, trace, limit, [&](Color color) { return player.choose(color); });
}

void BakagoPolicy::weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                         std::span<float> weights) const {
    const RecentMoves recent(board, before);
    const auto move = static_cast<int>(before.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
        const Point p = moves[i];
        const bool good = p != board.pass() && is_good(board, p, to_play);
        weights[i] = good ? bakago_score(board, p, move, recent, queue_) : 1;
    }
}

}  // namespace tengen
