// Learning the weights of the linear playout policy from games, by the likelihood of the moves that were played.
#pragma once

#include <optional>
#include <vector>

#include "playout/linear_patterns.h"

namespace tengen {

// A game as the store keeps it: points with bit 15 set for White, a pass is size * size.
struct RecordedGame {
    int size;
    std::span<const std::uint16_t> black_stones, white_stones, moves;
};

// What was found over some positions: the moves played that the policy weighed heaviest (a share where weights tie) or
// among its five heaviest, and the sum of minus the logarithm of their probabilities.
struct Prediction {
    long positions = 0;
    double top1 = 0.0, top5 = 0.0, loss = 0.0;
};

// The features of every move that the policy may draw in one position; features of move i are
// features[offsets[i] .. offsets[i + 1]).
struct MoveFeatures {
    std::vector<Point> points;
    std::vector<int> offsets;
    std::vector<Feature> features;
};
MoveFeatures move_features(const Board& board, Color side, Point last, Point before);

// Softmax regression by AdaGrad (Duchi et al. 2011), a step after every position, single-threaded and so repeatable.
class LinearTrainer {
  public:
    LinearTrainer();

    // Learns from every move of a game, or of one color's, but passes and moves that the policy never makes;
    // predictions are counted before each step. Throws std::invalid_argument where a move or stone is off the board or
    // not on an empty point.
    Prediction learn(const RecordedGame& game, float rate, std::optional<Color> player = {});

    // Predicts the move at one ply, which must be in the game; nothing is counted if it is a pass.
    Prediction judge(const RecordedGame& game, int ply) const;

    // Steps of 1 / kWeightScale, for a weights file.
    std::vector<std::int8_t> steps() const;

    // The whole state: float [kFeatures] each.
    std::span<float> weights() { return weights_; }
    std::span<float> squares() { return squares_; }

  private:
    friend MoveFeatures move_features(const Board&, Color, Point, Point);
    class Follower;
    std::size_t predict(const MoveFeatures& moves, Point played, Prediction& sum, std::vector<float>& chances) const;

    std::vector<float> weights_, squares_;
};

}  // namespace tengen
