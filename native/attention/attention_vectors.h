// Products of attention by vectors (AVX512-BF16), with keys and values as matrix units want them.
//
// A part of attention_run.cpp alone.
#pragma once

#include <immintrin.h>  // functions of one instruction, which are always inlined

#include "attention/attention_run.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

// The products of 16 queries.
class Products {
  public:
    // Logits [16][count] of `queries` [16][size] and `count` keys.
    void multiply_keys(const Half* queries, int size, const Half* keys, int count, const float* bias,
                       float* logits) const {
        for (int i = 0; i < count; i += 32) multiply<2>(queries, size, keys + i * size, bias + i, logits + i, count);
    }

    // Sums [16][size] of `count` values by `weights` [16][count].
    void multiply_values(const Half* weights, int count, const Half* values, int size, float* sums) const {
        int c = 0;
        for (; c + 16 < size; c += 32) multiply<2>(weights, count, values + c * count, nullptr, sums + c, size);
        if (c < size) multiply<1>(weights, count, values + c * count, nullptr, sums + c, size);
    }

  private:
    // Writes to `out` [16][stride] the rows of `left` [16][depth] times those of `right` [lines][depth / 2][16][2], 16
    // columns a line, plus `start` of each column (null: 0).
    template <int Lines>
    static void multiply(const Half* left, int depth, const Half* right, const float* start, float* out, int stride) {
        constexpr int kBlock = 8;  // rows at once: with two lines 16 of 32 registers
        for (int row = 0; row < kAttentionRows; row += kBlock, left += kBlock * depth, out += kBlock * stride) {
            __m512 sums[kBlock][Lines];
#pragma GCC unroll 8
            for (int i = 0; i < kBlock; ++i)
#pragma GCC unroll 2
                for (int j = 0; j < Lines; ++j)
                    sums[i][j] = start ? _mm512_load_ps(start + 16 * j) : _mm512_setzero_ps();
            for (int d = 0; d < depth; d += 2) {
                __m512bh columns[Lines];
#pragma GCC unroll 2
                for (int j = 0; j < Lines; ++j) columns[j] = (__m512bh)_mm512_load_si512(right + 16 * (j * depth + d));
#pragma GCC unroll 8
                for (int i = 0; i < kBlock; ++i) {
                    int pair;
                    __builtin_memcpy(&pair, left + i * depth + d, sizeof pair);
#pragma GCC unroll 2
                    for (int j = 0; j < Lines; ++j)
                        sums[i][j] = _mm512_dpbf16_ps(sums[i][j], (__m512bh)_mm512_set1_epi32(pair), columns[j]);
                }
            }
#pragma GCC unroll 8
            for (int i = 0; i < kBlock; ++i)
#pragma GCC unroll 2
                for (int j = 0; j < Lines; ++j) _mm512_store_ps(out + i * stride + 16 * j, sums[i][j]);
        }
    }
};

}  // namespace
}  // namespace tengen::TENGEN_INSTRUCTIONS
