// Winograd::run for one instruction set, which the compiler has by its flags: namespace TENGEN_INSTRUCTIONS.
//
// Nothing here may come from a template or inline function with a name of its own in another file. The linker keeps one
// copy of those for the whole program, perhaps this one, which the processor may not be able to run. The headers below
// but winograd_run.h have all of theirs in an unnamed namespace.
#include "convolution/winograd_run.h"

#include "convolution/winograd_images.h"
#include "convolution/winograd_transforms.h"
#include "convolution/winograd_vectors.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

#define TENGEN_INLINE __attribute__((always_inline))

// Calls `visit.template operator()<i>()` for i of 0 to Count - 1. GCC may unroll a loop too late to keep an array in
// registers (measured with AVX-512 in f32: 1.2 times the speed of 128 channels, 1.04 of 96).
template <int Count, int I = 0>
TENGEN_INLINE inline void each(const auto& visit) {
    if constexpr (I < Count) {
        visit.template operator()<I>();
        each<Count, I + 1>(visit);
    }
}

// Calls `visit.template operator()<count>()`, for a count of 1 to kMaxRows.
template <int Rows = kMaxRows>
void with_rows(int count, auto visit) {
    if constexpr (Rows > 1)
        if (count < Rows) return with_rows<Rows - 1>(count, visit);
    visit.template operator()<Rows>();
}

// --- Tiles

// Puts what a tile has at one of the 36 points, in the channels from `c` on, into the arrays of `read_tiles`.
void put(Element* to, int point, int tile, int tiles, int depth, int c, Vec value) {
    store_first(to + (static_cast<Index>(point) * tiles + tile) * depth + c, value, depth - c);
}

#if defined(TENGEN_BF16)
struct Word {
    float two;  // bf16 of the tiles 2 i and 2 i + 1; of the first alone, its number in f32, until the other comes
};

void put(Word* to, int point, int tile, int tiles, int depth, int c, Vec value) {
    const int words = (tiles + 1) / 2;
    Word* at = to + (static_cast<Index>(point) * words + tile / 2) * depth + c;
    if (tile % 2) {
        Vec first{};
        copy_lanes<Vec>(&first, at, depth - c);
        value = paired(first, value);
    } else if (tile == tiles - 1) {
        value = paired(value, Vec{});
    }
    copy_lanes<Vec>(at, &value, depth - c);
}
#else
using Word = float;
#endif

// Transforms the tiles of a segment of an image of `channels` into `to` [36][tiles][depth], or with `To` of words, for
// the gradient of weights, into [36][tiles, of which bf16 puts two into a word][depth]. A tile reads `In` x `In`
// points of the image, `Step` after those of the one before, as `before` has them.
template <int In, int Step, auto Transform, class To>
void read_tiles(const WinogradTiles& tiles, const void* image, int channels, const Segment& segment,
                const WinogradInput& before, To* to, int at_once, int depth) {
    constexpr int kPad = (In - Step) / 2;
    const int width = tiles.across * Step + In - Step;
    const int above = max(0, segment.line * Step - kPad);
    const int below = min(tiles.rows, (segment.line + segment.lines - 1) * Step - kPad + In);
    Vec* lines = reinterpret_cast<Vec*>(tiles.strip);  // [6][width]: transformed down
    float* space = tiles.strip + kTile * width * kLanes;
    for (int i = 0; i < kTile * width; ++i) lines[i] = Vec{};
    const bool any = before.bias || before.relu || before.mask;
    const float* mask = before.mask ? before.mask + segment.image * tiles.rows * tiles.columns : nullptr;
    for (int c = 0; c < depth; c += kLanes) {
        const int here = min(kLanes, channels - c);
        if (here <= 0) {  // channels that only pad
            for (int t = 0; t < segment.lines * tiles.across; ++t)
                for (int i = 0; i < kPoints; ++i) put(to, i, segment.tile + t, at_once, depth, c, Vec{});
            continue;
        }
        const Points points =
            read_points(tiles, image, channels, c, here, above * tiles.columns, (below - above) * tiles.columns, space);
        Vec added{};
        if (before.bias)
            for (int i = 0; i < here; ++i)
                added[i] = before.bias[(before.bias_of_image ? segment.image * channels : 0) + c + i];
        for (int line = 0; line < segment.lines; ++line) {
            // The columns of a line of tiles, transformed down; outside of the image they are 0.
            const int top = (segment.line + line) * Step - kPad;
            for (int x = 0; x < tiles.columns; ++x) {
                Vec column[In], down[kTile];
                for (int y = 0; y < In; ++y) {
                    if (top + y < 0 || top + y >= tiles.rows) {
                        column[y] = Vec{};
                        continue;
                    }
                    Vec value =
                        load(points.first + static_cast<Index>((top + y - above) * tiles.columns + x) * points.step);
                    if (any) {
                        value += added;
                        if (before.relu) value = value > 0 ? value : Vec{};
                        if (mask) value *= mask[(top + y) * tiles.columns + x];
                    }
                    column[y] = value;
                }
                Transform(column, down);
                for (int y = 0; y < kTile; ++y) lines[y * width + kPad + x] = down[y];
            }
            // Then each tile across.
            for (int t = 0; t < tiles.across; ++t) {
                const int tile = segment.tile + line * tiles.across + t;
                for (int y = 0; y < kTile; ++y) {
                    Vec across[kTile];
                    Transform(lines + y * width + t * Step, across);
                    for (int x = 0; x < kTile; ++x) put(to, y * kTile + x, tile, at_once, depth, c, across[x]);
                }
            }
        }
    }
}

