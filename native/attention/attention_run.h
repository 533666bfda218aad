// Between attention.cpp, which any processor runs, and attention_run.cpp, which is compiled for each instruction set.
#pragma once

namespace tengen {

struct AttentionSizes {
    int heads, key_heads, query_size, value_size;  // channels of a query or key and of a value
};

// Channel c of the first half of a head and channel c of the second turn together. Null cosine: nothing turns.
struct AttentionRotation {
    const float* cosine = nullptr;  // [points][size], or [heads][points][size] with `of_head`
    const float* sine = nullptr;
    bool of_head = false;
};

using Half = unsigned short;  // a number of bf16

struct AttentionCall {
    int batch, points;
    const Half* query;  // [batch][points][heads][query size]
    const Half* key;    // [batch][points][key heads][query size]
    const Half* value;  // [batch][points][key heads][value size]
    const float* bias;  // [batch][points], added to the products of a key
    AttentionRotation query_rotation, key_rotation;
    Half* out;     // [batch][points][heads][value size]
    float* space;  // attention_space() floats, at a line of the cache
};

constexpr int kAttentionRows = 16;  // queries at once
constexpr int kAttentionUnit = 32;  // keys are padded to a multiple of it: the depth of a product of matrices in bf16

// Static: a copy that is compiled for an instruction set must not serve the rest of the program.
static constexpr int padded_keys(int points) { return (points + kAttentionUnit - 1) / kAttentionUnit * kAttentionUnit; }

// Floats that a call works with: packed keys and values of a key head, and 16 queries, their products, weights and
// results, and the bias.
static constexpr int attention_space(const AttentionSizes& sizes, int points) {
    const int keys = padded_keys(points);
    return keys * (sizes.query_size + sizes.value_size) / 2 + 8 * sizes.query_size + 24 * keys + 16 * sizes.value_size +
           keys;
}

namespace avx512_bf16 {
void run_attention(const AttentionSizes& sizes, const AttentionCall& call);
}  // namespace avx512_bf16
namespace amx {
void run_attention(const AttentionSizes& sizes, const AttentionCall& call);
}  // namespace amx

}  // namespace tengen
