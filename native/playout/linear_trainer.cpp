#include "playout/linear_trainer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "playout/candidates.h"
#include "playout/linear_weights.h"

namespace tengen {

namespace {

constexpr float kFirstSquare = 1e-6f;  // so that the first step is of the size of the rate
constexpr float kNegligible = 1e-4f;   // gradients below it are left out: most moves of most positions
constexpr double kImpossible = 1e-12;  // the probability taken for a move that the policy never makes

}  // namespace

// A game on its way, with the patterns of all points for both sides.
class LinearTrainer::Follower {
  public:
    explicit Follower(const RecordedGame& game) : board_(setup(game)), patterns_(board_) {}
    Follower(const Board& board, Point last, Point before)
        : board_(board), patterns_(board_), last_(last), before_(before) {}

    void play(std::uint16_t move) {
        const Point p = move_point(move);
        check(board_, p, true);
        patterns_.play(board_, p, move_color(move));
        before_ = last_;
        last_ = p;
    }

    void collect(Color side, MoveFeatures& out) {
        auto& known = known_[index(side)];
        patterns_.refresh(side, [&](Point p) {
            known[p].playable = board_.at(p) == Color::empty && is_playable(board_, p, side);
            if (known[p].playable) known[p].patterns = patterns_.at(board_, p, side);
        });
        const int size = board_.size();
        const Situation now(board_, side, last_, before_);
        LocalFeatures local;
        patterns_.add_response(board_, side, now.last, local);
        add_tactics(board_, side, now, local);
        const Feature place = kPlace.first + stage(board_) * kPlaces;
        out.points.clear();
        out.features.clear();
        out.offsets.assign(1, 0);
        for (Point p = 0; p < board_.points(); ++p) {
            if (!known[p].playable) continue;
            const auto& [pattern8, pattern12, pattern28] = known[p].patterns;
            out.points.push_back(p);
            out.features.insert(out.features.end(), {pattern8, pattern12, pattern28, place + place_index(p, size)});
            if (now.last != kNoPoint) out.features.push_back(now.reply_feature(offset(p, now.last)));
            if (now.last != kNoPoint && now.before != kNoPoint)
                out.features.push_back(now.follow_feature(offset(p, now.before)));
            for (const auto& [at, feature] : local.span())
                if (at == p) out.features.push_back(feature);
            out.offsets.push_back(static_cast<int>(out.features.size()));
        }
    }

  private:
    struct Known {
        bool playable = false;
        PatternFeatures patterns{};
    };

    static void check(const Board& board, int p, bool pass_allowed) {
        if (p > board.points() - !pass_allowed ||
            (p < board.points() && board.at(static_cast<Point>(p)) != Color::empty))
            throw std::invalid_argument("this is no game: a stone on point " + std::to_string(p));
    }
    static Board setup(const RecordedGame& game) {
        Board board(game.size);
        const auto place = [&](std::span<const std::uint16_t> stones, Color color) {
            for (const auto p : stones) {
                check(board, p, false);
                board.place(static_cast<Point>(p), color);
            }
        };
        place(game.black_stones, Color::black);
        place(game.white_stones, Color::white);
        return board;
    }
    int offset(Point a, Point b) const {
        const int size = board_.size();
        return offset_index(std::abs(a / size - b / size), std::abs(a % size - b % size));
    }

    Board board_;
    LinearPatterns patterns_;
    Point last_ = kNoPoint, before_ = kNoPoint;
    std::array<std::array<Known, kMaxPoints>, 2> known_;
};

MoveFeatures move_features(const Board& board, Color side, Point last, Point before) {
    MoveFeatures found;
    LinearTrainer::Follower(board, last, before).collect(side, found);
    return found;
}

LinearTrainer::LinearTrainer() : weights_(kFeatures, 0.0f), squares_(kFeatures, kFirstSquare) {}

// Adds to `sum` and writes the probability of every move. Returns the index of the move played, or the number of moves
// where it is none of them.
std::size_t LinearTrainer::predict(const MoveFeatures& moves, Point played, Prediction& sum,
                                   std::vector<float>& chances) const {
    const std::size_t count = moves.points.size();
    chances.resize(count);
    float most = -INFINITY;
    for (std::size_t i = 0; i < count; ++i) {
        float total = 0.0f;
        for (int j = moves.offsets[i]; j < moves.offsets[i + 1]; ++j) total += weights_[moves.features[j]];
        chances[i] = total;
        most = std::max(most, total);
    }
    double whole = 0.0;
    for (float& chance : chances) whole += chance = std::exp(chance - most);
    for (float& chance : chances) chance = static_cast<float>(chance / whole);

    ++sum.positions;
    const std::size_t at = std::ranges::find(moves.points, played) - moves.points.begin();
    if (at == count) {
        sum.loss -= std::log(kImpossible);
        return at;
    }
    const auto ahead = std::ranges::count_if(chances, [&](float chance) { return chance > chances[at]; });
    const auto ties = static_cast<double>(std::ranges::count(chances, chances[at]));
    sum.top1 += std::clamp((1 - ahead) / ties, 0.0, 1.0);
    sum.top5 += std::clamp((5 - ahead) / ties, 0.0, 1.0);
    sum.loss -= std::log(std::max(static_cast<double>(chances[at]), kImpossible));
    return at;
}

Prediction LinearTrainer::learn(const RecordedGame& game, float rate, std::optional<Color> player) {
    Follower follower(game);
    Prediction sum;
    MoveFeatures moves;
    std::vector<float> chances;
    for (const auto move : game.moves) {
        const Point played = move_point(move);
        const bool learned = !player || move_color(move) == *player;
        if (learned && played != game.size * game.size) {
            follower.collect(move_color(move), moves);
            const std::size_t count = moves.points.size(), at = predict(moves, played, sum, chances);
            for (std::size_t i = 0; at < count && i < count; ++i) {
                const float slope = (i == at ? 1.0f : 0.0f) - chances[i];
                if (std::abs(slope) < kNegligible) continue;
                for (int j = moves.offsets[i]; j < moves.offsets[i + 1]; ++j) {
                    const Feature f = moves.features[j];
                    squares_[f] += slope * slope;
                    weights_[f] += rate * slope / std::sqrt(squares_[f]);
                }
            }
        }
        follower.play(move);
    }
    return sum;
}

Prediction LinearTrainer::judge(const RecordedGame& game, int ply) const {
    Follower follower(game);
    Prediction sum;
    for (const auto move : game.moves.first(ply)) follower.play(move);
    const auto move = game.moves[ply];
    if (move_point(move) == game.size * game.size) return sum;
    MoveFeatures moves;
    std::vector<float> chances;
    follower.collect(move_color(move), moves);
    predict(moves, move_point(move), sum, chances);
    return sum;
}

std::vector<std::int8_t> LinearTrainer::steps() const {
    std::vector<std::int8_t> steps(kFeatures);
    std::ranges::transform(weights_, steps.begin(), [](float weight) {
        return static_cast<std::int8_t>(std::clamp(std::round(weight * kWeightScale), -127.0f, 127.0f));
    });
    return steps;
}

}  // namespace tengen