// The input of a convolution with `Out` results a tile and side.
template <int Out, class To>
void read_input(const WinogradTiles& tiles, const void* image, const Segment& segment, const WinogradInput& before,
                To* to, int at_once) {
    read_tiles<kTile, Out, transform_input>(tiles, image, tiles.inputs, segment, before, to, at_once, tiles.depth);
}

// --- A convolution

// `to` [Rows][16] of `Blocks` blocks of outputs = `from` [Rows][depth] * the weights of each block [depth][16]. The
// weights of two blocks are `next_weights` lines apart, their results `next` numbers.
template <int Rows, int Blocks>
void multiply(const Element* from, const WinogradLine* weights, Index next_weights, float* to, Index next, int depth) {
    constexpr int kWides = Blocks * kParts;
    Wide sum[Rows * kWides];
    each<Rows * kWides>([&]<int I>() TENGEN_INLINE { sum[I] = Wide{}; });
    for (int c = 0; c < depth; c += kTogether, ++weights) {
        Wide weight[kWides];
        each<kWides>([&]<int I>() TENGEN_INLINE {
            weight[I] = load<Wide>(weights[I / kParts * next_weights].at + I % kParts * kWidth);
        });
        each<Rows * kWides>(
            [&]<int I>() TENGEN_INLINE { add_product(sum[I], from + I / kWides * depth + c, weight[I % kWides]); });
    }
    each<Rows * kWides>([&]<int I>() TENGEN_INLINE {
        constexpr int kRow = I / kWides, kPart = I % kWides;
        store(to + kPart / kParts * next + kRow * kColumns + kPart % kParts * kWidth, sum[I]);
    });
}

// Brings `count` results of `here` outputs from the strip to their places in the image, from its point `place` on.
// `finish` makes a result of a sum and, where there is one, the number of the residual; `first` as of write_tiles.
void write_strip(const WinogradCall& call, Index first, int here, int place, int count, const auto& finish) {
    const float* residual = call.residual ? call.residual + first : nullptr;
    float* out = static_cast<float*>(call.out) + (call.halves ? 0 : first);
    if (call.layout == ImageLayout::channels_first) {
        const int area = call.rows * call.columns;
        scatter_points(call.strip, kLanes, here, count, out + place, area,
                       [&](auto value, Index at) { return finish(value, residual ? residual + place + at : nullptr); });
        return;
    }
    const int step = call.outputs;
    int i = 0;
#if defined(TENGEN_BF16)
    for (; call.halves && i < count; ++i) {
        Element halves[kLanes];
        store_first(halves, finish(load(call.strip + i * kLanes), nullptr), kLanes);
        Element* const to = static_cast<Element*>(call.out) + first + static_cast<Index>(place + i) * step;
        for (int j = 0; j < here; ++j) to[j] = halves[j];
    }
#endif
    for (; i < count; ++i) {
        for (int j = 0; j < here; ++j) {
            const Index to = static_cast<Index>(place + i) * step + j;
            out[to] = finish(call.strip[i * kLanes + j], residual ? residual + to : nullptr);
        }
    }
}

