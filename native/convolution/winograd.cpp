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
    std::vector<std::string_view> needs;  // flags of the processor
};

const std::vector<Compiled>& compiled() {
    static const std::vector<Compiled> all = {
#ifdef TENGEN_X86
        {"avx512", avx512::run_winograd, {"avx512f", "fma"}},
        {"avx2", avx2::run_winograd, {"avx2", "fma"}},
#endif
        {"plain", plain::run_winograd, {}},
    };
    return all;
}

bool can_run(const Compiled& set) {
    const auto& flags = processor_flags();
    return std::ranges::all_of(set.needs, [&](auto need) { return std::ranges::find(flags, need) != flags.end(); });
}

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

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
    // Powers of the interpolation points, over the product of their distances; the last one is infinity.
    constexpr double kPoint[] = {0, 1, -1, 2, -2}, kScale[] = {0.25, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24};
    double g[kTile][5] = {};
    for (int i = 0; i < kTile - 1; ++i) {
        double power = kScale[i];
        for (int j = 0; j < kernel; ++j, power *= kPoint[i]) g[i][j] = power;
    }
    g[kTile - 1][kernel - 1] = 1;
    for (int k = 0; k < outputs; ++k) {
        for (int c = 0; c < inputs; ++c) {
            const float* from = weights + (static_cast<size_t>(k) * inputs + c) * kernel * kernel;
            for (int i = 0; i < kPoints; ++i) {
                double sum = 0;
                for (int y = 0; y < kernel; ++y)
                    for (int x = 0; x < kernel; ++x) sum += g[i / kTile][y] * g[i % kTile][x] * from[y * kernel + x];
                const size_t block = static_cast<size_t>(k / kColumns) * kPoints + i;
                weights_[block * depth + c].at[k % kColumns] = static_cast<float>(sum);
            }
        }
    }
}

void Winograd::run(const float* in, const float* residual, bool relu, float* out, int batch, int rows,
                   int columns) const {
    const int step = kTile + 1 - kernel_, depth = rounded_up(inputs_, kLanes);
    const int across = (columns + step - 1) / step, down = (rows + step - 1) / step;
    const int together = std::clamp(kSpace / (kPoints * depth * across), 1, batch * down);
    const auto lines = [](int floats) { return static_cast<size_t>(rounded_up(floats, kColumns) / kColumns); };
    const size_t strip = lines(kTile * (across * step + kTile) * kLanes);
    const size_t transformed = lines(kPoints * together * across * depth);
    static thread_local std::vector<WinogradLine> space;
    space.resize(strip + transformed + static_cast<size_t>(kPoints) * together * across);
    run_({.in = in,
          .residual = residual,
          .out = out,
          .inputs = inputs_,
          .outputs = outputs_,
          .kernel = kernel_,
          .batch = batch,
          .rows = rows,
          .columns = columns,
          .relu = relu,
          .weights = weights_.data(),
          .bias = bias_.data(),
          .across = across,
          .down = down,
          .depth = depth,
          .together = together,
          .strip = space[0].at,
          .transformed = space[strip].at,
          .products = space[strip + transformed].at});
}

}  // namespace tengen
