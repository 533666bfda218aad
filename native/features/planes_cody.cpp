// The plane set `cody3` of the AlphaGo-Zero-like 7x7 system of cody2007: the last three boards with own stones as 1 and
// those of the opponent as -1. The system had no scalars; komi is here because a network file takes one at least, and
// that system's network does not look at it.
#include "features/plane_set.h"

namespace tengen {

namespace {

template <int kBack>
PointSet own_before(FeatureContext& f) {
    return f.stones_before(kBack, f.own);
}

template <int kBack>
PointSet other_before(FeatureContext& f) {
    return f.stones_before(kBack, f.other);
}

}  // namespace

PlaneSet cody_planes() {
    return {
        "cody3",
        {
            {"board", [](FeatureContext& f) { return f.stones(f.own); },
             [](FeatureContext& f) { return f.stones(f.other); }},
            {"board_before", own_before<1>, other_before<1>},
            {"board_two_before", own_before<2>, other_before<2>},
        },
        {{"self_komi", [](FeatureContext& f) { return f.self_komi() / 20.0f; }}},
    };
}

}  // namespace tengen
