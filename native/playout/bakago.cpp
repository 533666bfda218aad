#include "playout/bakago.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "playout/candidates.h"
#include "playout/tactics.h"

namespace tengen {

namespace {

constexpr int kBest = 11;
constexpr int kLasts = 10;

bool on_first_line(const Board& board, Point p) {
    const int last = board.size() - 1, row = p / board.size(), column = p % board.size();
    return std::min({row, column, last - row, last - column}) == 0;
}

float closeness(const Board& board, Point p) {
    const int size = board.size(), row = p / size, column = p % size;
    const int lines =
        std::min({std::abs(row - 3), std::abs(row - (size - 4)), std::abs(column - 3), std::abs(column - (size - 4))});
    return 100 * (1 - static_cast<float>(std::min(lines, 7)) / 7);
}

float proximity(const Board& board, Point p, const RecentMoves& recent, BakagoReading reading) {
    constexpr std::array<float, 4> kBases = {100, 75, 50, 25};
    const int size = board.size();
    for (int i = 0; i < std::min<int>(kBases.size(), recent.count); ++i) {
        const Point move = recent.points[reading == BakagoReading::meant ? i : recent.count - 1 - i];
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
    Player(const Board& board, std::span<const Move> before, BakagoReading reading, SplitMix64& random)
        : board_(board),
          reading_(reading),
          random_(random),
          recent_(board, before),
          move_(static_cast<int>(before.size())) {}

    Point choose(Color color) {
        const bool published = reading_ == BakagoReading::published;
        List& list = lists_[index(color)];
        const Point p = published ? draw_as_published(list, color) : draw(list, color);
        recent_.push(board_, p);
        ++move_;
        return p;
    }

  private:
    // The best points: kBest in any order, or all of them, the best first, as published.
    struct List {
        std::array<Point, kMaxPoints> points;
        int count = 0;
        int made = 0;  // before which move
    };

    int lasts() const {
        return move_ < moves_for(board_.points(), 100) ? kLasts : move_ < moves_for(board_.points(), 200) ? 5 : 3;
    }

    // A list may hold what has become illegal or an eye since it was made.
    Point draw(List& list, Color color) {
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

    // The age is that of the list which was made last, of either color, and counts the draws that came to nothing too.
    Point draw_as_published(List& list, Color color) {
        for (;;) {
            if (age_ >= kLasts || list.count == 0) {
                refresh(list, color);
                if (list.count == 0) return board_.pass();
                age_ = 0;
            }
            const int at = static_cast<int>(random_.below(std::min(list.count, kBest)));
            const Point p = list.points[at];
            std::shift_left(list.points.begin() + at, list.points.begin() + list.count, 1);
            --list.count, ++age_;
            if (board_.at(p) == Color::empty && board_.is_legal(p, color, false)) return p;
        }
    }

    void refresh(List& list, Color color) {
        struct Scored {
            float score;
            std::uint32_t tie;
            Point point;
        };
        std::array<Scored, kMaxPoints> scored;
        int count = 0;
        board_.empty_points().for_each([&](Point p) {
            if (!is_good(board_, p, color)) return;
            scored[count++] = {bakago_score(board_, p, move_, recent_, reading_),
                               static_cast<std::uint32_t>(random_.next() >> 32), p};
        });
        const auto better = [](const Scored& a, const Scored& b) {
            return a.score != b.score ? a.score > b.score : a.tie < b.tie;
        };
        if (reading_ == BakagoReading::published) {
            list.count = count;
            std::sort(scored.begin(), scored.begin() + count, better);
        } else {
            list.count = std::min(count, kBest);
            std::nth_element(scored.begin(), scored.begin() + list.count, scored.begin() + count, better);
        }
        for (int i = 0; i < list.count; ++i) list.points[i] = scored[i].point;
        list.made = move_;
    }

    const Board& board_;
    const BakagoReading reading_;
    SplitMix64& random_;
    RecentMoves recent_;
    int move_, age_ = kLasts;
    std::array<List, 2> lists_;
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

BakagoParts bakago_parts(const Board& board, Point p, const RecentMoves& recent, BakagoReading reading) {
    BakagoParts parts;
    for (const Point n : board.neighbors(p)) {
        if (board.at(n) == Color::empty) continue;
        const int liberties = board.liberties(n);
        parts.liberty = std::max(parts.liberty, static_cast<float>(20 * (6 - liberties)));
        if (liberties == 1) parts.atari = 100;
    }
    parts.proximity = proximity(board, p, recent, reading);
    return parts;
}

float bakago_score(const Board& board, Point p, int move, const RecentMoves& recent, BakagoReading reading) {
    const BakagoParts parts = bakago_parts(board, p, recent, reading);
    const float sum = parts.liberty + parts.atari + parts.proximity;
    const float score = 5.0f + (on_first_line(board, p) ? 0.0f : 10.0f) + 0.2f * sum;
    const int opening = moves_for(board.points(), 30);
    if (move < opening) {
        const float played = static_cast<float>(move) / static_cast<float>(opening);
        return score + 0.25f * (played * sum / 3 + (1 - played) * closeness(board, p));
    }
    if (move <= moves_for(board.points(), 190)) return score + 0.25f * sum / 3;
    return score + 0.125f * (parts.liberty + parts.atari) + (touches_both(board, p) ? 50.0f : 0.0f);
}

int BakagoPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                       PlayoutTrace* trace) const {
    Player player(board, before, reading_, random);
    const int limit = moves_for(board.points(), 400) - static_cast<int>(before.size());
    if (reading_ == BakagoReading::meant)
        return play_moves(board, to_play, trace, limit, [&](Color color) { return player.choose(color); });
    int moves = 0;
    for (Color color = to_play; moves <= limit; color = opponent(color), ++moves) {
        const Point p = player.choose(color);
        if (p == board.pass()) break;
        board.play(p, color);
        if (trace) trace->note(p, color);
    }
    return moves;
}

void BakagoPolicy::weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                         std::span<float> weights) const {
    const RecentMoves recent(board, before);
    const auto move = static_cast<int>(before.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
        const Point p = moves[i];
        const bool good = p != board.pass() && is_good(board, p, to_play);
        weights[i] = good ? bakago_score(board, p, move, recent, reading_) : 1;
    }
}

std::array<PointSet, 2> BakagoPolicy::area(const Board& board) const {
    std::array<PointSet, 2> area = {board.stones(Color::black), board.stones(Color::white)};
    const std::array<PointSet, 2> stones = area;
    board.empty_points().for_each([&](Point p) {
        const PointSet& around = board.table().neighbor_sets[p];
        const bool black = around.intersects(stones[0]), white = around.intersects(stones[1]);
        if (black != white) area[black ? 0 : 1].add(p);
    });
    return area;
}

}  // namespace tengen
