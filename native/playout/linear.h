// Playouts by a learned softmax over local features.
#pragma once

#include <filesystem>
#include <memory>

#include "playout/linear_weights.h"
#include "playout/policy.h"

namespace tengen {

// The last move and the one before it.
std::array<Point, 2> last_two(std::span<const Move> moves);

// Draws each move in proportion to e to the sum of its features' weights (linear_features.h), among the moves that are
// legal by simple ko without suicide and fill no own true eye; a pass only where there is none.
class LinearPolicy final : public PlayoutPolicy {
  public:
    // With a temperature playouts draw in proportion to the weights to the power 1 / temperature. weigh() does not.
    explicit LinearPolicy(LinearWeights weights)
        : LinearPolicy(std::make_shared<const LinearWeights>(std::move(weights))) {}
    explicit LinearPolicy(std::shared_ptr<const LinearWeights> weights, float temperature = 1)
        : weights_(std::move(weights)), power_(1 / temperature) {}

    int play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
             PlayoutTrace* trace) const override;

    // The softmax weights; a pass weighs 0 unless no other of all moves has a weight, then 1.
    void weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
               std::span<float> weights) const override;

  private:
    std::shared_ptr<const LinearWeights> weights_;
    float power_;
};

// The native code does not know where the weights of the package lie: `linear` is the file named here, read when the
// policy is first asked for; "linear:PATH", in UTF-8, is any other file, read once while its weights are in use and the
// file is as it was. Python names the file when tengen is imported.
void set_linear_path(std::filesystem::path path);
bool has_linear_path();

// `name` is "linear" or "linear:PATH". Throws std::invalid_argument for a file that cannot be used, or while none is
// named.
std::shared_ptr<const PlayoutPolicy> linear_policy(std::string_view name, float temperature = 1);

}  // namespace tengen
