// The plane set `cody3` of the AlphaGo-Zero-like 7x7 system of cody2007: the last three boards with own stones as 1 and
// those of the opponent as -1. The system had no scalars. Komi is here because a network file needs one; the system's
// network does not use it.
#include "features/plane_parts.h"

namespace tengen {

namespace {

template <int kBack>
void board(FeatureContext& f, PlaneWriter& plane) {
    plane.fill(f.stones(f.own, kBack), 1.0f);
    plane.fill(f.stones(f.other, kBack), -1.0f);
}

}  // namespace

PlaneSet cody_planes() {
    return {
        "cody3",
        {
            {"board", board<0>},
            {"board_before", board<1>},
            {"board_two_before", board<2>},
        },
        komi_scalar(),
    };
}

}  // namespace tengen
