#include "features/plane_set.h"

#include <stdexcept>

namespace tengen {

namespace {

const std::vector<PlaneSet>& registry() {
    static const std::vector<PlaneSet> sets = {tengen_planes(), cody_planes()};
    return sets;
}

}  // namespace

std::vector<std::string> plane_set_names() {
    std::vector<std::string> names;
    for (const PlaneSet& set : registry()) names.push_back(set.name);
    return names;
}

const PlaneSet& plane_set(std::string_view name) {
    std::string known;
    for (const PlaneSet& set : registry()) {
        if (set.name == name) return set;
        known += (known.empty() ? "" : ", ") + set.name;
    }
    throw std::invalid_argument("unknown plane set '" + std::string(name) + "'; there are: " + known);
}

}  // namespace tengen
