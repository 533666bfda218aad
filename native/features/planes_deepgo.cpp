// The plane set `deepgo8` of Deep-Go: the seven planes of `betago7` and the first line.
#include "features/plane_parts.h"

namespace tengen {

PlaneSet deepgo_planes() {
    PlaneSet set = betago7_planes();
    set.name = "deepgo8";
    set.planes.emplace_back("border", border);
    return set;
}

}  // namespace tengen
