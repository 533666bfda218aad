#include "playout/linear_moves.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "playout/candidates.h"

namespace tengen {

namespace {

constexpr LinearWeights::Lattice kOnes = [] {
    LinearWeights::Lattice ones{};
    ones.fill(1.0f);
    return ones;
}();

// Where the factors of a row begin, for its column 0.
const float* factors(const LinearWeights::Lattice& lattice, Point center, int row, int size) {
    if (center == kNoPoint) return lattice.data();
    return lattice.data() + std::abs(row - center / size) * LinearWeights::kRowStride + LinearWeights::kMiddle -
           center % size;
}

}  // namespace

LinearMoves::LinearMoves(const LinearWeights& weights, const Board& board, Point last, Point before)
    : weights_(&weights), patterns_(board), last_(last), before_(before) {
    const int size = board.size();
    for (Point p = 0; p < board.points(); ++p) {
        cells_[p] = static_cast<std::int16_t>(p / size * kStride + p % size);
        places_[p] = static_cast<std::uint8_t>(place_index(p, size));
    }
    for (auto& steps : pattern_steps_) steps.fill(kNever);
    set_stage(board);
}

void LinearMoves::play(Board& board, Point p, Color color) {
    patterns_.play(board, p, color);
    before_ = last_;
    last_ = p;
    if (stage(board) != stage_) set_stage(board);
}

void LinearMoves::set_stage(const Board& board) {
    stage_ = stage(board);
    const Feature first = kPlace.first + stage_ * kPlaces;
    for (int side = 0; side < 2; ++side)
        for (Point p = 0; p < board.points(); ++p)
            if (const int steps = pattern_steps_[side][p]; steps != kNever)
                standing_[side][cell(p)] = weights_->power(steps + weights_->step(first + places_[p]));
}

// In two walks, so that the memory of all weights is on its way before the first is used: the tables are larger than
// the nearest caches, and waiting took a quarter of the time.
void LinearMoves::refresh(const Board& board, Color side) {
    struct Waiting {
        Point point;
        PatternFeatures found;
    };
    std::array<Waiting, kMaxPoints> waiting;
    int count = 0;
    auto& steps = pattern_steps_[index(side)];
    auto& standing = standing_[index(side)];
    patterns_.refresh(side, [&](Point p) {
        // A point with an empty neighbour is no eye, no suicide and no ko.
        const bool open = board.table().neighbor_sets[p].intersects(board.empty_points());
        if (board.at(p) != Color::empty || (!open && !is_playable(board, p, side))) {
            steps[p] = kNever;
            standing[cell(p)] = 0.0f;
            return;
        }
        const PatternFeatures found = patterns_.at(board, p, side);
        for (const Feature f : {found.pattern8, found.pattern12, found.pattern28}) weights_->fetch(f);
        waiting[count++] = {p, found};
    });
    const Feature first = kPlace.first + stage_ * kPlaces;
    for (int i = 0; i < count; ++i) {
        const auto& [p, found] = waiting[i];
        steps[p] = static_cast<std::int16_t>(weights_->step(found.pattern8) + weights_->step(found.pattern12) +
                                             weights_->step(found.pattern28));
        standing[cell(p)] = weights_->power(steps[p] + weights_->step(first + places_[p]));
    }
}

template <int kColumns>
void LinearMoves::multiply(const Board& board, Color side, const Situation& now) {
    const int size = board.size();
    const auto& reply = now.last == kNoPoint ? kOnes : weights_->reply(now.reply);
    const auto& follow = now.before == kNoPoint || now.last == kNoPoint ? kOnes : weights_->follow(now.follow);
    const Point before = now.last == kNoPoint ? kNoPoint : now.before;
    for (int row = 0; row < size; ++row) {
        const float* a = factors(reply, now.last, row, size);
        const float* b = factors(follow, before, row, size);
        const float* standing = standing_[index(side)].data() + row * kStride;
        float* product = product_.data() + row * kStride;
        for (int column = 0; column < kColumns; ++column) product[column] = standing[column] * (a[column] * b[column]);
    }
}

void LinearMoves::weigh(const Board& board, Color side) {
    refresh(board, side);
    const Situation now(board, side, last_, before_);
    if (board.size() > 16)
        multiply<kStride>(board, side, now);
    else if (board.size() > 8)
        multiply<16>(board, side, now);
    else
        multiply<8>(board, side, now);
    LocalFeatures local;
    patterns_.add_response(board, side, now.last, local);
    add_tactics(board, side, now, local);
    for (const auto& [p, feature] : local.span()) product_[cell(p)] *= weights_->power(weights_->step(feature));
}

// Relative to the largest weight, so that no power overflows.
void LinearMoves::raise(float power) {
    const float largest = *std::max_element(product_.begin(), product_.end());
    if (!(largest > 0.0f)) return;
    const int whole = power == std::floor(power) && power <= 16 ? static_cast<int>(power) : 0;
    for (float& weight : product_) {
        const float share = weight / largest;
        weight = share;
        for (int i = 1; i < whole; ++i) weight *= share;  // much faster than std::pow
        if (whole == 0) weight = std::pow(share, power);
    }
}

Point LinearMoves::draw(const Board& board, Color side, SplitMix64& random, float power) {
    weigh(board, side);
    if (power != 1.0f) raise(power);
    const int size = board.size();
    // Sums of the columns, since those add up side by side in a vector.
    std::array<float, kStride> sums{};
    for (int row = 0; row < size; ++row)
        for (int column = 0; column < kStride; ++column) sums[column] += product_[row * kStride + column];
    float total = 0.0f;
    for (int column = 0; column < size; ++column) total += sums[column];
    if (!(total > 0.0f)) return board.pass();
    float left = total * random.uniform_float();
    // Rounding may leave a rest at the end of either walk: then the last that has a weight is drawn.
    int chosen = 0;
    for (int column = 0; column < size; ++column) {
        if (sums[column] <= 0.0f) continue;
        chosen = column;
        if (left < sums[column]) break;
        left -= sums[column];
    }
    Point found = board.pass();
    for (int row = 0; row < size; ++row) {
        const float weight = product_[row * kStride + chosen];
        if (weight <= 0.0f) continue;
        found = static_cast<Point>(row * size + chosen);
        if (left < weight) break;
        left -= weight;
    }
    return found;
}

}  // namespace tengen
