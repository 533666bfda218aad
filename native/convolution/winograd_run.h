// Between winograd.cpp, which is compiled once, and winograd_run.cpp, once for each instruction set.
#pragma once

namespace tengen {

constexpr int kTile = 6, kPoints = kTile * kTile, kLanes = 8, kColumns = 2 * kLanes;

/// Sixteen outputs at their place in the cache.
struct alignas(64) WinogradLine {
    float at[kColumns];
};

/// Images and the tiles that they are cut into, with room for what is computed in between.
struct WinogradTiles {
    int inputs, outputs, kernel, batch, rows, columns;
    bool channels_last;
    int across, down, depth;  // tiles of an image, inputs padded to 8
    int together;             // lines of tiles that are done at once
    float* strip;             // [6][columns, padded to tiles] of eight channels
    float* transformed;       // [36][tiles][depth]
};

/// A call of Winograd::run, with the padded weights and bias.
struct WinogradCall : WinogradTiles {
    const float *in, *residual;
    float* out;
    bool relu;
    const WinogradLine* weights;  // [outputs / 16][36][depth]
    const float* bias;            // [outputs, padded]
    float* products;              // [36][tiles][16]
};

/// A call of winograd_weight_gradient.
struct WinogradGradientCall : WinogradTiles {
    const float *in, *gradient;
    int wide;          // outputs padded to 16
    float* gradients;  // [36][tiles][wide]
    float* sums;       // [36][depth][wide]: the gradient of the transformed weights, which the call adds to
};

using WinogradRun = void(const WinogradCall& call);
using WinogradGradientRun = void(const WinogradGradientCall& call);

namespace plain {
WinogradRun run_winograd;
WinogradGradientRun run_winograd_gradient;
}  // namespace plain
namespace avx2 {
WinogradRun run_winograd;
WinogradGradientRun run_winograd_gradient;
}  // namespace avx2
namespace avx512 {
WinogradRun run_winograd;
WinogradGradientRun run_winograd_gradient;
}  // namespace avx512

}  // namespace tengen
