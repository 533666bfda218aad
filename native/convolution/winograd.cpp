#include "convolution/winograd.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tengen {
namespace {

constexpr int kTile = 6, kPoints = kTile * kTile, kLanes = 8, kColumns = 2 * kLanes;
constexpr int kMostRows = 6;       // tiles of one product: 2 * 6 accumulators fill the 16 registers of AVX2
constexpr int kSpace = 80 * 1024;  // floats of transformed input at once, so that they stay in the L2 cache
using Vec = float __attribute__((vector_size(4 * kLanes)));

Vec load(const float* from) {
    Vec value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void store(float* to, Vec value) { std::memcpy(to, &value, sizeof value); }

/// Eight vectors as the rows of a matrix become its columns.
void transpose(std::array<Vec, kLanes>& m) {
    std::array<Vec, kLanes> a, b;
    for (int i = 0; i < kLanes; i += 2) {
        a[i] = __builtin_shufflevector(m[i], m[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < kLanes; i += 4) {
        for (int j = 0; j < 2; ++j) {
            b[i + j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + j + 2] = __builtin_shufflevector(a[i + j], a[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int i = 0; i < 4; ++i) {
        m[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        m[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/// Transform of six input points of a line, for the interpolation points 0, 1, -1, 2, -2 and infinity.
template <typename T>
void transform_input(T* d, int step) {
    const T d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    const T even = d4 - 4 * d2, odd = d3 - 4 * d1, far = d4 - d2, twice = 2 * (d3 - d1);
    d[0] = 4 * d0 - 5 * d2 + d4;
    d[step] = even + odd;
    d[2 * step] = even - odd;
    d[3 * step] = far + twice;
    d[4 * step] = far - twice;
    d[5 * step] = 4 * d1 - 5 * d3 + d5;
}

/// Transform of six products of a line into `Out` (4 or 2) results, the first of `m`.
template <int Out>
void transform_output(Vec* m, int step) {
    const Vec plus = m[step] + m[2 * step], minus = m[step] - m[2 * step];
    const Vec plus2 = m[3 * step] + m[4 * step], minus2 = 2 * (m[3 * step] - m[4 * step]);
    const Vec last = m[5 * step];
    m[0] = m[0] + plus + plus2;
    if constexpr (Out == 2) {
        m[step] = minus + minus2 + last;
    } else {
        m[step] = minus + minus2;
        m[2 * step] = plus + 4 * plus2;
        m[3 * step] = minus + 4 * minus2 + last;
    }
}

/// `to` [Rows][16] = `from` [Rows][depth] * `weights` [depth][16].
template <int Rows>
void multiply(const float* from, const float* weights, float* to, int depth) {
    Vec sum[Rows][2] = {};
    for (int c = 0; c < depth; ++c) {
        const Vec left = load(weights + c * kColumns), right = load(weights + c * kColumns + kLanes);
        for (int r = 0; r < Rows; ++r) {
            const float value = from[r * depth + c];
            sum[r][0] += value * left;
            sum[r][1] += value * right;
        }
    }
    for (int r = 0; r < Rows; ++r) {
        store(to + r * kColumns, sum[r][0]);
        store(to + r * kColumns + kLanes, sum[r][1]);
    }
}

using Multiply = void (*)(const float*, const float*, float*, int);
constexpr Multiply kMultiply[] = {nullptr,     multiply<1>, multiply<2>, multiply<3>,
                                  multiply<4>, multiply<5>, multiply<6>};

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/// Where the tiles of an image lie, `out` x `out` results each, and the lines of tiles that are done together.
struct Plan {
    int rows, columns, out, pad, across, down, depth;
};

/// Transforms a line of tiles of one image into `to` [36][tiles][depth], from its tile `first` on.
void read_line(const Plan& plan, const float* image, int channels, int line, float* to, int tiles, int first) {
    const int width = plan.across * plan.out + kTile - plan.out, top = line * plan.out - plan.pad;
    const int area = plan.rows * plan.columns;
    static thread_local std::vector<Vec> strip;  // [6][width] of eight channels, with the padding
    strip.resize(kTile * width);
    for (int c = 0; c < plan.depth; c += kLanes) {
        std::fill(strip.begin(), strip.end(), Vec{});
        const int here = std::min(kLanes, channels - c);
        for (int y = std::max(0, -top); y < kTile && top + y < plan.rows; ++y) {
            const float* from = image + c * area + (top + y) * plan.columns;
            Vec* into = strip.data() + y * width + plan.pad;
            if (here == kLanes && plan.columns >= kLanes) {
                // The last block of eight points overlaps the one before.
                for (int x = 0; x < plan.columns; x += kLanes) {
                    const int at = std::min(x, plan.columns - kLanes);
                    std::array<Vec, kLanes> block;
                    for (int i = 0; i < kLanes; ++i) block[i] = load(from + i * area + at);
                    transpose(block);
                    std::copy(block.begin(), block.end(), into + at);
                }
            } else {
                for (int x = 0; x < plan.columns; ++x)
                    for (int i = 0; i < here; ++i) into[x][i] = from[i * area + x];
            }
        }
        for (int t = 0; t < plan.across; ++t) {
            Vec d[kPoints];
            for (int y = 0; y < kTile; ++y)
                for (int x = 0; x < kTile; ++x) d[y * kTile + x] = strip[y * width + t * plan.out + x];
            for (int x = 0; x < kTile; ++x) transform_input(d + x, kTile);
            for (int y = 0; y < kTile; ++y) transform_input(d + y * kTile, 1);
            float* into = to + (first + t) * plan.depth + c;
            for (int i = 0; i < kPoints; ++i) store(into + i * tiles * plan.depth, d[i]);
        }
    }
}

/// Results of a line of tiles for eight outputs, from `from` [36][tiles][16]: bias, residual and ReLU applied.
template <int Out>
void write_line(const Plan& plan, const float* from, int tiles, int first, int line, const float* bias,
                const float* residual, bool relu, float* out, int channels) {
    const int width = plan.across * Out, area = plan.rows * plan.columns;
    static thread_local std::vector<Vec> strip;  // [Out][width] of eight outputs
    strip.resize(Out * width);
    const Vec added = load(bias);
    for (int t = 0; t < plan.across; ++t) {
        Vec m[kPoints];
        for (int i = 0; i < kPoints; ++i) m[i] = load(from + (i * tiles + first + t) * kColumns);
        for (int x = 0; x < kTile; ++x) transform_output<Out>(m + x, kTile);
        for (int y = 0; y < Out; ++y) {
            transform_output<Out>(m + y * kTile, 1);
            for (int x = 0; x < Out; ++x) strip[y * width + t * Out + x] = m[y * kTile + x] + added;
        }
    }
    for (int y = 0; y < Out && line * Out + y < plan.rows; ++y) {
        const int place = (line * Out + y) * plan.columns;
        const Vec* row = strip.data() + y * width;
        if (channels >= kLanes && plan.columns >= kLanes) {
            std::array<Vec, kLanes> block;
            for (int x = 0; x < plan.columns; x += kLanes) {
                const int at = std::min(x, plan.columns - kLanes);
                std::copy(row + at, row + at + kLanes, block.begin());
                transpose(block);
                for (int i = 0; i < kLanes; ++i) {
                    Vec value = block[i];
                    if (residual) value += load(residual + i * area + place + at);
                    if (relu) value = value > 0 ? value : Vec{};
                    store(out + i * area + place + at, value);
                }
            }
        } else {
            for (int i = 0; i < std::min(kLanes, channels); ++i) {
                for (int x = 0; x < plan.columns; ++x) {
                    float value = row[x][i] + (residual ? residual[i * area + place + x] : 0);
                    out[i * area + place + x] = relu ? std::max(value, 0.0f) : value;
                }
            }
        }
    }
}

}  // namespace

Winograd::Winograd(const float* weights, const float* bias, int outputs, int inputs, int kernel)
    : inputs_(inputs), outputs_(outputs), kernel_(kernel) {
    const int depth = rounded_up(inputs, kLanes), wide = rounded_up(outputs, kColumns);
    weights_.assign(static_cast<size_t>(wide) * kPoints * depth, 0);
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
                weights_[(block * depth + c) * kColumns + k % kColumns] = static_cast<float>(sum);
            }
        }
    }
}

void Winograd::run(const float* in, const float* residual, bool relu, float* out, int batch, int rows,
                   int columns) const {
    const int step = kTile + 1 - kernel_, depth = rounded_up(inputs_, kLanes), area = rows * columns;
    const Plan plan{rows, columns, step, kernel_ / 2, (columns + step - 1) / step, (rows + step - 1) / step, depth};
    const int lines = batch * plan.down;
    const int together = std::clamp(kSpace / (kPoints * depth * plan.across), 1, lines);
    static thread_local std::vector<float> transformed, products;
    transformed.resize(static_cast<size_t>(kPoints) * together * plan.across * depth);
    products.resize(static_cast<size_t>(kPoints) * together * plan.across * kColumns);
    for (int begin = 0; begin < lines; begin += together) {
        const int here = std::min(together, lines - begin), tiles = here * plan.across;
        for (int i = 0; i < here; ++i) {
            const int image = (begin + i) / plan.down, line = (begin + i) % plan.down;
            read_line(plan, in + static_cast<size_t>(image) * inputs_ * area, inputs_, line, transformed.data(), tiles,
                      i * plan.across);
        }
        const int parts = (tiles + kMostRows - 1) / kMostRows;
        for (int k = 0; k < outputs_; k += kColumns) {
            const float* weights = weights_.data() + static_cast<size_t>(k) * kPoints * depth;
            for (int i = 0; i < kPoints; ++i) {
                // Nearly equal parts: one of few tiles would be slow.
                for (int part = 0; part < parts; ++part) {
                    const int first = part * tiles / parts, next = (part + 1) * tiles / parts;
                    kMultiply[next - first](transformed.data() + (static_cast<size_t>(i) * tiles + first) * depth,
                                            weights + static_cast<size_t>(i) * depth * kColumns,
                                            products.data() + (static_cast<size_t>(i) * tiles + first) * kColumns,
                                            depth);
                }
            }
            for (int half = 0; half < kColumns && k + half < outputs_; half += kLanes) {
                for (int i = 0; i < here; ++i) {
                    const int image = (begin + i) / plan.down, line = (begin + i) % plan.down;
                    const size_t place = (static_cast<size_t>(image) * outputs_ + k + half) * area;
                    const auto write = step == 4 ? write_line<4> : write_line<2>;
                    write(plan, products.data() + half, tiles, i * plan.across, line, bias_.data() + k + half,
                          residual ? residual + place : nullptr, relu, out + place, outputs_ - k - half);
                }
            }
        }
    }
}

}  // namespace tengen
