// Winograd::run for one instruction set, which the compiler has by its flags: namespace TENGEN_INSTRUCTIONS.
//
// Nothing here may come from a template or inline function of another header. The linker keeps one copy of those for
// the whole program, perhaps this one, which the processor may not be able to run.
#include "convolution/winograd_run.h"

#if defined(TENGEN_BF16)
#include <immintrin.h>  // functions of one instruction, which are always inlined
#endif

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

using Index = decltype(sizeof 0);

// The widest vector of the processor, the channels of a transform at once, and as many tiles and blocks of 16 outputs
// at once in the products, which take most of the time, as the registers hold.
#if defined(__AVX512F__)
constexpr int kWidth = 16, kLanes = 16, kMaxRows = 12, kBlocks = 2;  // 24 of 32 registers
#elif defined(__AVX2__)
constexpr int kWidth = 8, kLanes = 8, kMaxRows = 6, kBlocks = 1;  // 12 of 16
#elif defined(__aarch64__) || defined(_M_ARM64)
constexpr int kWidth = 4, kLanes = 8, kMaxRows = 6, kBlocks = 1;  // 24 of 32
#else
constexpr int kWidth = 4, kLanes = 8, kMaxRows = 3, kBlocks = 1;  // 12 of 16
#endif
constexpr int kParts = kColumns / kWidth;
using Vec = float __attribute__((vector_size(4 * kLanes)));
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

/// Copies 8 or all lanes; one copy of either size would be a call.
template <class V>
void copy_lanes(void* to, const void* from, int count) {
    if (count < kLanes)
        __builtin_memcpy(to, from, sizeof(V) / 2);
    else
        __builtin_memcpy(to, from, sizeof(V));
}

// Numbers as the products read them: `Element`, of which one read fetches `kTogether` inputs of a tile, or the same
// input of as many tiles for the gradient of weights.
#if defined(TENGEN_BF16)
using Element = unsigned short;
constexpr int kTogether = 2;

/// Writes the first `count` lanes, 8 or all of them.
void store_first(Element* to, Vec value, int count) {
    const auto halves = _mm512_cvtneps_pbh(value);
    copy_lanes<decltype(halves)>(to, &halves, count);
}

/// `sum` of 16 outputs plus the products of two inputs.
void add_product(Wide& sum, const Element* inputs, Wide weights) {
    int both;
    __builtin_memcpy(&both, inputs, sizeof both);
    sum = _mm512_dpbf16_ps(sum, (__m512bh)weights, (__m512bh)_mm512_set1_epi32(both));
}

Vec widened(const Element* halves) {
    __m256i read;
    __builtin_memcpy(&read, halves, sizeof read);
    return (Vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(read), 16);
}

/// The numbers of two tiles in turn.
Vec paired(Vec first, Vec second) {
    const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(first));
    const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(second));
    return (Vec)(low | _mm512_slli_epi32(high, 16));
}
#else
using Element = float;
constexpr int kTogether = 1;

void store_first(Element* to, Vec value, int count) { copy_lanes<Vec>(to, &value, count); }

void add_product(Wide& sum, const Element* input, Wide weights) { sum += *input * weights; }
#endif

constexpr int min(int a, int b) { return a < b ? a : b; }
constexpr int max(int a, int b) { return a > b ? a : b; }

template <int... I>
struct Indices {};

/// Exchanges blocks of `Step` lanes between vectors `Step` apart, for each lane `I`.
template <int Step, int... I>
void exchange(Vec* m, Indices<I...>) {
    for (int i = 0; i < kLanes; ++i) {
        if (i & Step) continue;
        const Vec a = m[i], b = m[i + Step];
        m[i] = __builtin_shufflevector(a, b, (I & Step ? kLanes + I - Step : I)...);
        m[i + Step] = __builtin_shufflevector(a, b, (I & Step ? kLanes + I : I + Step)...);
    }
}

