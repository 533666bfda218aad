// What the tests of searches by playouts share.
#pragma once

#include "search/params.h"

namespace tengen::test {

inline constexpr double kForever = 1e9;  // seconds

// A search that asks no network, as plain as can be.
inline SearchParams by_playouts(Selection selection) {
    SearchParams params;
    params.selection = selection;
    params.priors = "uniform";
    params.playout = "uniform";
    params.playout_weight = 1;
    params.playouts = 1;
    params.ownership = true;
    return params;
}

}  // namespace tengen::test
