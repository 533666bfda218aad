// Plane sets: what a network sees of a position, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/feature_context.h"

namespace tengen {

struct Plane {
    std::string name;
    PointSet (*points)(FeatureContext&);           // where the plane is 1; it is 0 elsewhere
    PointSet (*minus)(FeatureContext&) = nullptr;  // where it is -1
};

struct Scalar {
    std::string name;
    float (*value)(FeatureContext&);
};

struct PlaneSet {
    std::string name;
    std::vector<Plane> planes;
    std::vector<Scalar> scalars;
};

// The set of that name. Throws std::invalid_argument that lists the names there are.
const PlaneSet& plane_set(std::string_view name);
std::vector<std::string> plane_set_names();

// One function a set, in a file of its own.
PlaneSet tengen_planes();
PlaneSet cody_planes();

}  // namespace tengen
