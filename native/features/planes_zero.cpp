// The plane sets of AlphaGo Zero and its kind: eight boards of both colors and whose turn it is. They differ in the
// order of the boards and in the planes of the turn.
#include "features/plane_parts.h"

namespace tengen {

namespace {

constexpr int kBoards = 8;

Plane board(Side side, int back) {
    return {(side == kOwn ? "own_" : "opponent_") + std::to_string(back), stones_of(side, back)};
}

Plane turn(Color color) { return {color == Color::black ? "black_to_move" : "white_to_move", to_play(color)}; }

}  // namespace

PlaneSet agz_planes() {
    PlaneSet set{"agz17", {}, komi_scalar()};
    for (int back = 0; back < kBoards; ++back)
        for (const Side side : {kOwn, kOpponent}) set.planes.push_back(board(side, back));
    set.planes.push_back(turn(Color::black));
    return set;
}

PlaneSet elf_planes() {
    PlaneSet set = agz_planes();
    set.name = "elf18";
    set.planes.push_back(turn(Color::white));
    return set;
}

PlaneSet leela_planes() {
    PlaneSet set{"leela18", {}, komi_scalar()};
    for (const Side side : {kOwn, kOpponent})
        for (int back = 0; back < kBoards; ++back) set.planes.push_back(board(side, back));
    for (const Color color : {Color::black, Color::white}) set.planes.push_back(turn(color));
    return set;
}

}  // namespace tengen
