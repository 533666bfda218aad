#include "convolution/winograd.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "processor/processor.h"

namespace tengen {
namespace {

constexpr int kSpace = 320 * 1024;  // bytes of transformed input at once, so that they stay in the L2 cache

struct Compiled {
    std::string_view name;
    bool bf16;
    WinogradRun* run;
    WinogradGradientRun* gradient;
    BlockCopy *to_blocks, *from_blocks;
    std::vector<std::string_view> needs;  // flags of the processor
};

const std::vector<Compiled>& compiled() {
    static const std::vector<Compiled> all = {
#ifdef TENGEN_X86
        {"avx512_bf16",
         true,
         avx512_bf16::run_winograd,
         avx512_bf16::run_winograd_gradient,
         avx512_bf16::to_blocks,
         avx512_bf16::from_blocks,
         {"avx512f", "avx512bw", "fma", "avx512_bf16"}},
        {"avx512",
         false,
         avx512::run_winograd,
         avx512::run_winograd_gradient,
         avx512::to_blocks,
         avx512::from_blocks,
         {"avx512f", "fma"}},
        {"avx2",
         false,
         avx2::run_winograd,
         avx2::run_winograd_gradient,
         avx2::to_blocks,
         avx2::from_blocks,
         {"avx2", "fma"}},
#endif
        {"plain", false, plain::run_winograd, plain::run_winograd_gradient, plain::to_blocks, plain::from_blocks, {}},
    };
    return all;
}

bool can_run(const Compiled& set, bool bf16) { return set.bf16 == bf16 && processor_has(set.needs); }

// The set of this name, or the fastest. Throws std::invalid_argument where the processor has none.
const Compiled& chosen(std::string_view name, bool bf16) {
    for (const Compiled& set : compiled())
        if ((name.empty() || set.name == name) && can_run(set, bf16)) return set;
    throw std::invalid_argument("this processor has no instructions " + std::string(name) +
                                (bf16 ? " for products of bf16" : ""));
}

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

// The transform of weights [6][kernel]: powers of the interpolation points, over the product of their distances; the
// last one is infinity.
struct WeightTransform {
    double g[kTile][5] = {};

    explicit WeightTransform(int kernel) {
        constexpr double kPoint[] = {0, kWinogradNear, -kWinogradNear, kWinogradFar, -kWinogradFar};
        for (int i = 0; i < kTile - 1; ++i) {
            double power = 1;
            for (int j = 0; j < kTile - 1; ++j)
                if (j != i) power /= kPoint[i] - kPoint[j];
            for (int j = 0; j < kernel; ++j, power *= kPoint[i]) g[i][j] = power;
        }
        g[kTile - 1][kernel - 1] = 1;
    }
};

// The tiles of images, without room to compute in.
WinogradTiles tiles_of(int inputs, int outputs, int kernel, int batch, int rows, int columns, ImageLayout layout) {
    const int step = kTile + 1 - kernel;
    WinogradTiles tiles{};
    tiles.inputs = inputs;
    tiles.outputs = outputs;
    tiles.kernel = kernel;
    tiles.batch = batch;
    tiles.rows = rows;
    tiles.columns = columns;
    tiles.layout = layout;
    tiles.across = (columns + step - 1) / step;
    tiles.down = (rows + step - 1) / step;
    tiles.depth = rounded_up(inputs, kDepthUnit);
    tiles.end = batch * tiles.down;
    return tiles;
}

// Calls `run` with the lines of tiles at once that fit in the cache, where each of the 36 points of a tile takes so
// many bytes, in nearly equal parts. `give_space` makes room for the points of the tiles of a part.
template <class Call>
void run_parts(Call call, int bytes, auto give_space, void (*run)(const Call&)) {
    const int all = call.end, fitting = std::max(1, kSpace / std::max(1, kPoints * bytes * call.across));
    const int parts = (all + fitting - 1) / fitting;
    for (int part = 0; part < parts; ++part) {
        call.begin = static_cast<int>(static_cast<std::int64_t>(all) * part / parts);
        call.end = static_cast<int>(static_cast<std::int64_t>(all) * (part + 1) / parts);
        give_space(call, static_cast<size_t>(kPoints) * (call.end - call.begin) * call.across);
        run(call);
    }
}

size_t lines(size_t floats) { return (floats + kColumns - 1) / kColumns; }

// Lines of the strip of a call.
size_t strip_lines(const WinogradTiles& tiles) {
    const int width = tiles.across * (kTile + 1 - tiles.kernel) + kTile;
    return static_cast<size_t>(kTile) * width + static_cast<size_t>(tiles.rows) * tiles.columns;
}

// The nearest number of bf16, the even one of two.
unsigned short to_bf16(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

std::vector<std::string_view> Winograd::available(bool bf16) {
    std::vector<std::string_view> names;
    for (const Compiled& set : compiled())
        if (can_run(set, bf16)) names.push_back(set.name);
    return names;
}

Winograd::Winograd(const float* weights, const float* bias, int outputs, int inputs, int kernel, bool bf16,
                   std::string_view instructions)
    : inputs_(inputs), outputs_(outputs), kernel_(kernel), bf16_(bf16) {
    const Compiled& set = chosen(instructions, bf16);
    run_ = set.run;
    to_blocks_ = set.to_blocks;
    from_blocks_ = set.from_blocks;
    const int padded = rounded_up(inputs, kDepthUnit), depth = bf16 ? padded / 2 : padded;
    const int wide = rounded_up(outputs, kColumns);
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
                const int column = k % kColumns;
                if (bf16)
                    weights_[block * depth + c / 2].halves[2 * column + c % 2] = to_bf16(sum);
                else
                    weights_[block * depth + c].at[column] = static_cast<float>(sum);
            }
        }
    }
}

