#include "board/ladder.h"

namespace tengen {

namespace {

// The two sides of the ladder call each other until one of them has no move left; `left` nodes may be visited, in lines
// of `moves` moves.
class Reader {
  public:
    Reader(Board& board, Point stone, int nodes, int moves, bool double_ko_death = false)
        : board_(board),
          stone_(stone),
          defender_(board.at(stone)),
          attacker_(opponent(defender_)),
          double_ko_death_(double_ko_death),
          left_(nodes),
          moves_(moves) {
        board_.play(board_.pass(), attacker_, root_);  // lifts the ko
    }
    ~Reader() { board_.undo(root_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The attacker is to move: does he catch the chain?
    bool caught() {
        const PointSet& liberties = board_.liberty_set(stone_);
        const int count = liberties.count();
        if (count == 1)
            return true;  // never a banned ko: a lone stone that took one has the ko point as liberty, not this chain
        if (count > 2 || moves_ <= 0 || --left_ < 0) return false;
        const auto [a, b] = two(liberties);
        const int room_a = board_.liberties_after(a, defender_), room_b = board_.liberties_after(b, defender_);
        if (double_ko_death_ && room_a <= 2 && room_b <= 2 && is_ko_mouth(a) && is_ko_mouth(b) &&
            counter_captures().empty())
            return true;
        if (room_a >= room_b) return atari_works(a, room_b) || atari_works(b, room_a);
        return atari_works(b, room_a) || atari_works(a, room_b);
    }

    // The defender is to move, in atari: does he get away?
    bool escapes() {
        if (board_.ko() != kNoPoint || board_.liberties(stone_) > 1 || moves_ <= 0 || --left_ < 0) return true;
        const Point liberty = board_.liberty_set(stone_).first();
        if (saved_by(liberty)) return true;
        bool saved = false;
        counter_captures().for_each([&](Point p) { saved = saved || (p != liberty && saved_by(p)); });
        return saved;
    }

    bool gave_up() const { return left_ < 0; }

    PointSet catching_moves() {
        const auto [a, b] = two(board_.liberty_set(stone_));
        const int room_a = board_.liberties_after(a, defender_), room_b = board_.liberties_after(b, defender_);
        PointSet moves;
        if (atari_works(a, room_b)) moves.add(a);
        if (atari_works(b, room_a)) moves.add(b);
        return moves;
    }

    PointSet saving_moves() {
        PointSet moves, tries = counter_captures();
        tries.add(board_.liberty_set(stone_).first());
        tries.for_each([&](Point p) {
            if (saved_by(p)) moves.add(p);
        });
        return moves;
    }

  private:
    static std::pair<Point, Point> two(const PointSet& liberties) {
        PointSet rest = liberties;
        const Point first = rest.first();
        rest.remove(first);
        return {first, rest.first()};
    }

    // The attacker plays at p; an extension at the other liberty would now give the defender `room` liberties, p among
    // them. Unless p captures, what remains after it is a lower bound that settles most cases at once.
    bool atari_works(Point p, int room) {
        if (!board_.is_legal(p, attacker_, false)) return false;
        if (room > 3 && board_.capture_size(p, attacker_) == 0) return false;
        Board::Undo record;
        board_.play(p, attacker_, record);
        --moves_;
        const bool works = !escapes();
        ++moves_;
        board_.undo(record);
        return works;
    }

    bool saved_by(Point p) {
        if (!board_.is_legal(p, defender_, false)) return false;
        Board::Undo record;
        board_.play(p, defender_, record);
        --moves_;
        const bool saved = !caught();
        ++moves_;
        board_.undo(record);
        return saved;
    }

    // A liberty of the chain where the attacker would take one stone, the only neighbor in atari, and leave a ko.
    bool is_ko_mouth(Point p) const {
        Point taken = kNoPoint;
        for (const Point n : board_.neighbors(p)) {
            if (board_.at(n) != defender_) return false;
            if (board_.liberties(n) > 1) continue;
            if (taken != kNoPoint) return false;
            taken = n;
        }
        return taken != kNoPoint && board_.chain_size(taken) == 1;
    }

    // The liberties of the attacker's chains in atari beside the chain.
    PointSet counter_captures() const {
        PointSet moves;
        board_.for_each_stone(stone_, [&](Point s) {
            for (const Point n : board_.neighbors(s))
                if (board_.at(n) == attacker_ && board_.liberties(n) == 1) moves |= board_.liberty_set(n);
        });
        return moves;
    }

    Board& board_;
    const Point stone_;
    const Color defender_, attacker_;
    const bool double_ko_death_;
    int left_, moves_;
    Board::Undo root_;
};

// Calls f with one stone of every chain of the color that has one or two liberties.
template <class F>
void for_each_weak_chain(const Board& board, Color color, F f) {
    PointSet heads;
    board.stones(color).for_each([&](Point p) { heads.add(board.chain(p)); });
    heads.for_each([&](Point chain) {
        if (board.liberties(chain) <= 2) f(chain);
    });
}

void remove_ko(const Board& board, Color to_play, LadderMoves& found) {
    if (board.ko() == kNoPoint || board.ko_color() != to_play) return;
    found.captures.remove(board.ko());
    found.escapes.remove(board.ko());
}

}  // namespace

bool captured_in_ladder(Board& board, Point stone, PointSet* first_moves, int nodes, int moves) {
    const int liberties = board.liberties(stone);
    if (liberties > 2) return false;
    Reader reader(board, stone, nodes, moves);
    if (liberties == 1) return !reader.escapes();
    if (!first_moves) return reader.caught();
    *first_moves = reader.catching_moves();
    return !first_moves->empty();
}

PointSet ladder_captures(Board& board, Point stone, int nodes) {
    PointSet moves;
    if (board.liberties(stone) == 1)
        moves = board.liberty_set(stone);  // a stone there captures, so it is no suicide
    else
        captured_in_ladder(board, stone, &moves, nodes);
    return moves;
}

PointSet ladder_escapes(Board& board, Point stone, int nodes, int moves) {
    return Reader(board, stone, nodes, moves).saving_moves();
}

LadderMoves read_ladder_moves(Board& board, Color to_play, int nodes, int moves) {
    LadderMoves found;
    for_each_weak_chain(board, to_play, [&](Point chain) {
        if (board.liberties(chain) == 1) found.escapes |= ladder_escapes(board, chain, nodes, moves);
    });
    for_each_weak_chain(board, opponent(to_play), [&](Point chain) {
        PointSet catching;
        if (board.liberties(chain) < 2 || !captured_in_ladder(board, chain, &catching, nodes, moves)) return;
        found.captures |= catching;
    });
    remove_ko(board, to_play, found);
    return found;
}

Ladders read_ladders(Board& board, Color to_play, int nodes) {
    Ladders found;
    const auto mark = [&](Point chain) {
        board.for_each_stone(chain, [&](Point s) { found.stones[index(board.at(chain))].add(s); });
    };
    for_each_weak_chain(board, to_play, [&](Point chain) {
        if (board.liberties(chain) == 2) {
            if (captured_in_ladder(board, chain, nullptr, nodes)) mark(chain);
            return;
        }
        const PointSet moves = ladder_escapes(board, chain, nodes);
        if (moves.empty()) mark(chain);
        found.escapes |= moves;
    });
    for_each_weak_chain(board, opponent(to_play), [&](Point chain) {
        PointSet moves;
        if (!captured_in_ladder(board, chain, &moves, nodes)) return;
        mark(chain);
        found.captures |= moves;
    });
    remove_ko(board, to_play, found);
    return found;
}

LadderMap read_katago_ladders(Board& board, Point ban) {
    LadderMap found;
    // The defender is to move.
    const auto caught = [&](Point chain) {
        Reader reader(board, chain, kKataGoNodes, kLadderMoves, true);
        return !reader.escapes() && !reader.gave_up();
    };
    for (const Color color : {Color::black, Color::white}) {
        const Color attacker = opponent(color);
        for_each_weak_chain(board, color, [&](Point chain) {
            PointSet moves;
            if (board.liberties(chain) == 2) {
                const PointSet tries = board.liberty_set(chain);
                tries.for_each([&](Point p) {
                    if (p == ban || !board.is_legal(p, attacker, false)) return;
                    PointSet other = tries;
                    other.remove(p);
                    // An extension there would leave three liberties at least.
                    if (board.liberties_after(other.first(), color) > 3 && !board.capture_size(p, attacker)) return;
                    Board::Undo record;
                    board.play(p, attacker, record);
                    if (caught(chain)) moves.add(p);
                    board.undo(record);
                });
                if (moves.empty()) return;
                found.captures[index(attacker)] |= moves;
            } else if (!caught(chain)) {
                return;
            }
            board.for_each_stone(chain, [&](Point s) { found.stones.add(s); });
        });
    }
    return found;
}

}  // namespace tengen
