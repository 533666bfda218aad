// Distributions that draw the same numbers on every machine for a seed, as those of the standard library do not.
#pragma once

#include <cmath>
#include <cstdint>

#include "board/random.h"

namespace tengen {

class Random {
  public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    double uniform() { return bits_.uniform(); }  // in [0, 1)

    double normal() {  // Marsaglia's polar method, one of its two numbers
        for (;;) {
            const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, s = x * x + y * y;
            if (s > 0 && s < 1) return x * std::sqrt(-2 * std::log(s) / s);
        }
    }

    // The logarithm of a gamma variate of scale 1, by Marsaglia and Tsang (2000). Logarithms because a variate of small
    // alpha is often less than the smallest double.
    double log_gamma_variate(double alpha) {
        if (alpha < 1) return log_gamma_variate(alpha + 1) + std::log(1 - uniform()) / alpha;
        const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal(), t = 1 + c * x;
            if (t <= 0) continue;
            const double v = t * t * t;
            if (std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
        }
    }

  private:
    SplitMix64 bits_;
};

}  // namespace tengen
