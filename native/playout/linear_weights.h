// The weights of the linear playout policy, as their file holds them and as playouts use them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "playout/linear_features.h"

namespace tengen {

// The logarithm of a move's weight is the sum of the weights of its features, kept in steps of 1 / kWeightScale.
inline constexpr int kWeightScale = 16;

// The file: "TENGENLP", then in the processor's (little endian) order uint32 format (1), uint32 bytes of the card, the
// card (JSON, read by Python), uint32 kFeatures, int8 weight of each feature, uint32 checksum of all before it.
class LinearWeights {
  public:
    // Throws std::invalid_argument unless there are kFeatures steps.
    explicit LinearWeights(std::vector<std::int8_t> steps);

    int step(Feature feature) const { return steps_[feature]; }
    void fetch(Feature feature) const { __builtin_prefetch(&steps_[feature]); }  // a step() will follow

    // e to the sum of some steps; sums beyond +-kMaxSteps count as that.
    static constexpr int kMaxSteps = 511;
    float power(int steps) const { return powers_[std::clamp(steps, -kMaxSteps, kMaxSteps) + kMaxSteps]; }

    // Factors of the points by how they lie from another, as rows of kRowStride: that for `rows` and `columns` away is
    // row(rows)[kMiddle + columns], both signs of columns.
    static constexpr int kMiddle = kMaxSize - 1, kRowStride = kMaxSize <= 24 ? 48 : 56;
    using Lattice = std::array<float, kMaxSize * kRowStride>;
    const Lattice& reply(int situation) const { return replies_[situation]; }
    const Lattice& follow(int situation) const { return follows_[situation]; }

  private:
    std::vector<std::int8_t> steps_;
    std::array<float, 2 * kMaxSteps + 1> powers_;
    std::vector<Lattice> replies_, follows_;
};

// Both throw std::invalid_argument that names the file and what is wrong with it.
LinearWeights read_linear_weights(const std::filesystem::path& path);
void write_linear_weights(const std::filesystem::path& path, const std::string& card,
                          std::span<const std::int8_t> steps);

}  // namespace tengen
