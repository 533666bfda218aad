// The plane sets of KataGo's networks; docs/reference/planes.md says what each plane means.
#include <algorithm>

#include "features/plane_parts.h"

namespace tengen {

namespace {

constexpr int kHistory = 5;  // recent moves that have planes

// How many of the recent moves a network sees, 0 to kHistory, which depends on its version.
using Visible = int (*)(FeatureContext&);

// Whether the game was over by passes some moves ago. The first pass of a game with a button takes it and ends nothing.
bool over_by_passes(FeatureContext& f, int back) {
    if (back == 0) return f.game.passes() >= 2 || f.game.is_repeated_pass();
    if (!f.was_pass(back + 1) || !f.was_pass(back + 2)) return false;
    if (!f.game.rules().button) return true;
    const auto& moves = f.game.moves();
    const auto is_pass = [&](const Move& move) { return move.point == f.board.pass(); };
    return std::any_of(moves.begin(), moves.end() - back - 2, is_pass);
}

bool by_area(FeatureContext& f) { return f.game.rules().scoring == Scoring::area; }

// Under friendly passes KataGo expects that play goes on after two passes, and hides that a pass ends the game; so does
// a search with a conservative pass at its root.
bool end_is_hidden(FeatureContext& f) {
    if (!by_area(f) || !f.game.pass_ends()) return false;
    return f.pass_goes_on || (f.game.rules().friendly_pass_ok && f.game.passes() == 1);
}

// Moves of this phase: history begins anew with each of the encore.
int moves_of_phase(FeatureContext& f) { return static_cast<int>(f.game.moves().size() - f.game.encore().start); }

// Colors must alternate; of a game that was over and went on, the move that ended it is the first.
int visible_moves(FeatureContext& f) {
    if (end_is_hidden(f)) return 0;
    const int most = std::min(kHistory, moves_of_phase(f));
    for (int back = 1; back <= most; ++back) {
        const Move* move = f.last(back);
        if (!move || move->color != (back % 2 ? f.other : f.own)) return back - 1;
        if (over_by_passes(f, back - 1) || (back == 1 && f.game.is_long_cycle())) return back;
    }
    return most;
}

// Before v6: none at the end of a game, and no break where it goes on.
int visible_before_v6(FeatureContext& f) {
    if (end_is_hidden(f) || over_by_passes(f, 0) || f.game.is_long_cycle()) return 0;
    const int most = std::min(kHistory, moves_of_phase(f));
    int back = 1;
    while (back <= most && f.last(back) && f.last(back)->color == (back % 2 ? f.other : f.own)) ++back;
    return back - 1;
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
auto laddered(Visible visible, int back) {
    return [=](FeatureContext& f) { return f.katago_ladders(std::min(back, visible(f))).stones; };
}

PointSet laddering(FeatureContext& f) { return f.katago_ladders(0).captures[index(f.own)]; }

PointSet nothing(FeatureContext&) { return {}; }
float zero(FeatureContext&) { return 0.0f; }

// Points of a color by its owners.
PointSet points_of(const Owners& owners, Color color, int points) {
    PointSet found;
    for (Point p = 0; p < points; ++p)
        if (owners[p] == color) found.add(p);
    return found;
}

// Points that count for a color if the game ends here.
PointSet area_of(FeatureContext& f, Color color, bool suicide) {
    return points_of(f.area(suicide), color, f.board.points());
}

// Pass-alive area and all empty regions among pass-alive stones.
PointSet safe_area(FeatureContext& f, Color color) {
    const PassAlive& alive = f.pass_alive_of(color);
    PointSet found = alive.area();
    for_each_region(f.board.table(), f.board.empty_points(), [&](const PointSet& region) {
        PointSet border;
        region.for_each([&](Point p) { border |= f.board.table().neighbor_sets[p]; });
        border = border.minus(region);
        if (!border.empty() && border.minus(alive.stones).empty()) found |= region;
    });
    return found;
}

using Area = PointSet (*)(FeatureContext&, Color);

PointSet area_v3(FeatureContext& f, Color color) {
    return by_area(f) ? area_of(f, color, f.game.rules().suicide) : safe_area(f, color);
}

// Under territory scoring only the second phase of the encore has these planes. With a tax there is no territory in a
// seki. With `kSuicide` life is that of rules that allow suicide.
template <bool kSuicide = false>
PointSet area_v6(FeatureContext& f, Color color) {
    const bool suicide = kSuicide || f.game.rules().suicide;
    if (!by_area(f)) {
        if (f.game.encore().phase < 2) return {};
        return points_of(encore_owners(f.game, f.area(suicide)), color, f.board.points());
    }
    const PointSet all = area_of(f, color, suicide);
    if (f.game.rules().tax == Tax::none) return all;
    return (all & f.stones(color)) | independent_area(f.board, f.area(suicide), color);
}

// Points that the rules give the side to move. Under territory scoring KataGo counts areas, and each stone that a
// player places costs a point; prisoners are counted that way.
float self_komi(FeatureContext& f) {
    float white = f.self_komi() * (f.own == Color::white ? 1.0f : -1.0f);
    if (!by_area(f))
        white += static_cast<float>(f.game.placed_stones(Color::black) - f.game.placed_stones(Color::white));
    return f.own == Color::white ? white : -white;
}

// The points, clipped to those of the board and `beyond`.
float clipped_komi(FeatureContext& f, float beyond) {
    const float limit = static_cast<float>(f.board.points()) + beyond;
    return std::clamp(self_komi(f), -limit, limit);
}

Scalar komi(float beyond, float unit) {
    return {"self_komi", [=](FeatureContext& f) { return clipped_komi(f, beyond) / unit; }};
}

Scalar parity(float beyond) {
    return {"komi_parity", [=](FeatureContext& f) {
                return by_area(f) || f.game.encore().phase == 2 ? komi_wave(f.board.points(), clipped_komi(f, beyond))
                                                                : 0.0f;
            }};
}

// The moves of the planes and scalars of history, from the last on.
constexpr std::array<const char*, kHistory> kRecent = {"last", "second_last", "third_last", "fourth_last",
                                                       "fifth_last"};

void add_recent(std::vector<Plane>& planes, Visible visible) {
    for (int back = 1; back <= kHistory; ++back)
        planes.emplace_back(std::string(kRecent[back - 1]) + "_move",
                            [=](FeatureContext& f) { return back <= visible(f) ? f.recent(back) : PointSet(); });
}

PointSet blocked(FeatureContext& f) { return f.game.encore().blocked; }

void add_encore_start(std::vector<Plane>& planes) {
    planes.emplace_back("own_encore_start",
                        [](FeatureContext& f) { return f.game.encore().first_stones[index(f.own)]; });
    planes.emplace_back("opponent_encore_start",
                        [](FeatureContext& f) { return f.game.encore().first_stones[index(f.other)]; });
}

std::vector<Plane> all_planes(Visible visible, Area area) {
    std::vector<Plane> planes = {
        {"on_board", [](FeatureContext& f) { return f.board.table().all; }},
        {"own_stones", stones_of(kOwn)},
        {"opponent_stones", stones_of(kOpponent)},
        {"liberties_1", of_both<1>},
        {"liberties_2", of_both<2>},
        {"liberties_3", of_both<3>},
        {"ko_ban", ko_bans},
        {"encore_ko", blocked},
        {"unused", nothing},
    };
    add_recent(planes, visible);
    planes.emplace_back("laddered", laddered(visible, 0));
    planes.emplace_back("laddered_before", laddered(visible, 1));
    planes.emplace_back("laddered_two_before", laddered(visible, 2));
    planes.emplace_back("ladder_capture", laddering);
    planes.emplace_back("own_area", [=](FeatureContext& f) { return area(f, f.own); });
    planes.emplace_back("opponent_area", [=](FeatureContext& f) { return area(f, f.other); });
    add_encore_start(planes);
    return planes;
}

// The scalars that all versions begin with: recent passes, komi, ko rule, suicide and scoring.
std::vector<Scalar> first_scalars(Visible visible, Scalar komi) {
    std::vector<Scalar> scalars;
    for (int back = 1; back <= kHistory; ++back)
        scalars.push_back({std::string(kRecent[back - 1]) + "_was_pass",
                           [=](FeatureContext& f) { return back <= visible(f) && f.was_pass(back) ? 1.0f : 0.0f; }});
    scalars.push_back(std::move(komi));
    scalars.push_back({"superko", [](FeatureContext& f) { return f.game.rules().ko == Ko::simple ? 0.0f : 1.0f; }});
    scalars.push_back({"superko_kind", [](FeatureContext& f) {
                           const Ko ko = f.game.rules().ko;
                           return ko == Ko::simple ? 0.0f : ko == Ko::positional ? 0.5f : -0.5f;
                       }});
    scalars.push_back({"suicide", [](FeatureContext& f) { return f.game.rules().suicide ? 1.0f : 0.0f; }});
    scalars.push_back({"territory_scoring", [](FeatureContext& f) { return by_area(f) ? 0.0f : 1.0f; }});
    return scalars;
}

void append(std::vector<Scalar>& scalars, std::initializer_list<Scalar> more) { scalars.insert(scalars.end(), more); }

const Scalar kTax = {"tax", [](FeatureContext& f) { return f.game.rules().tax == Tax::none ? 0.0f : 1.0f; }},
             kTaxAll = {"tax_all", [](FeatureContext& f) { return f.game.rules().tax == Tax::all ? 1.0f : 0.0f; }},
             kEncore = {"encore", [](FeatureContext& f) { return f.game.encore().phase >= 1 ? 1.0f : 0.0f; }},
             kSecondEncore = {"second_encore",
                              [](FeatureContext& f) { return f.game.encore().phase == 2 ? 1.0f : 0.0f; }},
             kPassEnds = {"pass_ends",
                          [](FeatureContext& f) { return f.game.pass_ends() && !end_is_hidden(f) ? 1.0f : 0.0f; }},
             kPassEndsBeforeV6 = {"pass_ends", [](FeatureContext& f) {
                                      const bool over = over_by_passes(f, 0) || f.game.is_long_cycle();
                                      return f.game.pass_ends() && !over && !end_is_hidden(f) ? 1.0f : 0.0f;
                                  }};

PlaneSet before_v5(std::string name, Area area) {
    PlaneSet set{std::move(name), all_planes(visible_before_v6, area), first_scalars(visible_before_v6, komi(1, 15))};
    append(set.scalars, {kEncore, kSecondEncore, kPassEndsBeforeV6, parity(1)});
    return set;
}

}  // namespace

PlaneSet katago_v3_planes() { return before_v5("katago-v3", area_v3); }

PlaneSet katago_v4_planes() { return before_v5("katago-v4", safe_area); }

PlaneSet katago_v5_planes() {
    PlaneSet set{"katago-v5",
                 {{"on_board", [](FeatureContext& f) { return f.board.table().all; }},
                  {"own_stones", stones_of(kOwn)},
                  {"opponent_stones", stones_of(kOpponent)},
                  {"ko_ban", ko_bans},
                  {"encore_ko", blocked},
                  {"unused", nothing}},
                 first_scalars(visible_before_v6, komi(1, 15))};
    add_recent(set.planes, visible_before_v6);
    add_encore_start(set.planes);
    append(set.scalars, {kEncore, kSecondEncore});
    return set;
}

PlaneSet katago_v6_planes() {
    PlaneSet set{"katago-v6", all_planes(visible_moves, area_v6<>), first_scalars(visible_moves, komi(1, 20))};
    append(set.scalars, {kTax, kTaxAll, kEncore, kSecondEncore, kPassEnds, parity(1)});
    return set;
}

namespace {

PlaneSet v7(std::string name, Area area) {
    PlaneSet set{std::move(name), all_planes(visible_moves, area), first_scalars(visible_moves, komi(20, 20))};
    append(set.scalars, {kTax,
                         kTaxAll,
                         kEncore,
                         kSecondEncore,
                         kPassEnds,
                         {"playout_advantage", zero},
                         {"playout_advantage_size", zero},
                         {"button", [](FeatureContext& f) { return f.game.button_left() ? 1.0f : 0.0f; }},
                         parity(20)});
    return set;
}

}  // namespace

PlaneSet katago_v7_planes() { return v7("katago-v7", area_v6<>); }
PlaneSet katago_v7_suicide_planes() { return v7("katago-v7-suicide", area_v6<true>); }

}  // namespace tengen
