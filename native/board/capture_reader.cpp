#include "board/capture_reader.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "board/score.h"

namespace tengen {

namespace {

constexpr int kLongestLine = 80, kMaxMoves = 64;
constexpr int kSmallestEye = 2;  // stones: what a captured chain leaves is no ko

class Reader {
  public:
    Reader(const Board& board, Point stone, const PointSet& area, int nodes)
        : board_(board), area_(area), defender_(board.at(stone)), attacker_(opponent(defender_)), left_(nodes) {
        board.for_each_stone(stone, [&](Point s) { chain_.add(s); });
        start_ = margin();
        outer_ = board.stones(defender_).minus(area);
    }

    bool captures() { return attack(attacker_, 0); }

  private:
    // Does the attacker succeed, with this side to move after so many passes?
    bool attack(Color to_play, int passes) {
        if (passes == 2) return is_success();
        if (to_play == attacker_ && is_connected()) return false;
        if (--left_ < 0) return true;
        Board::Undo lifted;
        const bool retakes = to_play == attacker_ && board_.ko() != kNoPoint;
        if (retakes) board_.play(board_.pass(), to_play, lifted);
        const std::uint64_t key = position_key(to_play, passes);
        bool success = false;
        if (const auto known = known_.find(key); known != known_.end()) {
            success = known->second;
        } else if (static_cast<int>(line_.size()) >= kLongestLine || std::ranges::find(line_, key) != line_.end()) {
            success = true;
        } else {
            line_.push_back(key);
            success = to_play == attacker_ ? attacker_succeeds(passes) : !defender_succeeds(passes);
            line_.pop_back();
            if (left_ >= 0) known_.emplace(key, success);
        }
        if (retakes) board_.undo(lifted);
        return success;
    }

    bool attacker_succeeds(int passes) {
        if (passes && attack(defender_, passes + 1)) return true;
        return any_move(attacker_, [&] { return attack(defender_, 0); }) || (!passes && attack(defender_, 1));
    }

    bool defender_succeeds(int passes) {
        return !attack(attacker_, passes + 1) || any_move(defender_, [&] { return !attack(attacker_, 0); });
    }

    // Whether some move of the color makes `works` true; captures are tried first, then what leaves most liberties.
    template <class F>
    bool any_move(Color color, F works) {
        struct Move {
            Point point;
            int worth;
        };
        std::array<Move, kMaxMoves> moves;
        int count = 0;
        (area_ & board_.empty_points()).for_each([&](Point p) {
            if (count == kMaxMoves || !board_.is_legal(p, color, false) || board_.is_true_eye(p, color)) return;
            moves[count++] = {p, 8 * board_.capture_size(p, color) + board_.liberties_after(p, color)};
        });
        std::sort(moves.begin(), moves.begin() + count, [](const Move& a, const Move& b) { return a.worth > b.worth; });
        for (int i = 0; i < count && left_ >= 0; ++i) {
            Board::Undo record;
            const bool large = board_.capture_size(moves[i].point, color) >= kSmallestEye;
            board_.play(moves[i].point, color, record);
            const bool found = (large && lives_by_capture(moves[i].point, color)) || works();
            board_.undo(record);
            if (found) return true;
        }
        return false;
    }

    // Whether the space of what the move just captured settles the fight: it has room for two eyes, or is the second
    // eye of the chain.
    bool lives_by_capture(Point p, Color color) const {
        PointSet space = board_.table().neighbor_sets[p] & board_.empty_points(), border;
        space = region_of(board_.table(), board_.empty_points(), space.first());
        space.for_each([&](Point s) { border |= board_.table().neighbor_sets[s]; });
        if (border.intersects(board_.stones(opponent(color)))) return false;
        const bool is_large = !is_killing_shape(board_.table(), space);
        if (color == attacker_) return is_large && !chain_.intersects(board_.stones(defender_));
        const PointSet beside = border & chain_ & board_.stones(defender_);
        return !beside.empty() && (is_large || has_eye(beside.first(), space));
    }

    // Whether the chain of a stone alone surrounds empty points outside the space.
    bool has_eye(Point stone, const PointSet& space) const {
        PointSet chain;
        board_.for_each_stone(stone, [&](Point s) { chain.add(s); });
        for (PointSet rest = board_.liberty_set(stone).minus(space); !rest.empty();) {
            const PointSet region = region_of(board_.table(), board_.table().all.minus(chain), rest.first());
            if (region.minus(board_.empty_points()).empty()) return true;
            rest = rest.minus(region);
        }
        return false;
    }

    bool is_success() const {
        const auto [lost, kept] = shares();
        return chain_.minus(lost).empty() && lost.count() - kept.count() > start_;
    }

    // Whether what is left of the chain is part of a group that lives outside.
    bool is_connected() const {
        bool found = false;
        (chain_ & board_.stones(defender_)).for_each([&](Point s) {
            if (!found) board_.for_each_stone(s, [&](Point t) { found |= outer_.contains(t); });
        });
        return found;
    }

    int margin() const {
        const auto [lost, kept] = shares();
        return lost.count() - kept.count();
    }

    // What the attacker and the defender have of the area if the game ends now.
    std::pair<PointSet, PointSet> shares() const {
        PointSet lost = area_ & board_.stones(attacker_), kept = area_ & board_.stones(defender_);
        for (PointSet rest = area_ & board_.empty_points(); !rest.empty();) {
            PointSet region, border, fresh;
            for (fresh.add(rest.first()); !fresh.empty();) {
                region |= fresh;
                PointSet beside;
                fresh.for_each([&](Point p) { beside |= board_.table().neighbor_sets[p]; });
                border |= beside;
                fresh = (beside & board_.empty_points()).minus(region);
            }
            const bool attacked = border.intersects(board_.stones(attacker_)),
                       defended = border.intersects(board_.stones(defender_));
            if (attacked != defended) (attacked ? lost : kept) |= region & area_;
            rest = rest.minus(region);
        }
        return {lost, kept};
    }

    std::uint64_t position_key(Color to_play, int passes) const {
        const auto state = static_cast<std::uint64_t>((board_.ko() + 1) * 4 + passes * 2 + index(to_play));
        return board_.hash() ^ state * 0x9e3779b97f4a7c15;  // any odd constant
    }

    Board board_;
    const PointSet area_;
    const Color defender_, attacker_;
    PointSet chain_, outer_;
    int start_ = 0, left_;
    std::unordered_map<std::uint64_t, bool> known_;
    std::vector<std::uint64_t> line_;
};

}  // namespace

bool is_killing_shape(const Geometry& table, const PointSet& shape) {
    int ends = 0, most = 0;
    shape.for_each([&](Point p) {
        const int beside = (table.neighbor_sets[p] & shape).count();
        ends += beside;
        most = std::max(most, beside);
    });
    const int points = shape.count(), links = ends / 2;
    switch (points) {
        case 4:
            return most == 3 || links == 4;  // pyramid, square
        case 5:
            return most == 4 || (most == 3 && links == 5);  // cross, bulky five
        case 6:
            return most == 4 && links == 6;  // rabbity six
        default:
            return points < 4;
    }
}

bool cannot_be_captured(const Board& board, Point stone, const PointSet& area, int nodes) {
    return !Reader(board, stone, area, nodes).captures();
}

}  // namespace tengen
