// A small fast random generator that gives the same numbers on every machine.
#pragma once

#include <cstdint>

namespace tengen {

// Steele, Lea and Flood 2014. Any seed will do, near seeds give unrelated streams. Not for secrets.
class SplitMix64 {
  public:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // of the state, from one number to the next

    explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t next() {
        std::uint64_t z = state_ += kStep;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    // 0 to bound - 1, for bound >= 1; the bias of at most bound / 2^32 does not matter on a board.
    constexpr std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
    }

    constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }       // in [0, 1)
    constexpr float uniform_float() { return static_cast<float>(next() >> 40) * 0x1p-24f; }  // in [0, 1)

  private:
    std::uint64_t state_;
};

// A hash of a number.
constexpr std::uint64_t hash64(std::uint64_t value) { return SplitMix64(value).next(); }

}  // namespace tengen
