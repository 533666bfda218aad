#include "board/pass_alive.h"

#include <vector>

namespace tengen {

namespace {

// A connected set of points without a stone of the color.
struct Region {
    PointSet points;
    PointSet border;               // the stones of the color around it
    std::array<Point, 4> vital{};  // the chains for which it is an eye; they all touch one point, so there are few
    int vitals = 0;
};

class Benson {
  public:
    Benson(const Board& board, Color color, bool suicide)
        : board_(board), stones_(board.stones(color)), suicide_(suicide), contact_(around(stones_)) {
        const PointSet outside = board.table().all.minus(stones_);
        regions_.reserve(8);  // more are rare
        for (PointSet rest = outside; !rest.empty(); rest = rest.minus(regions_.back().points))
            regions_.push_back(flood(rest.first(), outside));
    }

    PassAlive solve() const {
        PassAlive found{stones_, {}};
        while (true) {
            const PointSet left = with_two_eyes(found.stones);
            if (left == found.stones) break;
            found.stones = left;
        }
        for (const Region& region : regions_)
            if (!region.border.empty() && enclosed(region, found.stones) && region.points.minus(contact_).count() <= 1)
                found.territory |= region.points;
        return found;
    }

  private:
    // The points beside the given ones, which may be among them.
    PointSet around(const PointSet& points) const {
        PointSet found;
        points.for_each([&](Point p) { found |= board_.table().neighbor_sets[p]; });
        return found;
    }

    Region flood(Point seed, const PointSet& outside) const {
        Region region;
        region.points.add(seed);
        for (PointSet fresh = region.points; !fresh.empty();) {
            const PointSet beside = around(fresh);
            region.border |= beside & stones_;
            fresh = (beside & outside).minus(region.points);
            region.points |= fresh;
        }
        find_vital(region);
        return region;
    }

    void find_vital(Region& region) const {
        const PointSet needed = suicide_ ? region.points : region.points & board_.empty_points();
        if (!needed.minus(contact_).empty()) return;
        for (const Point n : board_.neighbors(needed.first())) {
            if (!stones_.contains(n)) continue;
            const Point chain = board_.chain(n);
            bool known = false;
            for (int i = 0; i < region.vitals; ++i) known |= region.vital[i] == chain;
            if (!known && needed.minus(reach(chain)).empty()) region.vital[region.vitals++] = chain;
        }
    }

    // The points that count as touched by a chain: its liberties, or opponent stones beside it too.
    PointSet reach(Point chain) const {
        if (!suicide_) return board_.liberty_set(chain);
        PointSet found;
        board_.for_each_stone(chain, [&](Point s) { found |= board_.table().neighbor_sets[s]; });
        return found;
    }

    static bool enclosed(const Region& region, const PointSet& alive) { return region.border.minus(alive).empty(); }

    // The stones of the chains to which two of the regions that `alive` encloses are vital.
    PointSet with_two_eyes(const PointSet& alive) const {
        PointSet once, twice;  // chains with an eye, with two
        for (const Region& region : regions_) {
            if (!region.vitals || !enclosed(region, alive)) continue;
            for (int i = 0; i < region.vitals; ++i)
                (once.contains(region.vital[i]) ? twice : once).add(region.vital[i]);
        }
        PointSet found;
        twice.for_each([&](Point chain) { board_.for_each_stone(chain, [&](Point s) { found.add(s); }); });
        return found;
    }

    const Board& board_;
    const PointSet& stones_;
    const bool suicide_;
    const PointSet contact_;  // points beside a stone of the color
    std::vector<Region> regions_;
};

}  // namespace

PassAlive pass_alive(const Board& board, Color color, bool suicide) { return Benson(board, color, suicide).solve(); }

std::array<PointSet, 2> pass_alive_areas(const Board& board, bool suicide) {
    return {pass_alive(board, Color::black, suicide).area(), pass_alive(board, Color::white, suicide).area()};
}

PointSet pass_dead(const Board& board, bool suicide) {
    PointSet dead;
    for (const Color color : {Color::black, Color::white})
        dead |= pass_alive(board, color, suicide).territory & board.stones(opponent(color));
    return dead;
}

}  // namespace tengen
