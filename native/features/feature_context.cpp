#include "features/feature_context.h"

#include <algorithm>

#include "board/pass_policy.h"

namespace tengen {

const PointSet& FeatureContext::with_liberties(Color color, int liberties) {
    if (!liberties_) {
        liberties_.emplace();
        std::array<std::uint8_t, kMaxPoints> number;  // of the liberties of each chain, at its representative, less one
        for (const Color c : {Color::black, Color::white}) {
            board.stones(c).for_each([&](Point p) {
                if (board.chain(p) == p) number[p] = std::min(board.liberties(p), kLiberties) - 1;
            });
            board.stones(c).for_each([&](Point p) { liberties_->stones[index(c)][number[board.chain(p)]].add(p); });
        }
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
    const PointSet& in_atari = with_liberties(other, 1);
    const auto add = [](auto& sets, int at, Point p) { sets[std::min(at, static_cast<int>(sets.size()) - 1)].add(p); };
    board.empty_points().minus(ko_bans()).for_each([&](Point p) {
        int captured = 0, liberties = 0;
        bool joins = false, takes = false;
        for (const Point n : board.neighbors(p)) {
            liberties += board.at(n) == Color::empty;
            joins |= board.at(n) == own;
            takes |= in_atari.contains(n);
        }
        if (takes) {
            captured = board.capture_size(p, own);
            liberties = board.liberties_after(p, own);
        } else if (joins) {
            PointSet found = board.table().neighbor_sets[p] & board.empty_points();
            for (const Point n : board.neighbors(p))
                if (board.at(n) == own) found |= board.liberty_set(n);
            liberties = found.count() - 1;  // p is no liberty any longer
        }
        if (!liberties && !(joins && game.rules().suicide)) return;
        effects_->legal.add(p);
        add(effects_->captures, captured, p);
        if (liberties) add(effects_->liberties, liberties - 1, p);
        if (liberties == 1) add(effects_->self_ataris, board.chain_size_after(p, own) - 1, p);
    });
    return *effects_;
}

PointSet FeatureContext::capturing_at_least(int stones) {
    PointSet fewer;
    for (int n = 0; n < stones; ++n) fewer |= effects().captures[n];
    return effects().legal.minus(fewer);
}

PointSet FeatureContext::sensible() { return effects().legal.minus(true_eyes(board, own)); }

const PointSet& FeatureContext::ko_bans() {
    if (ko_bans_) return *ko_bans_;
    ko_bans_.emplace();
    if (own == game.to_play()) *ko_bans_ = game.superko_bans();
    if (board.ko() != kNoPoint && board.ko_color() == own) ko_bans_->add(board.ko());
    return *ko_bans_;
}

namespace {

// A copy for the ladder reader, which plays on it. An assignment takes only what a board of that size uses; a new board
// takes all.
Board& copy_of(const Board& board) {
    thread_local Board copy(kMinSize);
    return copy = board;
}

}  // namespace

void FeatureContext::remove_bans(LadderMoves& ladders) {
    ladders.captures = ladders.captures.minus(ko_bans());
    ladders.escapes = ladders.escapes.minus(ko_bans());
}

const Ladders& FeatureContext::ladders() {
    if (!ladders_) remove_bans(ladders_.emplace(read_ladders(copy_of(board), own)));
    return *ladders_;
}

const LadderMoves& FeatureContext::short_ladders() {
    if (!short_ladders_)
        remove_bans(short_ladders_.emplace(read_ladder_moves(copy_of(board), own, kLadderNodes, kShortLadder)));
    return *short_ladders_;
}

namespace {

// The point of the simple ko 0..kPastBoards - 1 moves ago, or kNoPoint.
Point ko_point(const Game& game, int back) {
    if (back == 0) return game.board().ko();
    const int number = static_cast<int>(game.moves().size()) - back;
    if (number < 1 || game.encore().phase > 0) return kNoPoint;  // in the encore simple ko plays no part
    const auto [point, color] = game.moves()[number - 1];
    const Board& board = game.board();
    if (point == board.pass()) return kNoPoint;
    const Color other = opponent(color);
    const PointSet& stones = game.past_stones(color, back);
    const PointSet taken = game.past_stones(other, back + 1).minus(game.past_stones(other, back));
    const PointSet& beside = board.table().neighbor_sets[point];
    const bool ko = taken.count() == 1 && stones.contains(point) && !beside.intersects(stones) &&
                    beside.minus(game.past_stones(other, back)).count() == 1;
    return ko ? taken.first() : kNoPoint;
}

// Ladders of positions that were read lately. The positions before the last moves of a leaf are mostly leaves that were
// encoded a moment ago.
class LadderCache {
  public:
    LadderMap read(const Game& game, int back) {
        const Key key{game.board().size(), ko_point(game, back), stones(game, Color::black, back),
                      stones(game, Color::white, back)};
        Entry& entry = entries_[(key.black.hash() * 3 + key.white.hash()) % kEntries];
        if (entry.key != key) entry = {key, read(game, key, back)};
        return entry.ladders;
    }

  private:
    struct Key {
        int size = 0;
        Point ko = kNoPoint;
        PointSet black, white;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Entry {
        Key key;
        LadderMap ladders;
    };

    static const PointSet& stones(const Game& game, Color color, int back) {
        return back ? game.past_stones(color, back) : game.board().stones(color);
    }

    static LadderMap read(const Game& game, const Key& key, int back) {
        if (back == 0) return read_katago_ladders(copy_of(game.board()), key.ko);
        Board past(key.size);
        key.black.for_each([&](Point p) { past.place(p, Color::black); });
        key.white.for_each([&](Point p) { past.place(p, Color::white); });
        return read_katago_ladders(past, key.ko);
    }

    static constexpr std::size_t kEntries = 1024;
    std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace

const LadderMap& FeatureContext::katago_ladders(int back) {
    thread_local LadderCache cache;
    auto& slot = katago_ladders_[back];
    if (!slot) slot = cache.read(game, back);
    return *slot;
}

const Owners& FeatureContext::area(bool suicide) {
    auto& slot = area_[suicide];
    if (slot) return *slot;
    PointSet dead;
    for (const Color color : {own, other})
        dead |= (suicide == game.rules().suicide ? pass_alive_of(color) : pass_alive(board, color, suicide)).territory &
                board.stones(opponent(color));
    return slot.emplace(owners(board, dead));
}

const PassAlive& FeatureContext::pass_alive_of(Color color) {
    auto& slot = alive_[index(color)];
    if (!slot) slot = pass_alive(board, color, game.rules().suicide);
    return *slot;
}

const PointSet& FeatureContext::closest_to(Color color) {
    if (closest_) return (*closest_)[index(color)];
    closest_ = {board.stones(Color::black), board.stones(Color::white)};
    // Both colors advance by one step at a time. A point is closest to the color that is there alone first.
    std::array<PointSet, 2> front = *closest_, reached = *closest_;
    while (!front[0].empty() || !front[1].empty()) {
        for (const int side : {0, 1}) {
            PointSet next;
            front[side].for_each([&](Point p) { next |= board.table().neighbor_sets[p]; });
            front[side] = next.minus(reached[side]);
            reached[side] |= front[side];
        }
        for (const int side : {0, 1}) (*closest_)[side] |= front[side].minus(reached[1 - side]);
    }
    return (*closest_)[index(color)];
}

const Move* FeatureContext::last(int back) const {
    const auto& moves = game.moves();
    return back <= seen_moves() ? &moves[moves.size() - back] : nullptr;
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

const PointSet& FeatureContext::caught(int liberties) {
    auto& slot = caught_[liberties - 1];
    if (slot) return *slot;
    slot.emplace();
    const PointSet weak = with_liberties(Color::black, liberties) | with_liberties(Color::white, liberties);
    if (weak.empty()) return *slot;
    Board& copy = copy_of(board);
    weak.for_each([&](Point p) {
        if (board.chain(p) == p && captured_in_ladder(copy, p, nullptr, kCaughtNodes, kCaughtMoves))
            board.for_each_stone(p, [&](Point s) { slot->add(s); });
    });
    return *slot;
}

const PointSet& FeatureContext::laddered(Color color, int back) {
    if (back == 0) return ladders().stones[index(color)];
    if (!past_laddered_) {
        past_laddered_.emplace();
        // The reader restores the board that it plays on. In the encore, where a pass for ko is no move on a board,
        // none is read.
        if (game.encore().phase == 0)
            replay(std::min(kPastLadders, seen_moves()), [&](Board& past, int ago) {
                (*past_laddered_)[ago - 1] = read_ladders(past, last(ago)->color).stones;
            });
    }
    return (*past_laddered_)[back - 1][index(color)];
}

const std::array<std::int16_t, kMaxPoints>& FeatureContext::last_played() {
    if (!last_played_) {
        last_played_.emplace();
        std::int16_t number = 0;
        for (int back = seen_moves(); back > 0; --back) {
            ++number;
            const Move& move = *last(back);
            if (move.point != board.pass()) (*last_played_)[move.point] = number;
        }
    }
    return *last_played_;
}

float FeatureContext::self_komi() const {
    const float white = game.komi() + game.white_bonus() + draw_points;
    return own == Color::white ? white : -white;
}

}  // namespace tengen