/// As many vectors as they have lanes, the rows of a matrix, become its columns. Inline they stay in registers (1.06
/// times the speed of a convolution of 64 or 96 channels in bf16).
inline void transpose(Vec* m) {
#if defined(__AVX512F__)
    constexpr Indices<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> lanes;
    exchange<8>(m, lanes);
#else
    constexpr Indices<0, 1, 2, 3, 4, 5, 6, 7> lanes;
#endif
    exchange<4>(m, lanes);
    exchange<2>(m, lanes);
    exchange<1>(m, lanes);
}

// The interpolation points are 0, +-kNear, +-kFar and infinity: of the small ones, those with the least error in
// bf16, some 1% of a result where 1 and 2 have 2.1% (Barabasz et al., "Error analysis and improving the accuracy of
// Winograd convolution for deep neural networks", 2020, choose points so). Their product is 1.
constexpr float kNear = static_cast<float>(kWinogradNear), kFar = static_cast<float>(kWinogradFar);
constexpr float kNear2 = kNear * kNear, kFar2 = kFar * kFar, kBoth2 = kNear2 + kFar2;

/// Transform of six input points of a line, `step` apart, into `to`.
void transform_input(const Vec* d, Vec* to) {
    const Vec even = d[4] - kFar2 * d[2], odd = kNear * d[3] - kFar * d[1];
    const Vec even2 = d[4] - kNear2 * d[2], odd2 = kFar * d[3] - kNear * d[1];
    to[0] = d[0] - kBoth2 * d[2] + d[4];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = even2 + odd2;
    to[4] = even2 - odd2;
    to[5] = d[1] - kBoth2 * d[3] + d[5];
}

/// Transform of six products of a line into `Out` (4 or 2) results.
template <int Out>
void transform_output(const Vec* m, Vec* to) {
    const Vec even = m[1] + m[2], odd = m[1] - m[2], even2 = m[3] + m[4], odd2 = m[3] - m[4];
    to[0] = m[0] + even + even2;
    if constexpr (Out == 2) {
        to[1] = kNear * odd + kFar * odd2 + m[5];
    } else {
        to[1] = kNear * odd + kFar * odd2;
        to[2] = kNear2 * even + kFar2 * even2;
        to[3] = kNear2 * kNear * odd + kFar2 * kFar * odd2 + m[5];
    }
}

/// The reverse of `transform_output`, as gradients go: `Out` results of a line to six products.
template <int Out>
void transform_gradient(const Vec* y, Vec* to) {
    Vec even = y[0], odd = kNear * y[1], even2 = y[0], odd2 = kFar * y[1];
    if constexpr (Out == 4) {
        even += kNear2 * y[2], odd += kNear2 * kNear * y[3];
        even2 += kFar2 * y[2], odd2 += kFar2 * kFar * y[3];
    }
    to[0] = y[0];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = even2 + odd2;
    to[4] = even2 - odd2;
    to[5] = y[Out - 1];
}

#define TENGEN_INLINE __attribute__((always_inline))

/// Calls `visit.template operator()<i>()` for i of 0 to Count - 1. GCC may unroll a loop too late to keep an array in
/// registers (measured with AVX-512 in f32: 1.2 times the speed of 128 channels, 1.04 of 96).
template <int Count, int I = 0>
TENGEN_INLINE inline void each(const auto& visit) {
    if constexpr (I < Count) {
        visit.template operator()<I>();
        each<Count, I + 1>(visit);
    }
}

/// `to` [Rows][16] of `Blocks` blocks of outputs = `from` [Rows][depth] * the weights of each block [depth][16]. The
/// weights of two blocks are `next_weights` lines apart, their results `next` numbers.
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

/// Calls `visit.template operator()<count>()`, for a count of 1 to kMaxRows.
template <int Rows = kMaxRows>
void with_rows(int count, auto visit) {
    if constexpr (Rows > 1)
        if (count < Rows) return with_rows<Rows - 1>(count, visit);
    visit.template operator()<Rows>();
}

/// Lines of tiles of one image, of those that are done at once.
struct Segment {
    Index image;
    int line, lines;  // of the image
    int tile;         // the first of those at once
};