// Results of a segment for `here` outputs, at most a vector of them, from `from` [36][tiles][16]: bias, residual and
// ReLU applied. `first` is the place of the first of them in `residual` and `out`.
template <int Out>
void write_tiles(const WinogradCall& call, const float* from, int at_once, const Segment& segment, const float* bias,
                 Index first, int here) {
    const Vec added = load(bias);
    const float* residual = call.residual ? call.residual + first : nullptr;
    float* out = static_cast<float*>(call.out) + (call.halves ? 0 : first);
    const auto finish = [&]<class V>(V value, const float* more) {
        if (more) value += load<V>(more);
        return call.relu ? (value > 0 ? value : V{}) : value;
    };
    // Blocks have room for whole vectors; other layouts may need another order, or fewer channels: by the strip.
    const bool blocks = call.layout == ImageLayout::blocks;
    const bool aside = !blocks && (call.layout == ImageLayout::channels_first || here < kLanes);
    const int step = blocks ? kColumns : call.outputs;  // numbers between two points
    for (int line = 0; line < segment.lines; ++line) {
        const int top = (segment.line + line) * Out, rows = min(Out, call.rows - top), place = top * call.columns;
        for (int t = 0; t < call.across; ++t) {
            // The products of a tile, transformed down.
            const float* tile = from + static_cast<Index>(segment.tile + line * call.across + t) * kColumns;
            Vec down[Out][kTile];
            for (int x = 0; x < kTile; ++x) {
                Vec column[kTile], results[Out];
                for (int y = 0; y < kTile; ++y)
                    column[y] = load(tile + static_cast<Index>(y * kTile + x) * at_once * kColumns);
                transform_output<Out>(column, results);
                for (int y = 0; y < Out; ++y) down[y][x] = results[y];
            }
            // Then across, and those that lie in the image are written.
            const int columns = min(Out, call.columns - t * Out);
            for (int y = 0; y < Out; ++y) {
                if (y >= rows) break;
                Vec results[Out];
                transform_output<Out>(down[y], results);
                for (int x = 0; x < Out; ++x) {
                    if (x >= columns) break;
                    const int at = y * call.columns + t * Out + x;
                    const Index last = static_cast<Index>(place + at) * step;
                    if (aside) {
                        store(call.strip + at * kLanes, results[x] + added);
#if defined(TENGEN_BF16)
                    } else if (call.halves) {
                        store_first(static_cast<Element*>(call.out) + first + last, finish(results[x] + added, nullptr),
                                    kLanes);
#endif
                    } else {
                        store(out + last, finish(results[x] + added, residual ? residual + last : nullptr));
                    }
                }
            }
        }
        if (aside) write_strip(call, first, here, place, rows * call.columns, finish);
    }
}

// The products of `Blocks` blocks of 16 outputs, from `k` on.
template <int Blocks>
void multiply_blocks(const WinogradCall& call, int k, int tiles) {
    const Element* transformed = reinterpret_cast<const Element*>(call.transformed);
    const int depth = call.depth, lines = depth / kTogether, parts = (tiles + kMaxRows - 1) / kMaxRows;
    const WinogradLine* weights = call.weights + static_cast<Index>(k) / kColumns * kPoints * lines;
    for (int i = 0; i < kPoints; ++i) {
        // Nearly equal parts: one of few tiles would be slow.
        for (int part = 0; part < parts; ++part) {
            const int first = part * tiles / parts, next = (part + 1) * tiles / parts;
            with_rows(next - first, [&]<int Rows>() {
                multiply<Rows, Blocks>(transformed + (static_cast<Index>(i) * tiles + first) * depth,
                                       weights + i * lines, static_cast<Index>(kPoints) * lines,
                                       call.products + (static_cast<Index>(i) * tiles + first) * kColumns,
                                       static_cast<Index>(kPoints) * tiles * kColumns, depth);
            });
        }
    }
}

template <int Out>
void run(const WinogradCall& call) {
    const int tiles = (call.end - call.begin) * call.across;
    each_segment(call, [&](const Segment& segment) {
        read_input<Out>(call, image_at(call, call.in, segment.image, call.inputs), segment, call.before,
                        reinterpret_cast<Element*>(call.transformed), tiles);
    });
    for (int first = 0; first < call.outputs; first += kBlocks * kColumns) {
        const bool all = first + (kBlocks - 1) * kColumns < call.outputs;
        all ? multiply_blocks<kBlocks>(call, first, tiles) : multiply_blocks<1>(call, first, tiles);
        for (int k = first; k < min(first + kBlocks * kColumns, call.outputs); k += kLanes) {
            const Index block = static_cast<Index>((k - first) / kColumns) * kPoints * tiles * kColumns;
            const float* products = call.products + block + k % kColumns;
            each_segment(call, [&](const Segment& segment) {
                write_tiles<Out>(call, products, tiles, segment, call.bias + k,
                                 place_of(call, segment.image, call.outputs, k), min(kLanes, call.outputs - k));
            });
        }
    }
}

