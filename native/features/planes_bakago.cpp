// The plane sets of BakaGo: `bakago39`, as its code has them, `bakago39-bug` for networks that were trained on its
// faulty history, and `bakago39-moves`, where the planes about captures, self-atari and eyes are about moves.
// docs/reference/planes.md says what each plane means.
#include "board/pass_policy.h"
#include "features/plane_parts.h"

namespace tengen {

namespace {

constexpr int kTurns = 7, kSizes = 8;

// Where the move that many turns ago was played, whatever became of its stone.
auto turn(int back) {
    return [=](FeatureContext& f) { return f.recent(back); };
}

PointSet earlier_turns(FeatureContext& f) {
    PointSet stones = f.stones(f.own) | f.stones(f.other);
    for (int back = 1; back <= kTurns; ++back) stones = stones.minus(f.recent(back));
    return stones;
}

PointSet nothing(FeatureContext&) { return {}; }
PointSet everything(FeatureContext& f) { return f.board.table().all; }

// Stones of the chains in atari with that many stones; the last number stands for more, too.
auto in_atari(Side side, int size) {
    return [=](FeatureContext& f) {
        PointSet found;
        f.with_liberties(f.*side, 1).for_each([&](Point p) {
            if (std::min(f.board.chain_size(p), kSizes) == size) found.add(p);
        });
        return found;
    };
}

PlaneSet bakago(std::string name, bool with_turns, bool of_moves) {
    PlaneSet set{std::move(name), {}, komi_scalar()};
    const auto add = [&](std::string plane, auto values) { set.planes.emplace_back(std::move(plane), values); };
    const auto add_row = [&](const std::string& plane, int count, auto values) {
        for (int i = 1; i <= count; ++i) add(plane + "_" + std::to_string(i), values(i));
    };
    add("own_stones", stones_of(kOwn));
    add("opponent_stones", stones_of(kOpponent));
    add("empty", empty_points);
    if (with_turns) {
        add_row("turns_since", kTurns, turn);
        add("turns_since_more", earlier_turns);
    } else {
        add_row("turns_since", kTurns, [](int) { return nothing; });
        add("turns_since_more", everything);
    }
    for (const auto& [who, side] : {std::pair{"own", kOwn}, std::pair{"opponent", kOpponent}}) {
        add_row(std::string(who) + "_liberties", 3, [side = side](int n) { return with_liberties(side, n); });
        add(std::string(who) + "_liberties_4", with_at_least(side, 4));
    }
    if (of_moves) {
        add_row("captures", kSizes, [](int n) { return [=](FeatureContext& f) { return f.effects().captures[n]; }; });
        add_row("self_atari", kSizes,
                [](int n) { return [=](FeatureContext& f) { return f.effects().self_ataris[n - 1]; }; });
        add("sensible", [](FeatureContext& f) { return f.sensible(); });
    } else {
        add_row("opponent_in_atari", kSizes, [](int n) { return in_atari(kOpponent, n); });
        add_row("own_in_atari", kSizes, [](int n) { return in_atari(kOwn, n); });
        add("own_true_eyes", [](FeatureContext& f) { return true_eyes(f.board, f.own); });
    }
    add("ko", own_simple_ko);
    add("border", border);
    add("position", position_mask);
    return set;
}

}  // namespace

PlaneSet bakago_planes() { return bakago("bakago39", true, false); }
PlaneSet bakago_bug_planes() { return bakago("bakago39-bug", false, false); }
PlaneSet bakago_moves_planes() { return bakago("bakago39-moves", true, true); }

}  // namespace tengen
