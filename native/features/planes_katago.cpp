// The plane sets of KataGo's networks; docs/reference/planes.md says what each plane means.
#include <algorithm>
#include <cmath>

#include "features/plane_parts.h"

namespace tengen {

namespace {

constexpr int kHistory = 5;  // recent moves that have planes

bool over_by_passes(FeatureContext& f, int back) { return f.was_pass(back + 1) && f.was_pass(back + 2); }

// Recent moves that the network sees, 0 to kHistory. Colors must alternate; of a game that was over and went on, the
// move that ended it is the first.
int visible_moves(FeatureContext& f) {
    for (int back = 1; back <= kHistory; ++back) {
        const Move* move = f.last(back);
        if (!move || move->color != (back % 2 ? f.other : f.own)) return back - 1;
        if (over_by_passes(f, back - 1) || (back == 1 && f.game.is_long_cycle())) return back;
    }
    return kHistory;
}

template <int kBack>
PointSet recent(FeatureContext& f) {
    return kBack <= visible_moves(f) ? f.recent(kBack) : PointSet();
}

template <int kBack>
float passed(FeatureContext& f) {
    return kBack <= visible_moves(f) && f.was_pass(kBack) ? 1.0f : 0.0f;
}

// The point of the simple ko, whosever, and the moves that superko forbids.
PointSet ko_bans(FeatureContext& f) {
    PointSet bans = f.ko_bans();
    if (f.board.ko() != kNoPoint) bans.add(f.board.ko());
    return bans;
}

// Stones of both colors whose chains have that many liberties.
template <int kLiberties>
PointSet of_both(FeatureContext& f) {
    return f.with_liberties(f.own, kLiberties) | f.with_liberties(f.other, kLiberties);
}

// Where the network does not see so many moves, the ladders of the oldest position that it knows stand in.
template <int kBack>
PointSet laddered(FeatureContext& f) {
    return f.katago_ladders(std::min(kBack, visible_moves(f))).stones;
}

PointSet laddering(FeatureContext& f) { return f.katago_ladders(0).captures[index(f.own)]; }

PointSet nothing(FeatureContext&) { return {}; }
float zero(FeatureContext&) { return 0.0f; }

// The area planes. Under territory scoring only the encore, which is never played here, has them.
PointSet area(FeatureContext& f, Color color) {
    PointSet points;
    if (f.game.rules().scoring == Scoring::territory) return points;
    for (Point p = 0; p < f.board.points(); ++p)
        if (f.area()[p] == color) points.add(p);
    return points;
}

// Points that the rules give the side to move. Under territory scoring KataGo counts areas, and each stone that a
// player places costs a point; prisoners are counted that way.
float self_komi(FeatureContext& f) {
    float white = f.self_komi() * (f.own == Color::white ? 1.0f : -1.0f);
    if (f.game.rules().scoring == Scoring::territory)
        white += static_cast<float>(f.stones(Color::black).count() + f.game.captures(Color::white) -
                                    f.stones(Color::white).count() - f.game.captures(Color::black));
    return f.own == Color::white ? white : -white;
}

float komi_scalar_value(FeatureContext& f) {
    const float limit = static_cast<float>(f.board.points()) + 20.0f;
    return std::clamp(self_komi(f), -limit, limit) / 20.0f;
}

float komi_parity(FeatureContext& f) {
    if (f.game.rules().scoring != Scoring::area) return 0.0f;
    return komi_wave(f.board.points(), self_komi(f));
}

float superko_kind(FeatureContext& f) {
    return f.game.rules().ko == Ko::simple ? 0.0f : f.game.rules().ko == Ko::positional ? 0.5f : -0.5f;
}

}  // namespace

PlaneSet katago_v7_planes() {
    return {
        "katago-v7",
        {
            {"on_board", [](FeatureContext& f) { return f.board.table().all; }},
            {"own_stones", stones_of(kOwn)},
            {"opponent_stones", stones_of(kOpponent)},
            {"liberties_1", of_both<1>},
            {"liberties_2", of_both<2>},
            {"liberties_3", of_both<3>},
            {"ko_ban", ko_bans},
            {"encore_ko", nothing},
            {"unused", nothing},
            {"last_move", recent<1>},
            {"second_last_move", recent<2>},
            {"third_last_move", recent<3>},
            {"fourth_last_move", recent<4>},
            {"fifth_last_move", recent<5>},
            {"laddered", laddered<0>},
            {"laddered_before", laddered<1>},
            {"laddered_two_before", laddered<2>},
            {"ladder_capture", laddering},
            {"own_area", [](FeatureContext& f) { return area(f, f.own); }},
            {"opponent_area", [](FeatureContext& f) { return area(f, f.other); }},
            {"own_encore_start", nothing},
            {"opponent_encore_start", nothing},
        },
        {
            {"last_was_pass", passed<1>},
            {"second_last_was_pass", passed<2>},
            {"third_last_was_pass", passed<3>},
            {"fourth_last_was_pass", passed<4>},
            {"fifth_last_was_pass", passed<5>},
            {"self_komi", komi_scalar_value},
            {"superko", [](FeatureContext& f) { return f.game.rules().ko == Ko::simple ? 0.0f : 1.0f; }},
            {"superko_kind", superko_kind},
            {"suicide", [](FeatureContext& f) { return f.game.rules().suicide ? 1.0f : 0.0f; }},
            {"territory_scoring",
             [](FeatureContext& f) { return f.game.rules().scoring == Scoring::territory ? 1.0f : 0.0f; }},
            {"tax", [](FeatureContext& f) { return f.game.rules().scoring == Scoring::territory ? 1.0f : 0.0f; }},
            {"tax_all", zero},
            {"encore", zero},
            {"second_encore", zero},
            {"pass_ends", [](FeatureContext& f) { return f.game.passes() >= 1 ? 1.0f : 0.0f; }},
            {"playout_advantage", zero},
            {"playout_advantage_size", zero},
            {"button", zero},
            {"komi_parity", komi_parity},
        },
    };
}

}  // namespace tengen
