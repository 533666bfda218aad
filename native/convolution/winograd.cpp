#include "convolution/winograd.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "processor/processor.h"

namespace tengen {
namespace {

constexpr int kSpace = 80 * 1024;  // floats of transformed input at once, so that they stay in the L2 cache

struct Compiled {
    std::string_view name;
    WinogradRun* run;
    WinogradGradientRun* gradient;
    std::vector<std::string_view> needs;  // flags of the processor
};

const std::vector<Compiled>& compiled() {
    static const std::vector<Compiled> all = {
#ifdef TENGEN_X86
        {"avx512", avx512::run_winograd, avx512::run_winograd_gradient, {"avx512f", "fma"}},
        {"avx2", avx2::run_winograd, avx2::run_winograd_gradient, {"avx2", "fma"}},
#endif
        {"plain", plain::run_winograd, plain::run_winograd_gradient, {}},
    };
    return all;
}

bool can_run(const Compiled& set) {
    const auto& flags = processor_flags();
    return std::ranges::all_of(set.needs, [&](auto need) { return std::ranges::find(flags, need) != flags.end(); });
}

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/// The transform of weights [6][kernel]: powers of the interpolation points, over the product of their distances; the
/// last one is infinity.
struct WeightTransform {
    double g[kTile][5] = {};

    explicit WeightTransform(int kernel) {
        constexpr double kPoint[] = {0, 1, -1, 2, -2}, kScale[] = {0.25, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24};
        for (int i = 0; i < kTile - 1; ++i) {
            double power = kScale[i];
            for (int j = 0; j < kernel; ++j, power *= kPoint[i]) g[i][j] = power;
        }
        g[kTile - 1][kernel - 1] = 1;
    }
};

/// The tiles of images, `floats` of transformed input, and perhaps gradients, at once; without room to compute in.
WinogradTiles tiles_of(int inputs, int outputs, int kernel, int batch, int rows, int columns, bool channels_last,
                       int floats, int channels) {
    const int step = kTile + 1 - kernel;
    WinogradTiles tiles{inputs, outputs, kernel, batch, rows, columns, channels_last};
    tiles.across = (columns + step - 1) / step;
    tiles.down = (rows + step - 1) / step;
    tiles.depth = rounded_up(inputs, kLanes);
    tiles.together = std::clamp(floats / (kPoints * channels * tiles.across), 1, batch * tiles.down);
    return tiles;
}

size_t lines(size_t floats) { return (floats + kColumns - 1) / kColumns; }

/// Lines of the strip of a call.
size_t strip_lines(const WinogradTiles& tiles) {
    return lines(static_cast<size_t>(kTile) * (tiles.across * (kTile + 1 - tiles.kernel) + kTile) * kLanes);
}

}  // namespace

std::vector<std::string_view> Winograd::available() {
    std::vector<std::string_view> names;
    for (const Compiled& set : compiled())
        if (can_run(set)) names.push_back(set.name);
    return names;
}

Winograd::Winograd(const float* weights, const float* bias, int outputs, int inputs, int kernel,
                   std::string_view instructions)
    : inputs_(inputs), outputs_(outputs), kernel_(kernel) {
    const auto set = std::ranges::find_if(compiled(), [&](const Compiled& each) {
        return (instructions.empty() || each.name == instructions) && can_run(each);
    });
    if (set == compiled().end())
        throw std::invalid_argument("this processor has no instructions " + std::string(instructions));
    run_ = set->run;
    const int depth = rounded_up(inputs, kLanes), wide = rounded_up(outputs, kColumns);
    weights_.resize(static_cast<size_t>(wide / kColumns) * kPoints * depth);
    bias_.assign(wide, 0);
    if (bias) std::copy_n(bias, outputs, bias_.begin());
    const auto& g = WeightTransform(kernel).g;
    for (int k = 0; k < outputs; ++k) {
        for (int c = 0; c < inputs; ++c) {
            const float* from = weights + (static_cast<size_t>(k) * inputs + c) * kernel * kernel;
            double down[kTile][5] = {};
            for (int i = 0; i < kTile; ++i)
                for (int y = 0; y < kernel; ++y)
                    for (int x = 0; x < kernel; ++x) down[i][x] += g[i][y] * from[y * kernel + x];
            for (int i = 0; i < kPoints; ++i) {
                double sum = 0;
                for (int x = 0; x < kernel; ++x) sum += g[i % kTile][x] * down[i / kTile][x];
                const size_t block = static_cast<size_t>(k / kColumns) * kPoints + i;
                weights_[block * depth + c].at[k % kColumns] = static_cast<float>(sum);
            }
        }
    }
}

void Winograd::run(const float* in, const float* residual, bool relu, float* out, int batch, int rows, int columns,
                   bool channels_last) const {
    const int depth = rounded_up(inputs_, kLanes);
    WinogradCall call{tiles_of(inputs_, outputs_, kernel_, batch, rows, columns, channels_last, kSpace, depth)};
    const size_t strip = strip_lines(call), tiles = static_cast<size_t>(kPoints) * call.together * call.across;
    const size_t transformed = lines(tiles * depth);
    static thread_local std::vector<WinogradLine> space;
    space.resize(strip + transformed + tiles);
    call.in = in;
    call.residual = residual;
    call.out = out;
    call.relu = relu;
    call.weights = weights_.data();
    call.bias = bias_.data();
    call.strip = space[0].at;
    call.transformed = space[strip].at;
    call.products = space[strip + transformed].at;
    run_(call);
}

void winograd_weight_gradient(const float* in, const float* gradient, float* weights, int outputs, int inputs,
                              int kernel, int batch, int rows, int columns, bool channels_last) {
    const int depth = rounded_up(inputs, kLanes), wide = rounded_up(outputs, kColumns);
    // Twice the space of a convolution: the sums are read and written less often.
    WinogradGradientCall call{
        tiles_of(inputs, outputs, kernel, batch, rows, columns, channels_last, 2 * kSpace, depth + wide)};
    const size_t strip = strip_lines(call), tiles = static_cast<size_t>(kPoints) * call.together * call.across;
    const size_t transformed = lines(tiles * depth), gradients = lines(tiles * wide);
    static thread_local std::vector<WinogradLine> space;
    static thread_local std::vector<float> sums;
    space.resize(strip + transformed + gradients);
    sums.assign(static_cast<size_t>(kPoints) * depth * wide, 0);
    call.in = in;
    call.gradient = gradient;
    call.wide = wide;
    call.strip = space[0].at;
    call.transformed = space[strip].at;
    call.gradients = space[strip + transformed].at;
    call.sums = sums.data();
    std::ranges::find_if(compiled(), can_run)->gradient(call);
    // The reverse of the transform of weights.
    const auto& g = WeightTransform(kernel).g;
    for (int k = 0; k < outputs; ++k) {
        for (int c = 0; c < inputs; ++c) {
            double across[kTile][5] = {};
            for (int i = 0; i < kPoints; ++i) {
                const double sum = sums[(static_cast<size_t>(i) * depth + c) * wide + k];
                for (int x = 0; x < kernel; ++x) across[i / kTile][x] += g[i % kTile][x] * sum;
            }
            float* to = weights + (static_cast<size_t>(k) * inputs + c) * kernel * kernel;
            for (int y = 0; y < kernel; ++y) {
                for (int x = 0; x < kernel; ++x) {
                    double sum = 0;
                    for (int i = 0; i < kTile; ++i) sum += g[i][y] * across[i][x];
                    to[y * kernel + x] = static_cast<float>(sum);
                }
            }
        }
    }
}

}  // namespace tengen
