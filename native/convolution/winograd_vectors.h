// The vectors of an instruction set, and the numbers that the products of Winograd's algorithm read.
//
// A part of winograd_run.cpp alone: its functions are of one instruction set, and of that file.
#pragma once

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

// Copies 8 or all lanes; one copy of either size would be a call.
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

// Writes the first `count` lanes, 8 or all of them.
void store_first(Element* to, Vec value, int count) {
    const auto halves = _mm512_cvtneps_pbh(value);
    copy_lanes<decltype(halves)>(to, &halves, count);
}

// `sum` of 16 outputs plus the products of two inputs.
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

// The numbers of two tiles in turn.
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

// Exchanges blocks of `Step` lanes between vectors `Step` apart, for each lane `I`.
template <int Step, int... I>
void exchange(Vec* m, Indices<I...>) {
    for (int i = 0; i < kLanes; ++i) {
        if (i & Step) continue;
        const Vec a = m[i], b = m[i + Step];
        m[i] = __builtin_shufflevector(a, b, (I & Step ? kLanes + I - Step : I)...);
        m[i + Step] = __builtin_shufflevector(a, b, (I & Step ? kLanes + I : I + Step)...);
    }
}

// As many vectors as they have lanes, the rows of a matrix, become its columns. Inline they stay in registers (1.06
// times the speed of a convolution of 64 or 96 channels in bf16).
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

}  // namespace
}  // namespace tengen::TENGEN_INSTRUCTIONS
