// The plane sets of AlphaGo (Silver et al., 2016, extended data table 2): `alphago48` of the policy networks and
// `alphago49`, the same and the color to move, of the value network. docs/reference/planes.md says what each plane
// means.
#include "features/plane_parts.h"

namespace tengen {

namespace {

constexpr int kNumbers = kLiberties;  // planes of a feature that is a number; the last one stands for more, too

PointSet all_stones(FeatureContext& f) { return f.stones(f.own) | f.stones(f.other); }

// Stones that were played that many moves ago; the last number has all older ones.
auto turns_since(int turns) {
    return [=](FeatureContext& f) {
        PointSet stones = all_stones(f);
        for (int back = 1; back < turns; ++back) stones = stones.minus(f.recent(back));
        return turns == kNumbers ? stones : stones & f.recent(turns);
    };
}

auto stones_with_liberties(int number) {
    return [=](FeatureContext& f) { return f.with_liberties(f.own, number) | f.with_liberties(f.other, number); };
}

// Moves that capture that many stones, 0 to 6, or 7 and more.
auto captures(int stones) {
    return [=](FeatureContext& f) {
        return stones + 1 < kNumbers ? f.effects().captures[stones] : f.capturing_at_least(stones);
    };
}

auto self_atari(int size) {
    return [=](FeatureContext& f) { return f.effects().self_ataris[size - 1]; };
}

auto liberties_after(int number) {
    return [=](FeatureContext& f) { return f.effects().liberties[number - 1]; };
}

PlaneSet alphago(std::string name) {
    PlaneSet set{std::move(name),
                 {{"own_stones", stones_of(kOwn)},
                  {"opponent_stones", stones_of(kOpponent)},
                  {"empty", empty_points},
                  {"ones", [](FeatureContext& f) { return f.board.table().all; }}},
                 komi_scalar()};
    const auto add_row = [&](const std::string& plane, int first, auto values) {
        for (int n = first; n < first + kNumbers; ++n)
            set.planes.emplace_back(plane + "_" + std::to_string(n), values(n));
    };
    add_row("turns_since", 1, turns_since);
    add_row("liberties", 1, stones_with_liberties);
    add_row("captures", 0, captures);
    add_row("self_atari", 1, self_atari);
    add_row("liberties_after", 1, liberties_after);
    set.planes.insert(set.planes.end(),
                      {{"ladder_capture", [](FeatureContext& f) { return f.short_ladders().captures; }},
                       {"ladder_escape", [](FeatureContext& f) { return f.short_ladders().escapes; }},
                       {"sensible", [](FeatureContext& f) { return f.sensible(); }},
                       {"zeros", [](FeatureContext&) { return PointSet(); }}});
    return set;
}

}  // namespace

PlaneSet alphago48_planes() { return alphago("alphago48"); }

PlaneSet alphago49_planes() {
    PlaneSet set = alphago("alphago49");
    set.planes.emplace_back("black_to_move", to_play(Color::black));
    return set;
}

}  // namespace tengen
