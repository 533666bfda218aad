// Between winograd.cpp, which is compiled once, and winograd_run.cpp, once for each instruction set.
#pragma once

namespace tengen {

constexpr int kTile = 6, kPoints = kTile * kTile, kColumns = 16, kDepthUnit = 8;
// The interpolation points are 0, these and their negatives, and infinity.
constexpr double kWinogradNear = 2.0 / 3, kWinogradFar = 1.5;

// How the channels of images lie in memory.
enum class ImageLayout {
    channels_first,  // [batch][channels][rows][columns]
    channels_last,   // [batch][rows][columns][channels]
    blocks,          // [batch][channels / 16][rows][columns][16], the last block filled up with anything finite
};

// The weights of an input for sixteen outputs at their place in the cache, or in bf16 those of two inputs in turn.
struct alignas(64) WinogradLine {
    union {
        float at[kColumns];
        unsigned short halves[2 * kColumns];
    };
};

// Applied to the input of a convolution, in this order: `bias` is added, with `relu` no value is below 0, and the
// points are multiplied by `mask`. Null: left out.
struct WinogradInput {
    const float* bias = nullptr;  // [inputs], or [batch][inputs] with `bias_of_image`
    bool bias_of_image = false;
    bool relu = false;
    const float* mask = nullptr;  // [batch][rows][columns]
};

// Images and the tiles that they are cut into, with room for what is computed in between.
struct WinogradTiles {
    int inputs, outputs, kernel, batch, rows, columns;
    ImageLayout layout;
    bool halves;              // images hold bf16 instead of floats, with channels last
    int across, down, depth;  // tiles of an image, inputs padded to 8
    int begin, end;           // the lines of tiles of this call, of those of all images
    float* strip;             // [6][columns, padded to tiles] and [rows][columns], of up to 16 channels
    float* transformed;  // [36][tiles][depth], in bf16 where the products are: for gradients, a pair of tiles a word
};

// A call of Winograd::run, with the padded weights and bias.
struct WinogradCall : WinogradTiles {
    const void* in;
    const float* residual;  // of floats
    WinogradInput before;
    void* out;
    bool relu;
    const WinogradLine* weights;  // [outputs / 16][36][depth, in bf16 depth / 2]
    const float* bias;            // [outputs, padded]
    float* products;              // [2][36][tiles][16]
};

// A call of winograd_weight_gradient.
struct WinogradGradientCall : WinogradTiles {
    const void *in, *gradient;
    int wide;          // outputs padded to 16
    float* gradients;  // [36][tiles][wide], as `transformed`
    float* sums;       // [36][depth][wide]: the gradient of the transformed weights, which the call adds to
};

using WinogradRun = void(const WinogradCall& call);
using WinogradGradientRun = void(const WinogradGradientCall& call);
// Copies an image of so many channels and points from channels first to blocks, or back.
using BlockCopy = void(const float* from, float* to, int channels, int points);

#define TENGEN_DECLARE_WINOGRAD(instructions)  \
    namespace instructions {                   \
    WinogradRun run_winograd;                  \
    WinogradGradientRun run_winograd_gradient; \
    BlockCopy to_blocks, from_blocks;          \
    }
TENGEN_DECLARE_WINOGRAD(plain)
TENGEN_DECLARE_WINOGRAD(avx2)
TENGEN_DECLARE_WINOGRAD(avx512)
TENGEN_DECLARE_WINOGRAD(avx512_bf16)
#undef TENGEN_DECLARE_WINOGRAD

}  // namespace tengen
