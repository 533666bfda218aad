#include "features/plane_set.h"

#include <stdexcept>

namespace tengen {

namespace {

// The set `_points`: one plane with the number of each point. Sets written in Python take the symmetry from it.
PlaneSet points_plane() {
    return {"_points",
            {{"point",
              [](FeatureContext& f, PlaneWriter& plane) {
                  f.board.table().all.for_each([&](Point p) { plane.set(p, static_cast<float>(p)); });
              }}},
            {}};
}

const std::vector<PlaneSet>& registry() {
    static const std::vector<PlaneSet> sets = {tengen_planes(),
                                               cody_planes(),
                                               bakago_planes(),
                                               bakago_bug_planes(),
                                               bakago_moves_planes(),
                                               alphago48_planes(),
                                               alphago49_planes(),
                                               betago3_planes(),
                                               betago7_planes(),
                                               betago11_simple_planes(),
                                               betago11_zero_planes(),
                                               deepgo_planes(),
                                               darkforest12_planes(),
                                               darkforest21_planes(),
                                               darkforest25_planes(),
                                               golois8_planes(),
                                               golois21_planes(),
                                               golois31_planes(),
                                               agz_planes(),
                                               elf_planes(),
                                               leela_planes(),
                                               katago_v3_planes(),
                                               katago_v4_planes(),
                                               katago_v5_planes(),
                                               katago_v6_planes(),
                                               katago_v7_planes(),
                                               katago_v7_suicide_planes(),
                                               test_planes(),
                                               points_plane()};
    return sets;
}

}  // namespace

std::vector<std::string> plane_set_names() {
    std::vector<std::string> names;
    for (const PlaneSet& set : registry())
        if (!set.name.starts_with('_')) names.push_back(set.name);
    return names;
}

const PlaneSet& plane_set(std::string_view name) {
    for (const PlaneSet& set : registry())
        if (set.name == name) return set;
    std::string known;
    for (const std::string& listed : plane_set_names()) known += (known.empty() ? "" : ", ") + listed;
    throw std::invalid_argument("unknown plane set '" + std::string(name) + "'; there are: " + known);
}

}  // namespace tengen