// --- The gradient of its weights

// `to` [Rows][wide] += the transpose of `from` [words][depth] * `gradients` [words][wide], Rows and `Blocks` times 16
// columns of them.
template <int Rows, int Blocks>
void add_products(const WinogradGradientCall& call, const float* from, const float* gradients, float* to, int words) {
    constexpr int kWides = Blocks * kParts;
    Wide sum[Rows][kWides];
    for (int r = 0; r < Rows; ++r)
        for (int i = 0; i < kWides; ++i) sum[r][i] = load<Wide>(to + r * call.wide + i * kWidth);
    for (int t = 0; t < words; ++t) {
        Wide gradient[kWides];
        for (int i = 0; i < kWides; ++i) gradient[i] = load<Wide>(gradients + t * call.wide + i * kWidth);
        for (int r = 0; r < Rows; ++r)
            for (int i = 0; i < kWides; ++i)
                add_product(sum[r][i], reinterpret_cast<const Element*>(from + t * call.depth + r), gradient[i]);
    }
    for (int r = 0; r < Rows; ++r)
        for (int i = 0; i < kWides; ++i) store(to + r * call.wide + i * kWidth, sum[r][i]);
}

template <int Blocks>
void add_gradient(const WinogradGradientCall& call, int point, int words, int k) {
    const float* input = call.transformed + static_cast<Index>(point) * words * call.depth;
    const float* gradient = call.gradients + static_cast<Index>(point) * words * call.wide + k;
    float* sums = call.sums + static_cast<Index>(point) * call.depth * call.wide + k;
    const int parts = (call.depth + kMaxRows - 1) / kMaxRows;
    for (int part = 0; part < parts; ++part) {
        const int c = part * call.depth / parts, next = (part + 1) * call.depth / parts;
        with_rows(next - c, [&]<int Rows>() {
            add_products<Rows, Blocks>(call, input + c, gradient, sums + c * call.wide, words);
        });
    }
}

template <int Out>
void run_gradient(const WinogradGradientCall& call) {
    const int tiles = (call.end - call.begin) * call.across;
    each_segment(call, [&](const Segment& segment) {
        read_input<Out>(call, image_at(call, call.in, segment.image, call.inputs), segment, {},
                        reinterpret_cast<Word*>(call.transformed), tiles);
        read_tiles<Out, Out, transform_gradient<Out>>(call, image_at(call, call.gradient, segment.image, call.outputs),
                                                      call.outputs, segment, {},
                                                      reinterpret_cast<Word*>(call.gradients), tiles, call.wide);
    });
    const int words = (tiles + kTogether - 1) / kTogether;
    for (int i = 0; i < kPoints; ++i) {
        int k = 0;
        for (; k + kBlocks * kColumns <= call.wide; k += kBlocks * kColumns) add_gradient<kBlocks>(call, i, words, k);
        for (; k < call.wide; k += kColumns) add_gradient<1>(call, i, words, k);
    }
}

// --- Layouts

// Calls `visit` with the first of each vector of channels, how many of them there are, and its place in blocks.
void each_vector(int channels, int points, auto visit) {
    for (int c = 0; c < channels; c += kLanes)
        visit(c, min(kLanes, channels - c), (static_cast<Index>(c / kColumns) * points) * kColumns + c % kColumns);
}

}  // namespace

void to_blocks(const float* from, float* to, int channels, int points) {
    each_vector(channels, points, [&](int c, int here, Index place) {
        gather_points(from + static_cast<Index>(c) * points, points, here, points, to + place, kColumns);
    });
}

void from_blocks(const float* from, float* to, int channels, int points) {
    each_vector(channels, points, [&](int c, int here, Index place) {
        scatter_points(from + place, kColumns, here, points, to + static_cast<Index>(c) * points, points,
                       [](auto value, Index) { return value; });
    });
}

void run_winograd(const WinogradCall& call) { call.kernel == 3 ? run<4>(call) : run<2>(call); }

void run_winograd_gradient(const WinogradGradientCall& call) {
    call.kernel == 3 ? run_gradient<4>(call) : run_gradient<2>(call);
}

}  // namespace tengen::TENGEN_INSTRUCTIONS
