// Plane sets: the network's view of a position, by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "features/feature_context.h"

namespace tengen {

inline constexpr int kMaxEdge = 1 << 15;  // of a tensor, whose area must fit an int

// The index of each point of a board of `size`, turned by `symmetry`, in a row-major tensor of `edge` >= size. The
// board is at the top-left of the tensor. The index is also the policy index of the point; pass is edge * edge.
class Layout {
  public:
    Layout(int size, int symmetry, int edge);
    int points() const { return points_; }
    int edge() const { return edge_; }
    int operator[](Point p) const { return at_[p]; }
    int policy_index(Point p) const { return p == points_ ? edge_ * edge_ : at_[p]; }

  private:
    int points_, edge_;
    std::array<std::int32_t, kMaxPoints> at_;
};

// Sets the values of one plane by the points of the board. A plane is 0 where nothing is set.
class PlaneWriter {
  public:
    PlaneWriter(const Layout& layout, float* plane) : layout_(layout), plane_(plane) {}
    void set(Point p, float value) { plane_[layout_[p]] = value; }
    void fill(const PointSet& points, float value = 1.0f) {
        points.for_each([&](Point p) { set(p, value); });
    }

  private:
    const Layout& layout_;
    float* plane_;
};

// A plane of a set. F is either PointSet(FeatureContext&), for a plane that is 1 on these points, or
// void(FeatureContext&, PlaneWriter&), for a plane of any values.
struct Plane {
    std::string name;
    std::function<void(FeatureContext&, PlaneWriter&)> write;

    template <class F>
    Plane(std::string name, F values) : name(std::move(name)) {
        if constexpr (std::is_invocable_v<F, FeatureContext&>)
            write = [values](FeatureContext& f, PlaneWriter& plane) { plane.fill(values(f)); };
        else
            write = std::move(values);
    }
};

struct Scalar {
    std::string name;
    std::function<float(FeatureContext&)> value;
};

struct PlaneSet {
    std::string name;
    std::vector<Plane> planes;
    std::vector<Scalar> scalars;
};

// The set of that name. Throws std::invalid_argument that lists the names there are.
const PlaneSet& plane_set(std::string_view name);
// All names except those that start with an underscore, which are internal.
std::vector<std::string> plane_set_names();

// One function a set, in the file of its system.
PlaneSet tengen_planes();
PlaneSet cody_planes();
PlaneSet bakago_planes();
PlaneSet bakago_bug_planes();
PlaneSet bakago_moves_planes();
PlaneSet alphago48_planes();
PlaneSet alphago49_planes();
PlaneSet betago3_planes();
PlaneSet betago7_planes();
PlaneSet betago11_simple_planes();
PlaneSet betago11_zero_planes();
PlaneSet deepgo_planes();
PlaneSet darkforest12_planes();
PlaneSet darkforest21_planes();
PlaneSet darkforest25_planes();
PlaneSet golois8_planes();
PlaneSet golois21_planes();
PlaneSet golois31_planes();
PlaneSet agz_planes();
PlaneSet elf_planes();
PlaneSet leela_planes();
PlaneSet katago_v3_planes();
PlaneSet katago_v4_planes();
PlaneSet katago_v5_planes();
PlaneSet katago_v6_planes();
PlaneSet katago_v7_planes();
PlaneSet katago_v7_suicide_planes();
PlaneSet test_planes();

}  // namespace tengen
