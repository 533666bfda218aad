// Attention for one instruction set, which the compiler has by its flags: namespace TENGEN_INSTRUCTIONS. Nothing here
// may come from a template or inline function of another file: see convolution/winograd_run.cpp. The headers of the
// products have all of theirs in an unnamed namespace.
#include "attention/attention_run.h"

#ifdef TENGEN_TILES
#include "attention/attention_tiles.h"
#else
#include "attention/attention_vectors.h"
#endif

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

using Index = decltype(sizeof 0);

constexpr int kRows = kAttentionRows;
constexpr float kLog2e = 1.44269504f;
constexpr float kBesideBoard = -1e30f;  // the bias of keys that only pad

__m512 widened(const Half* from) {
    __m256i read;
    __builtin_memcpy(&read, from, sizeof read);
    return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(read), 16);
}

// A head of the rotation.
struct Turn {
    const float *cosine, *sine;

    Turn(const AttentionRotation& rotation, int head, int points, int size)
        : cosine(rotation.cosine), sine(rotation.sine) {
        if (!cosine || !rotation.of_head) return;
        cosine += (Index)head * points * size;
        sine += (Index)head * points * size;
    }

    // Writes the channels of a point times `scale`, turned. The order of channels changes, for queries and keys alike.
    void apply(const Half* in, int point, int size, float scale, Half* out) const {
        const int half = size / 2;
        const __m512 factor = _mm512_set1_ps(scale);
        for (int c = 0; c < half; c += 16) {
            __m512 a = _mm512_mul_ps(widened(in + c), factor), b = _mm512_mul_ps(widened(in + half + c), factor);
            if (cosine) {
                const float *by = cosine + (Index)point * size + c, *of = sine + (Index)point * size + c;
                const __m512 turned = a * _mm512_loadu_ps(by) - b * _mm512_loadu_ps(of);
                b = b * _mm512_loadu_ps(by + half) + a * _mm512_loadu_ps(of + half);
                a = turned;
            }
            _mm512_storeu_si512(out + 2 * c, (__m512i)_mm512_cvtne2ps_pbh(b, a));
        }
    }
};

// Transposes 16 x 16 words, which are pairs of halves.
void transpose(const Half* in, int stride, Half* out) {
    __m512i r[16], t[16];
    for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_si512(in + (Index)i * stride);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 8; ++i) {
        _mm512_storeu_si512(out + 32 * i, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
        _mm512_storeu_si512(out + 32 * (i + 8), _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
    }
}

// Two to the power of x with a relative error of 0.0001, which is little beside that of weights of 8 bits.
__m512 power_of_two(__m512 x) {
    const __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF);  // x less the whole number below
    const __m512 terms = ((_mm512_set1_ps(0.07826797f) * f + 0.22630768f) * f + 0.69542435f) * f + 1.0f;
    return _mm512_scalef_ps(terms, x);  // which takes the whole number below
}

// Writes 2^(logit - the largest) of a row of `count` logits, a multiple of 32, and returns their sum.
float exponentials(const float* logits, int count, Half* out) {
    __m512 most = _mm512_load_ps(logits), others = _mm512_load_ps(logits + 16);
    for (int i = 32; i < count; i += 32) {
        most = _mm512_max_ps(most, _mm512_load_ps(logits + i));
        others = _mm512_max_ps(others, _mm512_load_ps(logits + i + 16));
    }
    const __m512 largest = _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(most, others)));
    __m512 sum = _mm512_setzero_ps();
    for (int i = 0; i < count; i += 32) {
        const __m512 a = power_of_two(_mm512_load_ps(logits + i) - largest);
        const __m512 b = power_of_two(_mm512_load_ps(logits + i + 16) - largest);
        sum += a + b;
        _mm512_store_si512(out + i, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    }
    return _mm512_reduce_add_ps(sum);
}

// A call and its parts of the space.
struct Layer : AttentionSizes, AttentionCall {
    Products products;
    int padded;
    Half* keys;            // [padded / 16][query size / 32][16 pairs of channels][16 keys][2]
    Half* values;          // [value size / 16][padded / 32][16 pairs of keys][16 channels][2]
    Half* turned;          // [16][query size]
    float* logits;         // [16][padded], of base 2
    Half* weights;         // [16][padded]
    float* means;          // [16][value size]
    float* bias_of_image;  // [padded], of base 2

