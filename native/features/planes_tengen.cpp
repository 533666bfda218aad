// The plane set `tengen`; docs/reference/planes.md says what each plane means.
#include <algorithm>

#include "features/plane_parts.h"

namespace tengen {

namespace {

template <int kBack>
PointSet recent(FeatureContext& f) {
    return f.recent(kBack);
}

float komi(FeatureContext& f) { return std::clamp(f.self_komi() / 20.0f, -2.0f, 2.0f); }

float komi_parity(FeatureContext& f) {
    return f.game.rules().scoring == Scoring::area ? komi_wave(f.board.points(), f.self_komi()) : 0.0f;
}

}  // namespace

PlaneSet tengen_planes() {
    return {
        "tengen",
        {
            {"on_board", [](FeatureContext& f) { return f.board.table().all; }},
            {"own_stones", stones_of(kOwn)},
            {"opponent_stones", stones_of(kOpponent)},
            {"own_1_liberty", with_liberties(kOwn, 1)},
            {"own_2_liberties", with_liberties(kOwn, 2)},
            {"own_3_liberties", with_liberties(kOwn, 3)},
            {"own_4_liberties", with_at_least(kOwn, 4)},
            {"opponent_1_liberty", with_liberties(kOpponent, 1)},
            {"opponent_2_liberties", with_liberties(kOpponent, 2)},
            {"opponent_3_liberties", with_liberties(kOpponent, 3)},
            {"opponent_4_liberties", with_at_least(kOpponent, 4)},
            {"captures_1", [](FeatureContext& f) { return f.effects().captures[1]; }},
            {"captures_2", [](FeatureContext& f) { return f.capturing_at_least(2); }},
            {"leaves_1_liberty", [](FeatureContext& f) { return f.effects().liberties[0]; }},
            {"leaves_2_liberties", [](FeatureContext& f) { return f.effects().liberties[1]; }},
            {"ko_ban", [](FeatureContext& f) { return f.ko_bans(); }},
            {"last_move", recent<1>},
            {"second_last_move", recent<2>},
            {"third_last_move", recent<3>},
            {"fourth_last_move", recent<4>},
            {"fifth_last_move", recent<5>},
            {"own_laddered", [](FeatureContext& f) { return f.ladders().stones[index(f.own)]; }},
            {"opponent_laddered", [](FeatureContext& f) { return f.ladders().stones[index(f.other)]; }},
            {"ladder_capture", [](FeatureContext& f) { return f.ladders().captures; }},
            {"ladder_escape", [](FeatureContext& f) { return f.ladders().escapes; }},
            {"own_pass_alive", [](FeatureContext& f) { return f.pass_alive_of(f.own).area(); }},
            {"opponent_pass_alive", [](FeatureContext& f) { return f.pass_alive_of(f.other).area(); }},
        },
        {
            {"self_komi", komi},
            {"komi_parity", komi_parity},
            {"positional_ko", [](FeatureContext& f) { return f.game.rules().ko == Ko::positional ? 1.0f : 0.0f; }},
            {"situational_ko", [](FeatureContext& f) { return f.game.rules().ko == Ko::situational ? 1.0f : 0.0f; }},
            {"territory_scoring",
             [](FeatureContext& f) { return f.game.rules().scoring == Scoring::territory ? 1.0f : 0.0f; }},
            {"suicide", [](FeatureContext& f) { return f.game.rules().suicide ? 1.0f : 0.0f; }},
            {"last_was_pass", [](FeatureContext& f) { return f.was_pass(1) ? 1.0f : 0.0f; }},
            {"second_last_was_pass", [](FeatureContext& f) { return f.was_pass(2) ? 1.0f : 0.0f; }},
            {"pass_ends", [](FeatureContext& f) { return f.game.passes() >= 1 ? 1.0f : 0.0f; }},
        },
    };
}

}  // namespace tengen
