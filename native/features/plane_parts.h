// Planes and scalars that several sets share. A function without a FeatureContext returns the values of a Plane.
#pragma once

#include "features/plane_set.h"

namespace tengen {

// The player a plane is about: the side that the position is encoded for, or the opponent.
using Side = const Color FeatureContext::*;
inline constexpr Side kOwn = &FeatureContext::own, kOpponent = &FeatureContext::other;

inline auto stones_of(Side side, int back = 0) {
    return [=](FeatureContext& f) { return f.stones(f.*side, back); };
}

// Stones of the chains with that many liberties, 1 to 7.
inline auto with_liberties(Side side, int liberties) {
    return [=](FeatureContext& f) { return f.with_liberties(f.*side, liberties); };
}

inline auto with_at_least(Side side, int liberties) {
    return [=](FeatureContext& f) { return f.with_at_least(f.*side, liberties); };
}

// The point where simple ko, not superko, forbids the own side to play.
inline PointSet own_simple_ko(FeatureContext& f) {
    PointSet found;
    if (f.board.ko() != kNoPoint && f.board.ko_color() == f.own) found.add(f.board.ko());
    return found;
}

inline PointSet empty_points(FeatureContext& f) { return f.board.empty_points(); }
inline PointSet border(FeatureContext& f) { return f.board.table().border; }  // the first line

// All points if the own side is that color.
inline auto to_play(Color color) {
    return [=](FeatureContext& f) { return f.own == color ? f.board.table().all : PointSet(); };
}

// exp(-r * r / 2) with the distance r from the middle of the board.
void position_mask(FeatureContext& f, PlaneWriter& plane);

// Under area scoring the margin without komi has the parity of the board, except with some seki. A wave of period two
// in komi shows on which side of the nearest possible margin the komi is.
float komi_wave(int points, float self_komi);

// The scalars of the sets of systems that had none. A network file needs at least one.
std::vector<Scalar> komi_scalar();  // self_komi: points that the rules give the own side, divided by 20

}  // namespace tengen