/// Calls `visit` with each part of the lines of a call that lies in one image.
template <class Visit>
void each_segment(const WinogradTiles& tiles, Visit visit) {
    for (int at = tiles.begin; at < tiles.end;) {
        const int line = at % tiles.down, lines = min(tiles.down - line, tiles.end - at);
        visit(Segment{static_cast<Index>(at / tiles.down), line, lines, (at - tiles.begin) * tiles.across});
        at += lines;
    }
}

/// Puts what a tile has at one of the 36 points, in the channels from `c` on, into the arrays of `read_tiles`.
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

/// Points of an image, each a vector of channels `step` numbers after the one before.
struct Points {
    const float* first;
    int step;
};

/// Where the first point of channel `c` of an image lies, among images of so many channels.
Index place_of(const WinogradTiles& tiles, Index image, int channels, int c) {
    const Index area = static_cast<Index>(tiles.rows) * tiles.columns;
    switch (tiles.layout) {
        case ImageLayout::channels_first:
            return (image * channels + c) * area;
        case ImageLayout::channels_last:
            return image * channels * area + c;
        case ImageLayout::blocks:
            const int blocks = (channels + kColumns - 1) / kColumns;
            return (image * blocks + c / kColumns) * area * kColumns + c % kColumns;
    }
    __builtin_unreachable();
}

/// The image of this number among images of so many channels.
const void* image_at(const WinogradTiles& tiles, const void* images, Index number, int channels) {
    const Index bytes = tiles.halves ? 2 : sizeof(float);
    return static_cast<const char*>(images) + place_of(tiles, number, channels, 0) * bytes;
}

/// Copies `count` points of `here` channels, at most a vector of them, from planes `area` numbers apart into vectors
/// `step` numbers apart; channels that are not there are 0.
void gather_points(const float* from, int area, int here, int count, float* to, int step) {
    int i = 0;
    // The last block of points overlaps the one before.
    for (; here == kLanes && count >= kLanes && i < count; i += kLanes) {
        const int at = min(i, count - kLanes);
        Vec block[kLanes];
        for (int j = 0; j < kLanes; ++j) block[j] = load(from + static_cast<Index>(j) * area + at);
        transpose(block);
        for (int j = 0; j < kLanes; ++j) store(to + static_cast<Index>(at + j) * step, block[j]);
    }
    for (; i < count; ++i)
        for (int j = 0; j < kLanes; ++j)
            to[static_cast<Index>(i) * step + j] = j < here ? from[static_cast<Index>(j) * area + i] : 0;
}

/// The reverse. `finish` makes a result, a vector of points or one, of the number at its place in `to`.
template <class Finish>
void scatter_points(const float* from, int step, int here, int count, float* to, int area, Finish finish) {
    int i = 0;
    for (; here == kLanes && count >= kLanes && i < count; i += kLanes) {
        const int at = min(i, count - kLanes);
        Vec block[kLanes];
        for (int j = 0; j < kLanes; ++j) block[j] = load(from + static_cast<Index>(at + j) * step);
        transpose(block);
        for (int j = 0; j < kLanes; ++j) {
            const Index place = static_cast<Index>(j) * area + at;
            store(to + place, finish(block[j], place));
        }
    }
    for (; i < count; ++i) {
        for (int j = 0; j < here; ++j) {
            const Index place = static_cast<Index>(j) * area + i;
            to[place] = finish(from[static_cast<Index>(i) * step + j], place);
        }
    }
}

