#include "board/seki.h"

#include "board/capture_reader.h"
#include "board/ladder.h"
#include "board/pass_alive.h"
#include "board/score.h"
#include "board/symmetry.h"

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
    for_each_region(board.table(), neutral, [&](const PointSet& region) {
        if (region.count() <= kLargestDame) dame |= region;
    });
    return dame;
}

// Fills dame on a board of its own.
class Filler {
  public:
    Filler(const Board& board, const Owners& owner, const PointSet& dame)
        : board_(board), owner_(owner), dame_(dame), moves_left_(2 * dame.count()) {}

    // What neither side can fill; then attacked() are stones that such a point is no seki for. The strong chains come
    // first, so that a weak one has no liberties from outside left when it is its turn; and what is atari comes after
    // what is not, or a chain with liberties from outside would take the other side of its seki.
    PointSet fill() {
        board_.play(board_.pass(), Color::black);  // lifts the ko
        const auto is_strong = [&](Point p, Color color) { return board_.liberties_after(p, color) >= kStrong; };
        repeat([&](Point p, Color color) { return !is_atari(p, color) && is_strong(p, color) && try_move(p, color); });
        repeat([&](Point p, Color color) { return is_strong(p, color) && try_move(p, color); });
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

    bool is_atari(Point p, Color color) const {
        for (const Point n : board_.neighbors(p))
            if (board_.at(n) == opponent(color) && board_.liberties(n) <= 2) return true;
        return false;
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

// A fight of which nobody can fill the shared points.
struct Seki {
    Board board;      // without the dead stones
    PointSet shared;  // the empty points that neither side can fill
    PointSet stones;  // in seki, without the stones that filled dame
};

// Single stones in atari between the stones of `seki`, which only the taking of a ko would capture. At the end of a
// game nobody gains by that: in a double ko the other side takes the other one.
PointSet ko_stones(const Board& board, const PointSet& seki) {
    PointSet found;
    for (const Color color : {Color::black, Color::white}) {
        board.stones(color).minus(seki).for_each([&](Point p) {
            if (board.chain_size(p) != 1 || board.liberties(p) != 1) return;
            const auto& around = board.table().neighbor_sets;
            PointSet mouth = around[board.liberty_set(p).first()];
            mouth.remove(p);
            const PointSet captors = around[p] & board.stones(opponent(color));
            if (mouth.minus(seki & board.stones(color)).empty() && captors.minus(seki).empty()) found.add(p);
        });
    }
    return found;
}

// What one order of filling the dame leaves.
struct Filled {
    PointSet shared;  // the dame that neither side can fill
    PointSet stones;  // in seki, without the stones that filled dame
};

Filled fill_dame(const Board& board) {
    const Owners owner = owners(board, {});
    Filler filler(board, owner, open_dame(board, owner));
    const PointSet shared = filler.fill();
    PointSet beside, found;
    shared.for_each([&](Point p) { beside |= board.table().neighbor_sets[p]; });
    // The chains of the filled board, and of them the stones that stood before it was filled.
    PointSet stones =
        whole_chains(filler.board(), beside.minus(filler.board().empty_points())).minus(filler.attacked());
    for (const Color color : {Color::black, Color::white})
        stones = stones.minus(pass_alive(filler.board(), color, false).stones);
    for (const Color color : {Color::black, Color::white})
        found |= stones & filler.board().stones(color) & board.stones(color);
    return {shared, found};
}

Board turned_board(const Board& board, int symmetry, bool exchanged) {
    Board turned(board.size());
    for (const Color color : {Color::black, Color::white})
        board.stones(color).for_each(
            [&](Point p) { turned.place(transform(p, board.size(), symmetry), exchanged ? opponent(color) : color); });
    return turned;
}

PointSet turned_points(const PointSet& points, int size, int symmetry) {
    PointSet turned;
    points.for_each([&](Point p) { turned.add(transform(p, size, symmetry)); });
    return turned;
}

Seki find_seki(const Board& board, const PointSet& dead) {
    Board cleared = board;
    whole_chains(board, dead).for_each([&](Point p) { cleared.remove(p); });
    if (open_dame(cleared, owners(cleared, {})).empty()) return {cleared, {}, {}};

    // What can be filled depends on the order of the points and on who comes first. Seki is what all orders leave, so
    // that it is the same however the board is turned and whoever has Black.
    Filled all = fill_dame(cleared);
    for (const bool exchanged : {false, true})
        for (int s = 0; s < kSymmetries && !all.stones.empty(); ++s) {
            if (s == 0 && !exchanged) continue;
            const Filled other = fill_dame(turned_board(cleared, s, exchanged));
            all.shared = all.shared & turned_points(other.shared, board.size(), inverse_symmetry(s));
            all.stones = all.stones & turned_points(other.stones, board.size(), inverse_symmetry(s));
        }
    if (all.stones.empty()) return {cleared, {}, {}};
    return {cleared, all.shared, all.stones | ko_stones(cleared, all.stones)};
}

// Where the seki of a stone is fought out: its chain, and then, as long as there are any, the chains in seki and the
// `doubtful` ones beside that, the shared points and the small empty regions.
PointSet fight_area(const Seki& seki, Point stone, const PointSet& doubtful) {
    const Board& board = seki.board;
    const PointSet weak = seki.stones | (doubtful & (board.stones(Color::black) | board.stones(Color::white)));
    PointSet area, fresh;
    for (fresh.add(stone); !fresh.empty();) {
        area |= fresh;
        PointSet beside;
        fresh.for_each([&](Point p) { beside |= board.table().neighbor_sets[p]; });
        fresh = whole_chains(board, beside & weak).minus(area);
        for (PointSet rest = (beside & board.empty_points()).minus(area); !rest.empty();) {
            const PointSet region = region_of(board.table(), board.empty_points(), rest.first());
            rest = rest.minus(region);
            if (region.count() <= kLargestDame) fresh |= region;
        }
    }
    return area;
}

// Calls f(here, seki) with the dead stones of each open region and the seki, if they are all alive there.
template <class F>
void for_each_doubt(const Board& board, const PointSet& dead, F f) {
    const PointSet gone = whole_chains(board, dead);
    const PointSet open = board.empty_points() | gone;
    for (PointSet rest = gone; !rest.empty();) {
        const PointSet here = region_of(board.table(), open, rest.first()) & gone;
        rest = rest.minus(here);
        f(here, find_seki(board, gone.minus(here)));
    }
}

}  // namespace

PointSet seki_stones(const Board& board, const PointSet& dead) { return find_seki(board, dead).stones; }

PointSet dead_or_seki(const Board& board, const PointSet& dead) {
    PointSet found;
    for_each_doubt(board, dead, [&](const PointSet& here, const Seki& seki) { found |= seki.stones & here; });
    return found;
}

PointSet proven_seki(const Board& board, const PointSet& dead) {
    const PointSet gone = whole_chains(board, dead);
    PointSet found;
    const auto prove = [&](const PointSet& here, const Seki& seki) {
        found |= ko_stones(seki.board, seki.stones.minus(gone)) & here;
        for (PointSet rest = (seki.stones & here).minus(found); !rest.empty();) {
            const Point stone = rest.first();
            PointSet chain, liberties;
            seki.board.for_each_stone(stone, [&](Point s) { chain.add(s); });
            rest = rest.minus(chain);
            const PointSet fight = fight_area(seki, stone, gone);
            (fight & seki.board.stones(seki.board.at(stone))).for_each([&](Point s) {
                liberties |= seki.board.liberty_set(s);
            });
            if (liberties.minus(fight).empty() && cannot_be_captured(seki.board, stone, fight)) found |= chain & here;
        }
    };
    if (!gone.empty()) prove(gone, find_seki(board, {}));
    for_each_doubt(board, dead, [&](const PointSet& here, const Seki& seki) {
        if (!(here == gone)) prove(here, seki);
    });
    return found;
}

}  // namespace tengen
