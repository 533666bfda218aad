#include "board/pass_alive.h"

#include <algorithm>

namespace tengen {

namespace {

// The state of Benson's algorithm for one colour. A region and a chain go by the index of one of their points.
class Benson {
  public:
    Benson(const Board& board, Color color, bool suicide)
        : board_(board), color_(color), suicide_(suicide), outside_(board.table().all.minus(board.stones(color))) {}

    PassAlive solve() {
        find_regions();
        remove_dead();
        return result();
    }

  private:
    struct Few {
        std::array<Point, 4> items;
        int count = 0;

        bool has(Point item) const { return std::find(items.begin(), items.begin() + count, item) != items.begin() + count; }
        void add(Point item) {
            if (!has(item)) items[count++] = item;
        }
        void keep_common(const Few& other) {
            const auto end = std::remove_if(items.begin(), items.begin() + count, [&](Point c) { return !other.has(c); });
            count = static_cast<int>(end - items.begin());
        }
    };

    struct Region {
        PointSet points;
        Few vital;          // chains for which it is an eye
        int inner = 0;      // points that touch no stone of the colour
        bool enclosed = true;  // by chains of which none is known to be dead
        bool bordered = false;
    };

    void find_regions() {
        PointSet rest = outside_;
        while (!rest.empty()) {
            const Point seed = rest.first();
            Region& region = regions_[count_];
            region = Region{};
            flood(seed, region);
            region.points.for_each([&](Point p) { region_of_[p] = count_; });
            rest = rest.minus(region.points);
            for (int i = 0; i < region.vital.count; ++i) ++eyes_[region.vital.items[i]];
            ++count_;
        }
    }

    void flood(Point seed, Region& region) {
        std::array<Point, kMaxPoints> stack;
        int height = 0;
        bool first = true;
        region.points.add(seed);
        stack[height++] = seed;
        while (height) {
            const Point p = stack[--height];
            Few around;
            for (const Point n : board_.neighbors(p)) {
                if (board_.at(n) == color_) {
                    around.add(board_.chain(n));
                } else if (!region.points.contains(n)) {
                    region.points.add(n);
                    stack[height++] = n;
                }
            }
            region.inner += around.count == 0;
            region.bordered |= around.count != 0;
            if (!suicide_ && board_.at(p) != Color::empty) continue;
            if (first) region.vital = around;
            else region.vital.keep_common(around);
            first = false;
        }
    }

    // Chains with fewer than two eyes die, regions that touch a dead chain are no eyes any more, and so on.
    void remove_dead() {
        PointSet heads;
        board_.stones(color_).for_each([&](Point p) { heads.add(board_.chain(p)); });
        bool changed = true;
        while (changed) {
            changed = false;
            heads.for_each([&](Point chain) {
                if (eyes_[chain] >= 2) return;
                heads.remove(chain);
                open_regions_of(chain);
                changed = true;
            });
        }
        alive_ = heads;
    }

    void open_regions_of(Point chain) {
        board_.for_each_stone(chain, [&](Point s) {
            for (const Point n : board_.neighbors(s)) {
                if (board_.at(n) == color_) continue;
                Region& region = regions_[region_of_[n]];
                if (!region.enclosed) continue;
                region.enclosed = false;
                for (int i = 0; i < region.vital.count; ++i) --eyes_[region.vital.items[i]];
            }
        });
    }

    PassAlive result() const {
        PassAlive found;
        alive_.for_each([&](Point chain) { board_.for_each_stone(chain, [&](Point s) { found.stones.add(s); }); });
        for (int i = 0; i < count_; ++i) {
            const Region& region = regions_[i];
            if (region.enclosed && region.bordered && region.inner <= 1) found.territory |= region.points;
        }
        return found;
    }

    const Board& board_;
    const Color color_;
    const bool suicide_;
    const PointSet outside_;
    int count_ = 0;
    std::array<Region, kMaxPoints> regions_;
    std::array<std::int16_t, kMaxPoints> region_of_;
    std::array<std::int16_t, kMaxPoints> eyes_{};  // of a chain: how many regions are vital to it
    PointSet alive_;
};

}  // namespace

PassAlive pass_alive(const Board& board, Color color, bool suicide) { return Benson(board, color, suicide).solve(); }

}  // namespace tengen
