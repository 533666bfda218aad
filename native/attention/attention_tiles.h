// Products of attention by matrix units (AMX).
//
// A unit multiplies a tile of 16 rows of 32 numbers of bf16 with one of 32 rows of 16, and adds the products to a tile
// of 16 x 16 floats. The 32 rows lie as 16 pairs: both numbers of a column in one word.
//
// A part of attention_run.cpp alone.
#pragma once

#include <immintrin.h>  // functions of one instruction, which are always inlined

#include "attention/attention_run.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

// GCC 12 does not tell what its functions of tiles read and write: here all of it is in memory.
inline __attribute__((always_inline)) void settle_memory() { __asm__ volatile("" ::: "memory"); }

// What LDTILECFG reads.
struct alignas(64) TileConfiguration {
    unsigned char palette = 0, start = 0, reserved[14] = {};
    unsigned short row_bytes[16] = {};
    unsigned char rows[16] = {};
};

// The products of 16 queries. The units have whole tiles while it lives; then those of the caller again: oneDNN
// configures its tiles once and expects them to stay.
class Products {
  public:
    Products() {
        settle_memory();
        _tile_storeconfig(&before_);
        settle_memory();
        TileConfiguration whole;
        whole.palette = 1;
        for (int i = 0; i < 8; ++i) {
            whole.row_bytes[i] = 64;
            whole.rows[i] = kAttentionRows;
        }
        settle_memory();
        _tile_loadconfig(&whole);
    }
    Products(const Products&) = delete;
    ~Products() { _tile_loadconfig(&before_); }

    // Logits [16][count] of `queries` [16][size] and `count` keys: tiles 0 and 1 have those of 32 keys.
    void multiply_keys(const Half* queries, int size, const Half* keys, int count, const float* bias,
                       float* logits) const {
        const bool deep = size > 32;
        settle_memory();
        _tile_loadd(6, queries, size * 2);
        if (deep) _tile_loadd(7, queries + 32, size * 2);
        for (int i = 0; i < count; i += 32) {
            const Half *first = keys + i * size, *second = first + kAttentionRows * size;
            _tile_loadd(0, bias + i, 0);  // the same line for all queries
            _tile_loadd(1, bias + i + 16, 0);
            _tile_loadd(4, first, 64);
            _tile_loadd(5, second, 64);
            _tile_dpbf16ps(0, 6, 4);
            _tile_dpbf16ps(1, 6, 5);
            if (deep) {
                _tile_loadd(4, first + 512, 64);
                _tile_loadd(5, second + 512, 64);
                _tile_dpbf16ps(0, 7, 4);
                _tile_dpbf16ps(1, 7, 5);
            }
            _tile_stored(0, logits + i, count * 4);
            _tile_stored(1, logits + i + 16, count * 4);
        }
        settle_memory();
    }

    // Sums [16][size] of `count` values by `weights` [16][count]: tiles 0 and 1 have those of 32 channels.
    void multiply_values(const Half* weights, int count, const Half* values, int size, float* sums) const {
        settle_memory();
        for (int c = 0; c < size; c += 32) {
            const bool both = c + 16 < size;
            const Half *first = values + c * count, *second = first + 16 * count;
            _tile_zero(0);
            _tile_zero(1);
            for (int i = 0; i < count; i += 32) {
                _tile_loadd(6, weights + i, count * 2);
                _tile_loadd(4, first + 16 * i, 64);
                _tile_dpbf16ps(0, 6, 4);
                if (!both) continue;
                _tile_loadd(5, second + 16 * i, 64);
                _tile_dpbf16ps(1, 6, 5);
            }
            _tile_stored(0, sums + c, size * 4);
            if (both) _tile_stored(1, sums + c + 16, size * 4);
        }
        settle_memory();
    }

  private:
    TileConfiguration before_;
};

}  // namespace
}  // namespace tengen::TENGEN_INSTRUCTIONS
