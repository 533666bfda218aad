// The plane sets of DarkForest: `darkforest12`, `darkforest21` with ranks, and `darkforest25`, the "extended" set with
// ranks. docs/reference/planes.md says what each plane means.
#include <algorithm>
#include <cmath>

#include "features/plane_parts.h"

namespace tengen {

namespace {

// Either color's ban: the system does not look whose turn it is.
PointSet simple_ko(FeatureContext& f) {
    PointSet found;
    if (f.board.ko() != kNoPoint) found.add(f.board.ko());
    return found;
}

// exp(-0.1 * age); a stone as old as the last number of the table is as good as forgotten.
float decay(int age) {
    static const auto kTable = [] {
        std::array<float, 1024> table;
        for (int i = 0; i < 1024; ++i) table[i] = std::exp(-0.1f * static_cast<float>(i));
        return table;
    }();
    return kTable[std::min(age, 1023)];
}

// exp(0.1 * (n - ply)). The system counts plies from 1: after m moves ply is m + 1, n is the number of the move that
// put the stone there, and 1 for a setup stone. Where the side has no stone, n is 0 without `masked`.
auto history(Side side, bool masked) {
    return [=](FeatureContext& f, PlaneWriter& plane) {
        const auto ply = f.seen_moves() + 1;
        const PointSet& stones = f.stones(f.*side);
        if (!masked) plane.fill(f.board.table().all.minus(stones), decay(ply));
        stones.for_each([&](Point p) { plane.set(p, decay(ply - std::max<int>(f.last_played()[p], 1))); });
    };
}

auto closest(Side side) {
    return [=](FeatureContext& f) { return f.closest_to(f.*side); };
}

// All points if the own rank is that number: 1 for a kyu, 1 to 9 for a dan, 9 for a professional. Where the rank is
// unknown, as in play, the network is asked for moves of a 9 dan.
auto own_rank(int number) {
    return [=](FeatureContext& f) {
        const int rank = f.rank(f.own);
        const int shown = rank == 0 ? 9 : std::clamp(rank, 1, 9);
        return shown == number ? f.board.table().all : PointSet();
    };
}

PlaneSet base(std::string name, bool masked_history) {
    PlaneSet set = betago7_planes();
    set.name = std::move(name);
    set.planes.back() = {"ko", simple_ko};
    set.planes.insert(set.planes.end(), {{"own_stones", stones_of(kOwn)},
                                         {"opponent_stones", stones_of(kOpponent)},
                                         {"empty", empty_points},
                                         {"own_history", history(kOwn, masked_history)},
                                         {"opponent_history", history(kOpponent, masked_history)}});
    return set;
}

PlaneSet with_ranks(PlaneSet set) {
    for (int rank = 1; rank <= 9; ++rank) set.planes.emplace_back("own_rank_" + std::to_string(rank), own_rank(rank));
    return set;
}

}  // namespace

PlaneSet darkforest12_planes() { return base("darkforest12", true); }

PlaneSet darkforest21_planes() { return with_ranks(base("darkforest21", true)); }

PlaneSet darkforest25_planes() {
    PlaneSet set = base("darkforest25", false);
    set.planes.insert(set.planes.end(), {{"border", border},
                                         {"position", position_mask},
                                         {"closest_own", closest(kOwn)},
                                         {"closest_opponent", closest(kOpponent)}});
    return with_ranks(std::move(set));
}

}  // namespace tengen
