// The plane sets of BetaGo and of the book by its author: stones of both colors, mostly by liberties, and ko.
#include "features/plane_parts.h"

namespace tengen {

namespace {

// Stones of the color that `color` gives, by liberties: 1, 2, 3, and 4 or more.
template <class F>
void add_liberties(PlaneSet& set, const std::string& who, F color) {
    for (int n = 1; n <= 4; ++n)
        set.planes.push_back(
            {who + "_" + std::to_string(n) + (n == 1 ? "_liberty" : "_liberties"),
             [=](FeatureContext& f) { return n < 4 ? f.with_liberties(color(f), n) : f.with_at_least(color(f), n); }});
}

Plane ko_ban() {
    return {"ko_ban", [](FeatureContext& f) { return f.ko_bans(); }};
}

}  // namespace

PlaneSet betago3_planes() {
    return {
        "betago3",
        {{"own_stones", stones_of(kOwn)}, {"opponent_stones", stones_of(kOpponent)}, {"ko", own_simple_ko}},
        komi_scalar(),
    };
}

PlaneSet betago7_planes() {
    return {
        "betago7",
        {
            {"own_1_liberty", with_liberties(kOwn, 1)},
            {"own_2_liberties", with_liberties(kOwn, 2)},
            {"own_3_liberties", with_at_least(kOwn, 3)},
            {"opponent_1_liberty", with_liberties(kOpponent, 1)},
            {"opponent_2_liberties", with_liberties(kOpponent, 2)},
            {"opponent_3_liberties", with_at_least(kOpponent, 3)},
            {"ko", own_simple_ko},
        },
        komi_scalar(),
    };
}

PlaneSet betago11_simple_planes() {
    PlaneSet set{"betago11-simple", {}, komi_scalar()};
    add_liberties(set, "black", [](FeatureContext&) { return Color::black; });
    add_liberties(set, "white", [](FeatureContext&) { return Color::white; });
    set.planes.push_back({"black_to_move", to_play(Color::black)});
    set.planes.push_back({"white_to_move", to_play(Color::white)});
    set.planes.push_back(ko_ban());
    return set;
}

PlaneSet betago11_zero_planes() {
    PlaneSet set{"betago11-zero", {}, komi_scalar()};
    add_liberties(set, "own", [](FeatureContext& f) { return f.own; });
    add_liberties(set, "opponent", [](FeatureContext& f) { return f.other; });
    set.planes.push_back({"own_komi", to_play(Color::white)});
    set.planes.push_back({"opponent_komi", to_play(Color::black)});
    set.planes.push_back(ko_ban());
    return set;
}

}  // namespace tengen
