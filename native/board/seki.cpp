#include "board/seki.h"

#include <algorithm>

#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"

namespace tengen {

namespace {

constexpr int kLargestDame = 8;
constexpr int kReadNodes = 200;
constexpr int kStrong = 5;  // liberties

// The empty points of the small regions between the colors.
PointSet open_dame(const Board& board, const Owners& owner) {
    PointSet neutral, dame;
    board.empty_points().for_each([&](Point p) {
        if (owner[p] == Color::empty) neutral.add(p);
    });
    while (!neutral.empty()) {
        const PointSet region = region_of(board.table(), neutral, neutral.first());
        neutral = neutral.minus(region);
        if (region.count() <= kLargestDame) dame |= region;
    }
    return dame;
}

// Whether an eye space of this shape is one eye at most when the opponent moves first in it. Larger or other shapes
// make two, or a ko.
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

// Fills dame on a board of its own.
class Filler {
  public:
    Filler(const Board& board, const Owners& owner, const PointSet& dame)
        : board_(board), owner_(owner), dame_(dame), moves_left_(2 * dame.count()) {}

    // What neither side can fill; then attacked() are stones that such a point is no seki for. The strong chains come
    // first, so that a weak one has no liberties from outside left when it is its turn.
    PointSet fill() {
        board_.play(board_.pass(), Color::black);  // lifts the ko
        repeat([&](Point p, Color color) { return board_.liberties_after(p, color) >= kStrong && try_move(p, color); });
        if (rest().empty()) return {};
        std::array<PointSet, 2> safe;
        for (const Color color : {Color::black, Color::white})
            safe[index(color)] = pass_alive(board_, color, false).stones;
        repeat([&](Point p, Color color) {
            return board_.table().neighbor_sets[p].intersects(safe[index(color)]) && try_move(p, color);
        });
        repeat([&](Point p, Color color) { return fill(p, color); });
        return rest();
    }

    const Board& board() const { return board_; }
    const PointSet& attacked() const { return attacked_; }

  private:
    PointSet rest() const { return dame_ & board_.empty_points(); }

    // Tries every dame for both sides until nothing more can be filled.
    template <class F>
    void repeat(F fill_one) {
        for (bool changed = true; changed && moves_left_ > 0;) {
            changed = false;
            rest().for_each([&](Point p) {
                if (board_.at(p) == Color::empty) changed |= fill_one(p, Color::black) || fill_one(p, Color::white);
            });
        }
    }

    bool fill(Point p, Color color) {
        if (try_move(p, color)) return true;
        // Connecting first changes the filled board only where it makes the fill possible.
        PointSet connections;
        for (const Point n : board_.neighbors(p))
            if (board_.at(n) == color) connections |= board_.liberty_set(n);
        bool done = false;
        connections.for_each([&](Point q) {
            if (done || q == p || owner_[q] != color || board_.at(q) != Color::empty) return;
            Board::Undo record;
            if (!board_.is_legal(q, color, false)) return;
            board_.play(q, color, record);
            done = try_move(p, color);
            if (!done) board_.undo(record);
        });
        return done;
    }

    // Plays the move unless it loses its own chain; the opponent then saves what it has put into atari.
    bool try_move(Point p, Color color) {
        if (!board_.is_legal(p, color, false)) return false;
        Board::Undo record;
        board_.play(p, color, record);
        if (board_.liberties(p) < 2 || captured_in_ladder(board_, p, nullptr, kReadNodes)) {
            if (board_.liberties(p) == 1) note_nakade(p, color);
            board_.undo(record);
            return false;
        }
        --moves_left_;
        for (const Point n : board_.neighbors(p))
            if (board_.at(n) == opponent(color) && board_.liberties(n) == 1) save(n);
        return true;
    }

    // The chain of p lets itself be captured: where that leaves all chains around it the one eye that they have, and
    // the next stone in it kills, p was an attack and no loss.
    void note_nakade(Point p, Color color) {
        const Point last = board_.liberty_set(p).first();
        PointSet shape, captors;
        board_.for_each_stone(p, [&](Point s) { shape.add(s); });
        if (!is_killing_shape(board_.table(), shape) || !board_.is_legal(last, opponent(color), false)) return;
        Board::Undo record;
        board_.play(last, opponent(color), record);
        PointSet around, liberties;
        shape.for_each([&](Point s) { around |= board_.table().neighbor_sets[s]; });
        captors = whole_chains(board_, around & board_.stones(opponent(color)));
        captors.for_each([&](Point s) { liberties |= board_.liberty_set(s); });
        board_.undo(record);
        if (liberties.minus(shape).empty()) attacked_ |= shape | captors;
    }

    void save(Point stone) {
        const PointSet moves = ladder_escapes(board_, stone, kReadNodes);
        if (!moves.empty() && board_.is_legal(moves.first(), board_.at(stone), false))
            board_.play(moves.first(), board_.at(stone));
    }

    Board board_;
    const Owners& owner_;
    const PointSet dame_;
    int moves_left_;
    PointSet attacked_;
};

}  // namespace

PointSet seki_stones(const Board& board, const PointSet& dead) {
    Board cleared = board;
    const PointSet gone = whole_chains(board, dead);
    gone.for_each([&](Point p) { cleared.remove(p); });
    const Owners owner = owners(cleared, {});
    const PointSet dame = open_dame(cleared, owner);
    if (dame.empty()) return {};

    Filler filler(cleared, owner, dame);
    const PointSet shared = filler.fill();
    if (shared.empty()) return {};
    PointSet beside;
    shared.for_each([&](Point p) { beside |= board.table().neighbor_sets[p]; });
    // The chains of the filled board, and of them the stones that stood before it was filled.
    PointSet stones =
        whole_chains(filler.board(), beside.minus(filler.board().empty_points())).minus(filler.attacked());
    for (const Color color : {Color::black, Color::white})
        stones = stones.minus(pass_alive(filler.board(), color, false).stones);
    PointSet found;
    for (const Color color : {Color::black, Color::white})
        found |= stones & filler.board().stones(color) & cleared.stones(color);
    return found;
}

PointSet dead_or_seki(const Board& board, const PointSet& dead) {
    PointSet found;
    const PointSet gone = whole_chains(board, dead);
    const PointSet open = board.empty_points() | gone;
    for (PointSet rest = gone; !rest.empty();) {
        const PointSet here = region_of(board.table(), open, rest.first()) & gone;
        rest = rest.minus(here);
        found |= seki_stones(board, gone.minus(here)) & here;
    }
    return found;
}

}  // namespace tengen