    Layer(const AttentionSizes& sizes, const AttentionCall& call)
        : AttentionSizes(sizes), AttentionCall(call), padded(padded_keys(call.points)) {
        float* next = space;
        const auto take = [&next](int floats) { return next += floats, next - floats; };
        keys = (Half*)take(padded * query_size / 2);
        values = (Half*)take(padded * value_size / 2);
        turned = (Half*)take(kRows * query_size / 2);
        logits = take(kRows * padded);
        weights = (Half*)take(kRows * padded / 2);
        means = take(kRows * value_size);
        bias_of_image = take(padded);
    }

    void read_bias(int image) {
        for (int i = 0; i < padded; ++i)
            bias_of_image[i] = i < points ? bias[(Index)image * points + i] * kLog2e : kBesideBoard;
    }

    void pack_keys(int image, int head) {
        const Turn turn(key_rotation, head, points, query_size);
        for (int block = 0; block < padded; block += kRows) {
            for (int i = 0; i < kRows; ++i) {
                Half* to = turned + i * query_size;
                const int point = block + i;
                if (point < points)
                    turn.apply(key + (((Index)image * points + point) * key_heads + head) * query_size, point,
                               query_size, 1, to);
                else
                    for (int c = 0; c < query_size; ++c) to[c] = 0;
            }
            for (int c = 0; c < query_size; c += 32)
                transpose(turned + c, query_size, keys + block * query_size + 16 * c);
        }
    }

    void pack_values(int image, int head) {
        const auto read = [&](int point, int channel) {
            __m256i halves = _mm256_setzero_si256();
            if (point < points)
                __builtin_memcpy(&halves,
                                 value + (((Index)image * points + point) * key_heads + head) * value_size + channel,
                                 sizeof halves);
            return _mm512_cvtepu16_epi32(halves);
        };
        for (int c = 0; c < value_size; c += 16)
            for (int i = 0; i < padded; i += 2)
                _mm512_store_si512(values + c * padded + 16 * i,
                                   _mm512_or_si512(read(i, c), _mm512_slli_epi32(read(i + 1, c), 16)));
    }

    void turn_queries(int image, int head, int begin, int rows) {
        const Turn turn(query_rotation, head, points, query_size);
        for (int i = 0; i < rows; ++i)
            turn.apply(query + (((Index)image * points + begin + i) * heads + head) * query_size, begin + i, query_size,
                       kLog2e, turned + i * query_size);
    }

    void write(int image, int head, int begin, int rows, const float* sums) const {
        for (int i = 0; i < rows; ++i) {
            const __m512 share = _mm512_set1_ps(1 / sums[i]);
            Half* to = out + (((Index)image * points + begin + i) * heads + head) * value_size;
            for (int c = 0; c < value_size; c += 16) {
                const auto halves = _mm512_cvtneps_pbh(_mm512_loadu_ps(means + i * value_size + c) * share);
                __builtin_memcpy(to + c, &halves, sizeof halves);
            }
        }
    }

    void run_head(int image, int head) {
        float sums[kRows];
        for (int begin = 0; begin < points; begin += kRows) {
            const int rows = points - begin < kRows ? points - begin : kRows;
            turn_queries(image, head, begin, rows);
            products.multiply_keys(turned, query_size, keys, padded, bias_of_image, logits);
            for (int i = 0; i < rows; ++i) sums[i] = exponentials(logits + i * padded, padded, weights + i * padded);
            products.multiply_values(weights, padded, values, value_size, means);
            write(image, head, begin, rows, sums);
        }
    }
};

}  // namespace

void run_attention(const AttentionSizes& sizes, const AttentionCall& call) {
    Layer layer(sizes, call);
    const int shared = layer.heads / layer.key_heads;
    for (int image = 0; image < layer.batch; ++image) {
        layer.read_bias(image);
        for (int key_head = 0; key_head < layer.key_heads; ++key_head) {
            layer.pack_keys(image, key_head);
            layer.pack_values(image, key_head);
            for (int i = 0; i < shared; ++i) layer.run_head(image, key_head * shared + i);
        }
    }
}

}  // namespace tengen::TENGEN_INSTRUCTIONS