void Winograd::run(const float* in, const float* residual, bool relu, float* out, int batch, int rows, int columns,
                   ImageLayout layout, const WinogradInput& before) const {
    WinogradCall whole{};
    static_cast<WinogradTiles&>(whole) = tiles_of(inputs_, outputs_, kernel_, batch, rows, columns, layout);
    whole.in = in;
    whole.residual = residual;
    whole.before = before;
    whole.out = out;
    whole.relu = relu;
    run_call(whole);
}

void Winograd::run(const std::uint16_t* in, std::uint16_t* out, int batch, int rows, int columns) const {
    if (!bf16_) throw std::invalid_argument("images of bf16 need products of bf16");
    WinogradCall whole{};
    static_cast<WinogradTiles&>(whole) =
        tiles_of(inputs_, outputs_, kernel_, batch, rows, columns, ImageLayout::channels_last);
    whole.halves = true;
    whole.in = in;
    whole.out = out;
    run_call(whole);
}

// Runs a call that has all but weights, bias and room.
void Winograd::run_call(WinogradCall& whole) const {
    whole.weights = weights_.data();
    whole.bias = bias_.data();
    static thread_local std::vector<WinogradLine> space;
    const auto give_space = [](WinogradCall& call, size_t tiles) {
        const size_t strip = strip_lines(call), transformed = lines(tiles * call.depth);
        space.resize(strip + transformed + 2 * tiles);
        call.strip = space[0].at;
        call.transformed = space[strip].at;
        call.products = space[strip + transformed].at;
    };
    run_parts(whole, (bf16_ ? 2 : 4) * whole.depth, give_space, run_);
}

void Winograd::to_blocks(const float* images, float* blocks, int batch, int channels, int points) const {
    for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
        to_blocks_(images + i * channels * points, blocks + i * block_size(channels, points), channels, points);
}

void Winograd::from_blocks(const float* blocks, float* images, int batch, int channels, int points) const {
    for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
        from_blocks_(blocks + i * block_size(channels, points), images + i * channels * points, channels, points);
}

namespace {

void weight_gradient(const void* in, const void* gradient, float* weights, const WinogradTiles& tiles, bool bf16) {
    const Compiled& set = chosen({}, bf16);
    WinogradGradientCall whole{};
    static_cast<WinogradTiles&>(whole) = tiles;
    const int inputs = tiles.inputs, outputs = tiles.outputs, kernel = tiles.kernel;
    const int depth = whole.depth, wide = rounded_up(outputs, kColumns);
    static thread_local std::vector<WinogradLine> space;
    static thread_local std::vector<float> sums;
    sums.assign(static_cast<size_t>(kPoints) * depth * wide, 0);
    whole.in = in;
    whole.gradient = gradient;
    whole.wide = wide;
    whole.sums = sums.data();
    const auto give_space = [](WinogradGradientCall& call, size_t tiles) {
        const size_t strip = strip_lines(call), transformed = lines(tiles * call.depth);
        space.resize(strip + transformed + lines(tiles * call.wide));
        call.strip = space[0].at;
        call.transformed = space[strip].at;
        call.gradients = space[strip + transformed].at;
    };
    // Twice the space of a convolution: the sums are read and written less often.
    run_parts(whole, (bf16 ? 1 : 2) * (depth + wide), give_space, set.gradient);
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

}  // namespace

void winograd_weight_gradient(const float* in, const float* gradient, float* weights, int outputs, int inputs,
                              int kernel, int batch, int rows, int columns, bool channels_last, bool bf16) {
    const auto layout = channels_last ? ImageLayout::channels_last : ImageLayout::channels_first;
    const auto tiles = tiles_of(inputs, outputs, kernel, batch, rows, columns, layout);
    weight_gradient(in, gradient, weights, tiles, bf16);
}

void winograd_weight_gradient(const std::uint16_t* in, const std::uint16_t* gradient, float* weights, int outputs,
                              int inputs, int kernel, int batch, int rows, int columns) {
    auto tiles = tiles_of(inputs, outputs, kernel, batch, rows, columns, ImageLayout::channels_last);
    tiles.halves = true;
    weight_gradient(in, gradient, weights, tiles, true);
}

}  // namespace tengen
