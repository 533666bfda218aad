// Between winograd.cpp, which is compiled once, and winograd_run.cpp, once for each instruction set.
#pragma once

namespace tengen {

constexpr int kTile = 6, kPoints = kTile * kTile, kLanes = 8, kColumns = 2 * kLanes;

/// Sixteen outputs at their place in the cache.
struct alignas(64) WinogradLine {
    float at[kColumns];
};

/// A call of Winograd::run, with the padded weights and bias and with room for what is computed in between.
struct WinogradCall {
    const float *in, *residual;
    float* out;
    int inputs, outputs, kernel, batch, rows, columns;
    bool relu;
    const WinogradLine* weights;  // [outputs / 16][36][depth]
    const float* bias;            // [outputs, padded]
    int across, down, depth;      // tiles of an image, inputs padded to 8
    int together;                 // lines of tiles that are done at once
    float* strip;                 // [6][columns, padded to tiles] of eight channels
    float* transformed;           // [36][tiles][depth]
    float* products;              // [36][tiles][16]
};

using WinogradRun = void(const WinogradCall& call);

namespace plain {
WinogradRun run_winograd;
}
namespace avx2 {
WinogradRun run_winograd;
}
namespace avx512 {
WinogradRun run_winograd;
}

}  // namespace tengen
