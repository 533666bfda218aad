// The plane sets of Golois (Cazenave): `golois8`, `golois21` and `golois31`, which is `golois21` with komi.
// docs/reference/planes.md says what each plane means.
#include <cmath>

#include "features/plane_parts.h"

namespace tengen {

namespace {

PointSet beside(const Board& board, const PointSet& stones) {
    PointSet found;
    stones.for_each([&](Point p) {
        for (const Point n : board.neighbors(p))
            if (board.at(n) == opponent(board.at(p)) && !found.contains(n))
                board.for_each_stone(n, [&](Point s) { found.add(s); });
    });
    return found;
}

auto ladder(int liberties) {
    return [=](FeatureContext& f) { return f.caught(liberties); };
}

auto beside_ladder(int liberties) {
    return [=](FeatureContext& f) { return beside(f.board, f.caught(liberties)); };
}

// Stones of both colors.
auto all_with(int liberties, bool or_more) {
    return [=](FeatureContext& f) {
        if (or_more) return f.with_at_least(f.own, liberties) | f.with_at_least(f.other, liberties);
        return f.with_liberties(f.own, liberties) | f.with_liberties(f.other, liberties);
    };
}

// All points if White's komi, cut to whole points, is that number.
auto komi(int points) {
    return [=](FeatureContext& f) {
        return std::trunc(f.game.komi()) == static_cast<float>(points) ? f.board.table().all : PointSet();
    };
}

void add_boards(PlaneSet& set, int boards) {
    for (int back = 0; back < boards; ++back) {
        set.planes.emplace_back("own_" + std::to_string(back), stones_of(kOwn, back));
        set.planes.emplace_back("opponent_" + std::to_string(back), stones_of(kOpponent, back));
    }
}

}  // namespace

PlaneSet golois8_planes() {
    PlaneSet set{"golois8", {{"black_to_move", to_play(Color::black)}, {"atari_ladder", ladder(1)}}, komi_scalar()};
    add_boards(set, 3);
    return set;
}

PlaneSet golois21_planes() {
    PlaneSet set{"golois21",
                 {{"black_to_move", to_play(Color::black)},
                  {"atari_ladder", ladder(1)},
                  {"beside_atari_ladder", beside_ladder(1)},
                  {"ladder", ladder(2)},
                  {"beside_ladder", beside_ladder(2)}},
                 komi_scalar()};
    for (int n = 1; n <= 6; ++n) set.planes.emplace_back("liberties_" + std::to_string(n), all_with(n, n == 6));
    add_boards(set, 5);
    return set;
}

PlaneSet golois31_planes() {
    PlaneSet set = golois21_planes();
    set.name = "golois31";
    for (int points = 0; points < 10; ++points) set.planes.emplace_back("komi_" + std::to_string(points), komi(points));
    return set;
}

}  // namespace tengen
