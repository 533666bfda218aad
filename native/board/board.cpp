#include "board/board.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "board/random.h"

namespace tengen {

namespace {

constexpr auto kZobrist = [] {
    std::array<std::array<std::uint64_t, kMaxPoints>, 2> keys{};
    SplitMix64 random(20161109);  // any constant: hashes must be the same in every run
    // The points of 19x19 come first, so that their keys are the same in every build.
    for (auto [from, to] : {std::pair{0, 361}, {361, kMaxPoints}})
        for (auto& color : keys)
            for (int p = from; p < to; ++p) color[p] = random.next();
    return keys;
}();

std::uint64_t key(Point p, Color color) { return kZobrist[index(color)][p]; }

// A handful of distinct chains; a point has at most four around it.
struct DistinctPoints {
    std::array<Point, 4> items;
    int count = 0;

    bool add(Point item) {
        for (int i = 0; i < count; ++i)
            if (items[i] == item) return false;
        items[count++] = item;
        return true;
    }
};

}  // namespace

Board::Board(int size) : geometry_(&geometry(size)) {
    colors_.fill(Color::empty);
    sets_[index(Color::empty)] = geometry_->all;
}

Board& Board::operator=(const Board& other) {
    geometry_ = other.geometry_;
    hash_ = other.hash_;
    ko_ = other.ko_;
    ko_color_ = other.ko_color_;
    sets_ = other.sets_;
    const auto used = static_cast<std::size_t>(points());
    const auto copy = [used](const auto& from, auto& to) { std::copy_n(from.begin(), used, to.begin()); };
    copy(other.colors_, colors_);
    copy(other.head_, head_);
    copy(other.next_, next_);
    copy(other.chains_, chains_);
    return *this;
}

bool Board::is_suicide(Point p, Color color) const {
    if (geometry_->neighbor_sets[p].intersects(empty_points())) return false;
    for (const Point n : neighbors(p)) {
        const bool last_liberty = liberties(n) == 1;
        if ((colors_[n] == color) != last_liberty) return false;  // an own chain that keeps one, or a capture
    }
    return true;
}

bool Board::is_legal(Point p, Color color, bool suicide) const {
    if (p == pass()) return true;
    if (colors_[p] != Color::empty || (p == ko_ && color == ko_color_)) return false;
    if (!is_suicide(p, color)) return true;
    return suicide && geometry_->neighbor_sets[p].intersects(stones(color));
}

int Board::capture_size(Point p, Color color) const {
    DistinctPoints taken;
    int total = 0;
    for (const Point n : neighbors(p))
        if (colors_[n] == opponent(color) && liberties(n) == 1 && taken.add(head_[n])) total += chain_size(n);
    return total;
}

int Board::liberties_after(Point p, Color color) const {
    const auto& around = geometry_->neighbor_sets;
    PointSet found = around[p] & empty_points();
    PointSet joined;
    joined.add(p);
    DistinctPoints own, taken;
    for (const Point n : neighbors(p)) {
        if (colors_[n] == color && own.add(head_[n])) found |= liberty_set(n);
        if (colors_[n] == opponent(color) && liberties(n) == 1) taken.add(head_[n]);
    }
    if (taken.count) {
        for (int i = 0; i < own.count; ++i) for_each_stone(own.items[i], [&](Point s) { joined.add(s); });
        for (int i = 0; i < taken.count; ++i)
            for_each_stone(taken.items[i], [&](Point s) {
                if (around[s].intersects(joined)) found.add(s);
            });
    }
    found.remove(p);
    return found.count();
}

int Board::chain_size_after(Point p, Color color) const {
    DistinctPoints own;
    int total = 1;
    for (const Point n : neighbors(p))
        if (colors_[n] == color && own.add(head_[n])) total += chain_size(n);
    return total;
}

std::uint64_t Board::captured_hash(Point p, Color color) const {
    DistinctPoints taken;
    std::uint64_t hash = 0;
    for (const Point n : neighbors(p))
        if (colors_[n] == opponent(color) && liberties(n) == 1 && taken.add(head_[n])) hash ^= chains_[head_[n]].hash;
    return hash;
}

std::uint64_t Board::hash_after(Point p, Color color) const {
    if (p == pass()) return hash_;
    if (!is_suicide(p, color)) return hash_ ^ key(p, color) ^ captured_hash(p, color);
    DistinctPoints own;
    std::uint64_t hash = hash_;
    for (const Point n : neighbors(p))
        if (colors_[n] == color && own.add(head_[n])) hash ^= chains_[head_[n]].hash;
    return hash;
}

bool Board::is_true_eye(Point p, Color color) const {
    for (const Point n : neighbors(p))
        if (colors_[n] != color) return false;
    int bad = 0;
    for (const Point d : diagonals(p)) bad += colors_[d] == opponent(color);
    return bad == 0 || (bad == 1 && neighbors(p).size() == 4);
}

void Board::play(Point p, Color color) { play_stone<false>(p, color, nullptr); }

void Board::play(Point p, Color color, Undo& record) { play_stone<true>(p, color, &record); }

void Board::set_color(Point p, Color from, Color to) {
    colors_[p] = to;
    sets_[index(from)].remove(p);
    sets_[index(to)].add(p);
}

// Representative of the largest own chain beside p, which the new stone joins, or p itself.
Point Board::start_chain(Point p, Color color) const {
    Point best = p;
    int largest = 0;
    for (const Point n : neighbors(p)) {
        if (colors_[n] != color || chain_size(n) <= largest) continue;
        best = head_[n];
        largest = chain_size(n);
    }
    return best;
}

// Joins the stones of `other` to `chain`; the slot of `other` stays as it was, for undo.
void Board::absorb(Point chain, Point other) {
    for_each_stone(other, [&](Point s) { head_[s] = chain; });
    std::swap(next_[chain], next_[other]);  // two rings become one, and the same swap parts them again
    chains_[chain].liberties |= chains_[other].liberties;
    chains_[chain].hash ^= chains_[other].hash;
    chains_[chain].size += chains_[other].size;
}

// Takes the stones of a chain off the board; its ring and slot stay, for undo.
void Board::lift(Point chain) {
    const Color color = colors_[chain], other = opponent(color);
    hash_ ^= chains_[chain].hash;
    for_each_stone(chain, [&](Point s) {
        set_color(s, color, Color::empty);
        for (const Point n : neighbors(s))
            if (colors_[n] == other) chains_[head_[n]].liberties.add(s);
    });
}

void Board::put_back(Point chain, Color color) {
    const Color other = opponent(color);
    for_each_stone(chain, [&](Point s) {
        set_color(s, Color::empty, color);
        for (const Point n : neighbors(s))
            if (colors_[n] == other) chains_[head_[n]].liberties.remove(s);
    });
}

template <bool kRecord>
void Board::play_stone(Point p, Color color, Undo* record) {
    if constexpr (kRecord) {
        record->point = p;
        record->color = color;
        record->hash = hash_;
        record->ko = ko_;
        record->ko_color = ko_color_;
        record->captures = record->joins = 0;
        record->suicide = false;
    }
    ko_ = kNoPoint;
    if (p == pass()) return;

    const Color other = opponent(color);
    const Point own = start_chain(p, color);
    if constexpr (kRecord) {
        record->own = own;
        record->chain = chains_[own];
        record->head = head_[p];
        record->next = next_[p];
    }

    // The stone, in the ring of the largest neighbour chain or of its own.
    set_color(p, Color::empty, color);
    hash_ ^= key(p, color);
    head_[p] = own;
    if (own == p) {
        next_[p] = p;
        chains_[p] = Chain{};
    } else {
        next_[p] = std::exchange(next_[own], p);
    }
    Chain& chain = chains_[own];
    chain.hash ^= key(p, color);
    ++chain.size;

    // Liberties of all chains around.
    for (const Point n : neighbors(p)) {
        if (colors_[n] == Color::empty) {
            chain.liberties.add(n);
        } else if (colors_[n] == other) {
            chains_[head_[n]].liberties.remove(p);
        } else if (head_[n] != own) {
            if constexpr (kRecord) record->absorbed[record->joins++] = head_[n];
            absorb(own, head_[n]);
        }
    }
    chain.liberties.remove(p);

    // Captures, then suicide, then ko.
    int captured = 0;
    for (const Point n : neighbors(p)) {
        if (colors_[n] != other || !liberty_set(n).empty()) continue;
        if constexpr (kRecord) record->captured[record->captures++] = head_[n];
        captured += chain_size(n);
        lift(head_[n]);
    }
    if (captured == 0 && chain.liberties.empty()) {
        if constexpr (kRecord) record->suicide = true;
        lift(own);
    } else if (captured == 1 && chain.size == 1 && chain.liberties.count() == 1) {
        ko_ = chain.liberties.first();
        ko_color_ = other;
    }
}

void Board::undo(const Undo& record) {
    hash_ = record.hash;
    ko_ = record.ko;
    ko_color_ = record.ko_color;
    const Point p = record.point, own = record.own;
    if (p == pass()) return;

    const Color other = opponent(record.color);
    if (record.suicide) put_back(own, record.color);
    for (int i = 0; i < record.captures; ++i) put_back(record.captured[i], other);
    for (int i = record.joins; i-- > 0;) {
        const Point part = record.absorbed[i];
        std::swap(next_[own], next_[part]);
        for_each_stone(part, [&](Point s) { head_[s] = part; });
    }
    if (own != p) next_[own] = next_[p];
    for (const Point n : neighbors(p))
        if (colors_[n] == other) chains_[head_[n]].liberties.add(p);
    chains_[own] = record.chain;
    head_[p] = record.head;
    next_[p] = record.next;
    set_color(p, record.color, Color::empty);
}

void Board::place(Point p, Color color) {
    if (colors_[p] != Color::empty) throw std::invalid_argument("setup stone on an occupied point");
    if (capture_size(p, color) || is_suicide(p, color))
        throw std::invalid_argument("setup stone leaves a chain without liberties");
    play(p, color);
}

void Board::remove(Point p) {
    const Color color = colors_[p];
    if (color == Color::empty) throw std::invalid_argument("no stone to remove at point " + std::to_string(p));
    PointSet rest;
    for_each_stone(p, [&](Point s) { rest.add(s); });
    rest.remove(p);
    lift(head_[p]);
    rest.for_each([&](Point s) { play(s, color); });
    ko_ = kNoPoint;
}

}  // namespace tengen
