// A network for tests: arrays for positions, and results that depend on nothing but the position.
#pragma once

#include <bit>
#include <vector>

#include "board/random.h"
#include "pool/leaf_arrays.h"
#include "search/search.h"

namespace tengen::test {

inline const PlaneSet& planes() { return plane_set("tengen"); }

struct Batch {
    explicit Batch(int rows, int edge)
        : edge(edge),
          area(edge * edge),
          planes_(rows * planes().planes.size() * area),
          scalars_(rows * planes().scalars.size()),
          mask_(rows * area) {}

    LeafArrays arrays() { return {planes_.data(), scalars_.data(), mask_.data()}; }

    // Results that depend on nothing but the position: priors and a value drawn from a checksum of its row.
    LeafResults evaluate(int n) {
        policy_.assign(n * (area + 1), 0.0f);
        value_.assign(n, 0.0f);
        ownership_.assign(n * area, 0.0f);
        for (int row = 0; row < n; ++row) {
            SplitMix64 random(checksum(row));
            const auto chance = [&] { return static_cast<float>(random.below(1000)) / 1000.0f; };
            for (int p = 0; p < area; ++p) {
                if (!mask_[row * area + p]) continue;
                policy_[row * (area + 1) + p] = chance() * chance();
                ownership_[row * area + p] = 2 * chance() - 1;
            }
            policy_[row * (area + 1) + area] = 0.01f;
            value_[row] = 2 * chance() - 1;
        }
        return {policy_, value_, value_, ownership_};
    }

    int edge, area;

  private:
    // Goes over the board alone, so that the edge of the tensor does not matter.
    std::uint64_t checksum(int row) const {
        std::uint64_t sum = 1;
        const auto mix = [&](float x) { sum = hash64(sum ^ std::bit_cast<std::uint32_t>(x)); };
        const std::size_t count = planes().planes.size(), scalars = planes().scalars.size();
        for (int p = 0; p < area; ++p) {
            if (!mask_[row * area + p]) continue;
            for (std::size_t c = 0; c < count; ++c) mix(planes_[(row * count + c) * area + p]);
        }
        for (std::size_t s = 0; s < scalars; ++s) mix(scalars_[row * scalars + s]);
        return sum;
    }

    std::vector<float> planes_, scalars_, mask_, policy_, value_, ownership_;
};

}  // namespace tengen::test
