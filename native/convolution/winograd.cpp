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

/// Where the tiles of an image lie, `out` x `out` results each, and how its numbers lie in memory.
struct Plan {
    int rows, columns, out, pad, across, down;
    int stride;  // of the points of an image with channels last; 0 with channels first

    Plan(int rows, int columns, int kernel, int stride)
        : rows(rows),
          columns(columns),
          out(kTile + 1 - kernel),
          pad(kernel / 2),
          across((columns + out - 1) / out),
          down((rows + out - 1) / out),
          stride(stride) {}

    template <class T>
    T* channel(T* image, int c) const {
        return image + (stride ? c : c * rows * columns);
    }
};

/// Copies `height` rows of eight channels of an image, from row `top` on, into `strip` [height][width] behind `pad`
/// columns of zeros; so are the rows outside the image. `from` is the first of the channels, of which there are `here`.
void read_strip(const Plan& plan, const float* from, int here, int top, int height, int pad, int width, Vec* strip) {
    std::fill(strip, strip + height * width, Vec{});
    const int area = plan.rows * plan.columns;
    for (int y = std::max(0, -top); y < height && top + y < plan.rows; ++y) {
        const int place = (top + y) * plan.columns;
        Vec* into = strip + y * width + pad;
        if (plan.stride) {  // channels last
            const float* point = from + static_cast<size_t>(place) * plan.stride;
            for (int x = 0; x < plan.columns; ++x, point += plan.stride) {
                if (here == kLanes)
                    into[x] = load(point);
                else
                    std::copy_n(point, here, reinterpret_cast<float*>(into + x));
            }
        } else if (here == kLanes && plan.columns >= kLanes) {
            // The last block of eight points overlaps the one before.
            for (int x = 0; x < plan.columns; x += kLanes) {
                const int at = std::min(x, plan.columns - kLanes);
                std::array<Vec, kLanes> block;
                for (int i = 0; i < kLanes; ++i) block[i] = load(from + i * area + place + at);
                transpose(block);
                std::copy(block.begin(), block.end(), into + at);
            }
        } else {
            for (int x = 0; x < plan.columns; ++x)
                for (int i = 0; i < here; ++i) into[x][i] = from[i * area + place + x];
        }
    }
}

/// Transforms a line of tiles of one image into `to` [36][tiles][depth], from its tile `first` on.
void read_line(const Plan& plan, const float* image, int channels, int line, float* to, int tiles, int first,
               int depth) {
    const int width = plan.across * plan.out + kTile - plan.out, top = line * plan.out - plan.pad;
    static thread_local std::vector<Vec> strip;  // [6][width] of eight channels, with the padding
    strip.resize(kTile * width);
    for (int c = 0; c < depth; c += kLanes) {
        read_strip(plan, plan.channel(image, c), std::min(kLanes, channels - c), top, kTile, plan.pad, width,
                   strip.data());
        for (int t = 0; t < plan.across; ++t) {
            Vec d[kPoints];
            for (int y = 0; y < kTile; ++y)
                for (int x = 0; x < kTile; ++x) d[y * kTile + x] = strip[y * width + t * plan.out + x];
            for (int x = 0; x < kTile; ++x) transform_input(d + x, kTile);
            for (int y = 0; y < kTile; ++y) transform_input(d + y * kTile, 1);
            float* into = to + (first + t) * depth + c;
            for (int i = 0; i < kPoints; ++i) store(into + i * tiles * depth, d[i]);
        }
    }
}

/// The reverse of `transform_output`, as gradients go: `Out` results of a line, the first of `from`, to six products.
template <int Out>
void transform_gradient(const Vec* from, int from_step, Vec* to, int step) {
    const Vec y0 = from[0], y1 = from[from_step];
    Vec even = y0, even2 = y0, odd = y1, odd2 = 2 * y1, last = y1;
    if constexpr (Out == 4) {
        const Vec y2 = from[2 * from_step], y3 = from[3 * from_step];
        even = y0 + y2, even2 = y0 + 4 * y2, odd = y1 + y3, odd2 = 2 * y1 + 8 * y3, last = y3;
    }
    to[0] = y0;
    to[step] = even + odd;
    to[2 * step] = even - odd;
    to[3 * step] = even2 + odd2;
    to[4 * step] = even2 - odd2;
    to[5 * step] = last;
}

/// Transforms the gradients of a line of tiles into `to` [36][tiles][depth], as `read_line` does with the input.
template <int Out>
void read_gradients(const Plan& plan, const float* image, int channels, int line, float* to, int tiles, int first,
                    int depth) {
    const int width = plan.across * Out;
    static thread_local std::vector<Vec> strip;  // [Out][width] of eight channels
    strip.resize(Out * width);
    for (int c = 0; c < depth; c += kLanes) {
        const int here = std::clamp(channels - c, 0, kLanes);
        read_strip(plan, plan.channel(image, c), here, line * Out, here ? Out : 0, 0, width, strip.data());
        for (int t = 0; t < plan.across; ++t) {
            Vec down[kTile * Out], all[kPoints];
            for (int x = 0; x < Out; ++x) transform_gradient<Out>(strip.data() + t * Out + x, width, down + x, Out);
            for (int y = 0; y < kTile; ++y) transform_gradient<Out>(down + y * Out, 1, all + y * kTile, 1);
            float* into = to + (first + t) * depth + c;
            for (int i = 0; i < kPoints; ++i) store(into + i * tiles * depth, here ? all[i] : Vec{});
        }
    }
}

