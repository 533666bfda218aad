// Winograd::run for one instruction set, which the compiler has by its flags: namespace TENGEN_INSTRUCTIONS.
//
// Nothing here may come from a template or inline function of another header. The linker keeps one copy of those for
// the whole program, perhaps this one, which the processor may not be able to run.
#include "convolution/winograd_run.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

using Index = decltype(sizeof 0);
using Vec = float __attribute__((vector_size(4 * kLanes)));

// Of the products, which take most of the time: the widest vector of the processor, and as many tiles at once as its
// registers hold.
#if defined(__AVX512F__)
constexpr int kWidth = 16, kMostRows = 12;  // 12 of 32 registers: as many as hide the time of a product
#elif defined(__AVX2__)
constexpr int kWidth = 8, kMostRows = 6;  // 12 of 16
#elif defined(__aarch64__) || defined(_M_ARM64)
constexpr int kWidth = 4, kMostRows = 6;  // 24 of 32
#else
constexpr int kWidth = 4, kMostRows = 3;  // 12 of 16
#endif
constexpr int kParts = kColumns / kWidth;
using Wide = float __attribute__((vector_size(4 * kWidth)));

template <class V = Vec>
V load(const float* from) {
    V value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class V>
void store(float* to, V value) {
    __builtin_memcpy(to, &value, sizeof value);
}

int min(int a, int b) { return a < b ? a : b; }
int max(int a, int b) { return a > b ? a : b; }

/// Eight vectors as the rows of a matrix become its columns.
void transpose(Vec* m) {
    Vec a[kLanes], b[kLanes];
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
void multiply(const float* from, const WinogradLine* weights, float* to, int depth) {
    Wide sum[Rows][kParts] = {};
    for (int c = 0; c < depth; ++c) {
        Wide weight[kParts];
        for (int part = 0; part < kParts; ++part) weight[part] = load<Wide>(weights[c].at + part * kWidth);
        for (int r = 0; r < Rows; ++r)
            for (int part = 0; part < kParts; ++part) sum[r][part] += from[r * depth + c] * weight[part];
    }
    for (int r = 0; r < Rows; ++r)
        for (int part = 0; part < kParts; ++part) store(to + r * kColumns + part * kWidth, sum[r][part]);
}

using Multiply = void (*)(const float*, const WinogradLine*, float*, int);
constexpr Multiply kMultiply[] = {nullptr,      multiply<1>,  multiply<2>, multiply<3>, multiply<4>,
                                  multiply<5>,  multiply<6>,  multiply<7>, multiply<8>, multiply<9>,
                                  multiply<10>, multiply<11>, multiply<12>};

/// Copies `height` rows of `here` channels of an image of `channels`, from its channel `c` and row `top` on, into
/// `strip` [height][width] behind `pad` columns of zeros; so are the rows outside the image.
void read_strip(const WinogradTiles& tiles, const float* image, int channels, int c, int here, int top, int height,
                int pad, int width, Vec* strip) {
    for (int i = 0; i < height * width; ++i) strip[i] = Vec{};
    const int area = tiles.rows * tiles.columns;
    for (int y = max(0, -top); y < height && top + y < tiles.rows; ++y) {
        const int place = (top + y) * tiles.columns;
        const float* from = image + (tiles.channels_last ? static_cast<Index>(place) * channels + c : c * area + place);
        Vec* into = strip + y * width + pad;
        if (tiles.channels_last && here == kLanes) {
            for (int x = 0; x < tiles.columns; ++x) into[x] = load(from + x * channels);
        } else if (here == kLanes && tiles.columns >= kLanes) {
            // The last block of eight points overlaps the one before.
            for (int x = 0; x < tiles.columns; x += kLanes) {
                const int at = min(x, tiles.columns - kLanes);
                Vec block[kLanes];
                for (int i = 0; i < kLanes; ++i) block[i] = load(from + i * area + at);
                transpose(block);
                for (int i = 0; i < kLanes; ++i) into[at + i] = block[i];
            }
        } else {
            for (int x = 0; x < tiles.columns; ++x)
                for (int i = 0; i < here; ++i) into[x][i] = from[tiles.channels_last ? x * channels + i : i * area + x];
        }
    }
}

/// Transforms a line of tiles of one image into `to` [36][tiles][depth], from its tile `first` on; `Out` results each.
template <int Out>
void read_line(const WinogradTiles& call, const float* image, int line, float* to, int tiles, int first) {
    constexpr int kPad = (kTile - Out) / 2;
    const int width = call.across * Out + kTile - Out;
    Vec* strip = reinterpret_cast<Vec*>(call.strip);  // [6][width] of eight channels, with the padding
    for (int c = 0; c < call.depth; c += kLanes) {
        read_strip(call, image, call.inputs, c, min(kLanes, call.inputs - c), line * Out - kPad, kTile, kPad, width,
                   strip);
        for (int t = 0; t < call.across; ++t) {
            Vec d[kPoints];
            for (int y = 0; y < kTile; ++y)
                for (int x = 0; x < kTile; ++x) d[y * kTile + x] = strip[y * width + t * Out + x];
            for (int x = 0; x < kTile; ++x) transform_input(d + x, kTile);
            for (int y = 0; y < kTile; ++y) transform_input(d + y * kTile, 1);
            float* into = to + (first + t) * call.depth + c;
            for (int i = 0; i < kPoints; ++i) store(into + i * tiles * call.depth, d[i]);
        }
    }
}

/// Results of a line of tiles for eight outputs, from `from` [36][tiles][16]: bias, residual and ReLU applied.
template <int Out>
void write_line(const WinogradCall& call, const float* from, int tiles, int first, int line, const float* bias,
                const float* residual, float* out, int channels) {
    const int width = call.across * Out, area = call.rows * call.columns;
    Vec* strip = reinterpret_cast<Vec*>(call.strip);  // [Out][width] of eight outputs
    const Vec added = load(bias);
    for (int t = 0; t < call.across; ++t) {
        Vec m[kPoints];
        for (int i = 0; i < kPoints; ++i) m[i] = load(from + (i * tiles + first + t) * kColumns);
        for (int x = 0; x < kTile; ++x) transform_output<Out>(m + x, kTile);
        for (int y = 0; y < Out; ++y) {
            transform_output<Out>(m + y * kTile, 1);
            for (int x = 0; x < Out; ++x) strip[y * width + t * Out + x] = m[y * kTile + x] + added;
        }
    }
    for (int y = 0; y < Out && line * Out + y < call.rows; ++y) {
        const int place = (line * Out + y) * call.columns;
        const Vec* row = strip + y * width;
        if (call.channels_last) {
            for (int x = 0; x < call.columns; ++x) {
                const Index at = static_cast<Index>(place + x) * call.outputs;
                for (int i = 0; i < min(kLanes, channels); ++i) {
                    const float value = row[x][i] + (residual ? residual[at + i] : 0);
                    out[at + i] = call.relu && value < 0 ? 0 : value;
                }
            }
        } else if (channels >= kLanes && call.columns >= kLanes) {
            Vec block[kLanes];
            for (int x = 0; x < call.columns; x += kLanes) {
                const int at = min(x, call.columns - kLanes);
                for (int i = 0; i < kLanes; ++i) block[i] = row[at + i];
                transpose(block);
                for (int i = 0; i < kLanes; ++i) {
                    Vec value = block[i];
                    if (residual) value += load(residual + i * area + place + at);
                    if (call.relu) value = value > 0 ? value : Vec{};
                    store(out + i * area + place + at, value);
                }
            }
        } else {
            for (int i = 0; i < min(kLanes, channels); ++i) {
                for (int x = 0; x < call.columns; ++x) {
                    float value = row[x][i] + (residual ? residual[i * area + place + x] : 0);
                    out[i * area + place + x] = call.relu && value < 0 ? 0 : value;
                }
            }
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

/// Transforms the gradients of a line of tiles into `gradients`, as `read_line` does with the input.
template <int Out>
void read_gradients(const WinogradGradientCall& call, const float* image, int line, int tiles, int first) {
    const int width = call.across * Out;
    Vec* strip = reinterpret_cast<Vec*>(call.strip);  // [Out][width] of eight outputs
    for (int k = 0; k < call.wide; k += kLanes) {
        const int here = max(0, min(kLanes, call.outputs - k));  // 0 in the padding
        read_strip(call, image, call.outputs, k, here, line * Out, here ? Out : 0, 0, width, strip);
        for (int t = 0; t < call.across; ++t) {
            Vec down[kTile * Out], all[kPoints] = {};
            if (here) {
                for (int x = 0; x < Out; ++x) transform_gradient<Out>(strip + t * Out + x, width, down + x, Out);
                for (int y = 0; y < kTile; ++y) transform_gradient<Out>(down + y * Out, 1, all + y * kTile, 1);
            }
            float* into = call.gradients + (first + t) * call.wide + k;
            for (int i = 0; i < kPoints; ++i) store(into + i * tiles * call.wide, all[i]);
        }
    }
}

/// `to` [Rows][wide] += the transpose of `from` [tiles][depth] * `gradients` [tiles][wide], Rows and 16 columns of
/// them.
template <int Rows>
void add_products(const WinogradGradientCall& call, const float* from, const float* gradients, float* to, int tiles) {
    Wide sum[Rows][kParts];
    for (int r = 0; r < Rows; ++r)
        for (int part = 0; part < kParts; ++part) sum[r][part] = load<Wide>(to + r * call.wide + part * kWidth);
    for (int t = 0; t < tiles; ++t) {
        Wide gradient[kParts];
        for (int part = 0; part < kParts; ++part)
            gradient[part] = load<Wide>(gradients + t * call.wide + part * kWidth);
        for (int r = 0; r < Rows; ++r)
            for (int part = 0; part < kParts; ++part) sum[r][part] += from[t * call.depth + r] * gradient[part];
    }
    for (int r = 0; r < Rows; ++r)
        for (int part = 0; part < kParts; ++part) store(to + r * call.wide + part * kWidth, sum[r][part]);
}

using AddProducts = void (*)(const WinogradGradientCall&, const float*, const float*, float*, int);
constexpr AddProducts kAddProducts[] = {nullptr,         add_products<1>, add_products<2>,  add_products<3>,
                                        add_products<4>, add_products<5>, add_products<6>,  add_products<7>,
                                        add_products<8>, add_products<9>, add_products<10>, add_products<11>,
                                        add_products<12>};

template <int Out>
void run_gradient(const WinogradGradientCall& call) {
    const int lines = call.batch * call.down, area = call.rows * call.columns;
    const int parts = (call.depth + kMostRows - 1) / kMostRows;
    for (int begin = 0; begin < lines; begin += call.together) {
        const int here = min(call.together, lines - begin), tiles = here * call.across;
        for (int i = 0; i < here; ++i) {
            const Index image = (begin + i) / call.down;
            const int line = (begin + i) % call.down;
            read_line<Out>(call, call.in + image * call.inputs * area, line, call.transformed, tiles, i * call.across);
            read_gradients<Out>(call, call.gradient + image * call.outputs * area, line, tiles, i * call.across);
        }
        for (int i = 0; i < kPoints; ++i) {
            const float* input = call.transformed + static_cast<Index>(i) * tiles * call.depth;
            const float* gradient = call.gradients + static_cast<Index>(i) * tiles * call.wide;
            float* sums = call.sums + static_cast<Index>(i) * call.depth * call.wide;
            for (int k = 0; k < call.wide; k += kColumns) {
                for (int part = 0; part < parts; ++part) {
                    const int c = part * call.depth / parts, next = (part + 1) * call.depth / parts;
                    kAddProducts[next - c](call, input + c, gradient + k, sums + c * call.wide + k, tiles);
                }
            }
        }
    }
}

template <int Out>
void run(const WinogradCall& call) {
    const int lines = call.batch * call.down, area = call.rows * call.columns;
    for (int begin = 0; begin < lines; begin += call.together) {
        const int here = min(call.together, lines - begin), tiles = here * call.across;
        for (int i = 0; i < here; ++i) {
            const Index image = (begin + i) / call.down;
            read_line<Out>(call, call.in + image * call.inputs * area, (begin + i) % call.down, call.transformed, tiles,
                           i * call.across);
        }
        const int parts = (tiles + kMostRows - 1) / kMostRows;
        for (int k = 0; k < call.outputs; k += kColumns) {
            const WinogradLine* weights = call.weights + static_cast<Index>(k) / kColumns * kPoints * call.depth;
            for (int i = 0; i < kPoints; ++i) {
                // Nearly equal parts: one of few tiles would be slow.
                for (int part = 0; part < parts; ++part) {
                    const int first = part * tiles / parts, next = (part + 1) * tiles / parts;
                    kMultiply[next - first](call.transformed + (static_cast<Index>(i) * tiles + first) * call.depth,
                                            weights + i * call.depth, call.products + (i * tiles + first) * kColumns,
                                            call.depth);
                }
            }
            for (int half = 0; half < kColumns && k + half < call.outputs; half += kLanes) {
                for (int i = 0; i < here; ++i) {
                    const Index image = (begin + i) / call.down, channel = k + half;
                    const Index place = image * call.outputs * area + (call.channels_last ? channel : channel * area);
                    write_line<Out>(call, call.products + half, tiles, i * call.across, (begin + i) % call.down,
                                    call.bias + k + half, call.residual ? call.residual + place : nullptr,
                                    call.out + place, call.outputs - k - half);
                }
            }
        }
    }
}

}  // namespace

void run_winograd(const WinogradCall& call) { call.kernel == 3 ? run<4>(call) : run<2>(call); }

void run_winograd_gradient(const WinogradGradientCall& call) {
    call.kernel == 3 ? run_gradient<4>(call) : run_gradient<2>(call);
}

}  // namespace tengen::TENGEN_INSTRUCTIONS
