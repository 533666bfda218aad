// The plane set `_test` has every kind of input that no other set reads yet: real values, seven past boards, past
// ladders and ranks. The tests compare it with plain definitions. It is not listed.
#include <cmath>

#include "features/plane_parts.h"

namespace tengen {

namespace {

// exp(0.1 * (n - ply)) on stones whose point was last played by move n; setup stones count as move 0.
void age(FeatureContext& f, Color color, PlaneWriter& plane) {
    const auto ply = f.seen_moves();
    f.stones(color).for_each(
        [&](Point p) { plane.set(p, std::exp(0.1f * static_cast<float>(f.last_played()[p] - ply))); });
}

}  // namespace

PlaneSet test_planes() {
    PlaneSet set{"_test",
                 {{"own_age", [](FeatureContext& f, PlaneWriter& plane) { age(f, f.own, plane); }},
                  {"opponent_age", [](FeatureContext& f, PlaneWriter& plane) { age(f, f.other, plane); }},
                  {"gaussian", position_mask}},
                 {{"opponent_rank", [](FeatureContext& f) { return static_cast<float>(f.rank(f.other)) / 20.0f; }}}};
    const auto add = [&](const std::string& name, int number, auto values) {
        set.planes.emplace_back(name + "_" + std::to_string(number), values);
    };
    for (int back = 0; back <= kPastBoards; ++back) {
        add("own", back, [back](FeatureContext& f) { return f.stones(f.own, back); });
        add("opponent", back, [back](FeatureContext& f) { return f.stones(f.other, back); });
    }
    for (int back = 0; back <= kPastLadders; ++back) {
        add("own_laddered", back, [back](FeatureContext& f) { return f.laddered(f.own, back); });
        add("opponent_laddered", back, [back](FeatureContext& f) { return f.laddered(f.other, back); });
    }
    for (int dan = 1; dan <= 9; ++dan)
        add("own_dan", dan,
            [dan](FeatureContext& f) { return f.rank(f.own) == dan ? f.board.table().all : PointSet(); });
    return set;
}

}  // namespace tengen