/// `to` [Rows][wide] += the transpose of `from` [tiles][depth] * `gradients` [tiles][wide], Rows and 16 columns of
/// them.
template <int Rows>
void add_products(const float* from, const float* gradients, float* to, int tiles, int depth, int wide) {
    Vec sum[Rows][2];
    for (int r = 0; r < Rows; ++r) {
        sum[r][0] = load(to + r * wide);
        sum[r][1] = load(to + r * wide + kLanes);
    }
    for (int t = 0; t < tiles; ++t) {
        const Vec left = load(gradients + t * wide), right = load(gradients + t * wide + kLanes);
        for (int r = 0; r < Rows; ++r) {
            const float value = from[t * depth + r];
            sum[r][0] += value * left;
            sum[r][1] += value * right;
        }
    }
    for (int r = 0; r < Rows; ++r) {
        store(to + r * wide, sum[r][0]);
        store(to + r * wide + kLanes, sum[r][1]);
    }
}

using AddProducts = void (*)(const float*, const float*, float*, int, int, int);
constexpr AddProducts kAddProducts[] = {nullptr,         add_products<1>, add_products<2>, add_products<3>,
                                        add_products<4>, add_products<5>, add_products<6>};

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
        if (plan.stride) {
            const size_t begin = static_cast<size_t>(place) * plan.stride;
            const int here = std::min(kLanes, channels);
            for (int x = 0; x < plan.columns; ++x) {
                const size_t at = begin + static_cast<size_t>(x) * plan.stride;
                for (int i = 0; i < here; ++i) {
                    const float value = row[x][i] + (residual ? residual[at + i] : 0);
                    out[at + i] = relu ? std::max(value, 0.0f) : value;
                }
            }
        } else if (channels >= kLanes && plan.columns >= kLanes) {
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
                weights_[(block * depth + c) * kColumns + k % kColumns] = static_cast<float>(sum);
            }
        }
    }
}

void Winograd::run(const float* in, const float* residual, bool relu, float* out, int batch, int rows, int columns,
                   bool channels_last) const {
    const int depth = rounded_up(inputs_, kLanes), area = rows * columns;
    const Plan plan(rows, columns, kernel_, channels_last ? inputs_ : 0);
    const Plan written(rows, columns, kernel_, channels_last ? outputs_ : 0);
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
                      i * plan.across, depth);
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
                    const size_t place =
                        written.channel(out, k + half) - out + static_cast<size_t>(image) * outputs_ * area;
                    const auto write = plan.out == 4 ? write_line<4> : write_line<2>;
                    write(written, products.data() + half, tiles, i * plan.across, line, bias_.data() + k + half,
                          residual ? residual + place : nullptr, relu, out + place, outputs_ - k - half);
                }
            }
        }
    }
}

void winograd_weight_gradient(const float* in, const float* gradient, float* weights, int outputs, int inputs,
                              int kernel, int batch, int rows, int columns, bool channels_last) {
    const int depth = rounded_up(inputs, kLanes), wide = rounded_up(outputs, kColumns), area = rows * columns;
    const Plan read(rows, columns, kernel, channels_last ? inputs : 0);
    const Plan given(rows, columns, kernel, channels_last ? outputs : 0);
    const int lines = batch * read.down;
    const int together = std::clamp(2 * kSpace / (kPoints * (depth + wide) * read.across), 1, lines);
    static thread_local std::vector<float> transformed, gradients, sums;
    transformed.resize(static_cast<size_t>(kPoints) * together * read.across * depth);
    gradients.resize(static_cast<size_t>(kPoints) * together * read.across * wide);
    sums.assign(static_cast<size_t>(kPoints) * depth * wide, 0);
    for (int begin = 0; begin < lines; begin += together) {
        const int here = std::min(together, lines - begin), tiles = here * read.across;
        for (int i = 0; i < here; ++i) {
            const size_t image = (begin + i) / read.down;
            const int line = (begin + i) % read.down, first = i * read.across;
            const float* from = gradient + image * outputs * area;
            read_line(read, in + image * inputs * area, inputs, line, transformed.data(), tiles, first, depth);
            const auto read_gradient = read.out == 4 ? read_gradients<4> : read_gradients<2>;
            read_gradient(given, from, outputs, line, gradients.data(), tiles, first, wide);
        }
        const int parts = (depth + kMostRows - 1) / kMostRows;
        for (int i = 0; i < kPoints; ++i) {
            const float* input = transformed.data() + static_cast<size_t>(i) * tiles * depth;
            const float* output = gradients.data() + static_cast<size_t>(i) * tiles * wide;
            float* sum = sums.data() + static_cast<size_t>(i) * depth * wide;
            for (int k = 0; k < wide; k += kColumns) {
                for (int part = 0; part < parts; ++part) {
                    const int c = part * depth / parts, next = (part + 1) * depth / parts;
                    kAddProducts[next - c](input + c, output + k, sum + c * wide + k, tiles, depth, wide);
                }
            }
        }
    }
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