/// `here` channels from `c` on of `count` points of an image, from its point `place` on; channels that are not there
/// are 0. They are where they lie already or in `space`.
Points read_points(const WinogradTiles& tiles, const void* image, int channels, int c, int here, int place, int count,
                   float* space) {
    const int area = tiles.rows * tiles.columns;
#if defined(TENGEN_BF16)
    if (tiles.halves) {
        const auto* from = static_cast<const Element*>(image) + static_cast<Index>(place) * channels + c;
        for (int i = 0; i < count; ++i, from += channels) {
            Element some[kLanes] = {};
            if (here < kLanes)
                for (int j = 0; j < here; ++j) some[j] = from[j];
            store(space + i * kLanes, widened(here < kLanes ? some : from));
        }
        return {space, kLanes};
    }
#endif
    const float* from = static_cast<const float*>(image) + place_of(tiles, 0, channels, c);
    switch (tiles.layout) {
        case ImageLayout::blocks:  // channels that are not there have weights of 0
            return {from + static_cast<Index>(place) * kColumns, kColumns};
        case ImageLayout::channels_last:
            from += static_cast<Index>(place) * channels;
            if (here == kLanes) return {from, channels};
            for (int i = 0; i < count; ++i)
                for (int j = 0; j < kLanes; ++j) space[i * kLanes + j] = j < here ? from[i * channels + j] : 0;
            return {space, kLanes};
        case ImageLayout::channels_first:
            gather_points(from + place, area, here, count, space, kLanes);
            return {space, kLanes};
    }
    __builtin_unreachable();
}

/// Transforms the tiles of a segment of an image of `channels` into `to` [36][tiles][depth], or with `To` of words, for
/// the gradient of weights, into [36][tiles, of which bf16 puts two into a word][depth]. A tile reads `In` x `In`
/// points of the image, `Step` after those of the one before, as `before` has them.
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
        if (here <= 0) {  // padding
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

/// The input of a convolution with `Out` results a tile and side.
template <int Out, class To>
void read_input(const WinogradTiles& tiles, const void* image, const Segment& segment, const WinogradInput& before,
                To* to, int at_once) {
    read_tiles<kTile, Out, transform_input>(tiles, image, tiles.inputs, segment, before, to, at_once, tiles.depth);
}

/// Results of a segment for `here` outputs, at most a vector of them, from `from` [36][tiles][16]: bias, residual and
/// ReLU applied. `first` is the place of the first of them in `residual` and `out`.
template <int Out>
void write_tiles(const WinogradCall& call, const float* from, int at_once, const Segment& segment, const float* bias,
                 Index first, int here) {
    const int area = call.rows * call.columns;
    const Vec added = load(bias);
    const float* residual = call.residual ? call.residual + first : nullptr;
    float* out = static_cast<float*>(call.out) + (call.halves ? 0 : first);
    const auto finish = [&]<class V>(V value, const float* more) {
        if (more) value += load<V>(more);
        return call.relu ? (value > 0 ? value : V{}) : value;
    };
    // Blocks have room for whole vectors; other layouts may need another order, or fewer channels.
    const bool blocks = call.layout == ImageLayout::blocks;
    const bool aside = !blocks && (call.layout == ImageLayout::channels_first || here < kLanes);
    const int step = blocks ? kColumns : call.outputs;  // numbers between two points
    for (int line = 0; line < segment.lines; ++line) {
        const int top = (segment.line + line) * Out, rows = min(Out, call.rows - top), place = top * call.columns;
        for (int t = 0; t < call.across; ++t) {
            const float* tile = from + static_cast<Index>(segment.tile + line * call.across + t) * kColumns;
            Vec down[Out][kTile];
            for (int x = 0; x < kTile; ++x) {
                Vec column[kTile], results[Out];
                for (int y = 0; y < kTile; ++y)
                    column[y] = load(tile + static_cast<Index>(y * kTile + x) * at_once * kColumns);
                transform_output<Out>(column, results);
                for (int y = 0; y < Out; ++y) down[y][x] = results[y];
            }
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
        if (!aside) continue;
        const int count = rows * call.columns;
        if (call.layout == ImageLayout::channels_first) {
            scatter_points(call.strip, kLanes, here, count, out + place, area, [&](auto value, Index at) {
                return finish(value, residual ? residual + place + at : nullptr);
            });
            continue;
        }
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
}

/// `to` [Rows][wide] += the transpose of `from` [words][depth] * `gradients` [words][wide], Rows and `Blocks` times 16
/// columns of them.
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

/// The products of `Blocks` blocks of 16 outputs, from `k` on.
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

/// Calls `visit` with the first of each vector of channels, how many of them there are, and its place in blocks.
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
