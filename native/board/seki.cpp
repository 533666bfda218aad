#include "board/seki.h"

#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"

namespace tengen {

namespace {

constexpr int kLargestDame = 8;
constexpr int kReadNodes = 200;

// The empty points of the small regions between the colours.
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

// Fills dame on a board of its own.
class Filler {
  public:
    Filler(const Board& board, const Owners& owner, const PointSet& dame)
        : board_(board), owner_(owner), dame_(dame), moves_left_(2 * dame.count()) {}

    // What neither side can fill.
    PointSet fill() {
        board_.play(board_.pass(), Color::black);  // lifts the ko
        for (bool changed = true; changed && moves_left_ > 0;) {
            changed = false;
            dame_.for_each([&](Point p) {
                if (board_.at(p) == Color::empty) changed |= fill(p, Color::black) || fill(p, Color::white);
            });
        }
        return dame_ & board_.empty_points();
    }

    const Board& board() const { return board_; }

  private:
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
            board_.undo(record);
            return false;
        }
        --moves_left_;
        for (const Point n : board_.neighbors(p))
            if (board_.at(n) == opponent(color) && board_.liberties(n) == 1) save(n);
        return true;
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
    PointSet stones = whole_chains(filler.board(), beside.minus(filler.board().empty_points()));
    for (const Color color : {Color::black, Color::white})
        stones = stones.minus(pass_alive(filler.board(), color, false).stones);
    PointSet found;
    for (const Color color : {Color::black, Color::white})
        found |= stones & filler.board().stones(color) & cleared.stones(color);
    return found;
}

}  // namespace tengen
