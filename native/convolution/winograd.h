#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "convolution/winograd_run.h"

namespace tengen {

// A convolution with kernel 3x3 or 5x5, stride 1 and zero padding, by the algorithm of Winograd on tiles of 6x6 points
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): F(4x4, 3x3) has a quarter of the
// multiplications of the plain sum, F(2x2, 5x5) 0.36 of them. May be used from several threads.
class Winograd {
  public:
    // `weights` [outputs][inputs][kernel][kernel], `bias` [outputs] or null for none. `kernel` is 3 or 5. With `bf16`
    // the factors of the products are rounded to bf16, all sums are in float32: the error has about 1% of the
    // standard deviation of the results with a kernel of 3, 1.3% with one of 5. `instructions` is one of
    // `available(bf16)`; the first of them unless given. Throws std::invalid_argument for another. Those that fuse
    // multiplication and addition (all but plain, and plain where the build has them) give other last bits than those
    // that do not.
    Winograd(const float* weights, const float* bias, int outputs, int inputs, int kernel, bool bf16 = false,
             std::string_view instructions = {});

    // `out` [batch][outputs][rows][columns] of `in` [batch][inputs][rows][columns] after `before` is applied to it,
    // plus `residual` of the shape of `out` unless that is null; with `relu` no value is below 0. All three lie in
    // memory as `layout` says. `out` may not overlap the others. Runs on the calling thread.
    void run(const float* in, const float* residual, bool relu, float* out, int batch, int rows, int columns,
             ImageLayout layout = ImageLayout::channels_first, const WinogradInput& before = {}) const;
    // The same with channels last and images of bf16, alone. Throws std::invalid_argument without products of bf16.
    void run(const std::uint16_t* in, std::uint16_t* out, int batch, int rows, int columns) const;

    // Copy images [batch][channels][points] into the layout of blocks, or back, by the instructions of this kernel.
    void to_blocks(const float* images, float* blocks, int batch, int channels, int points) const;
    void from_blocks(const float* blocks, float* images, int batch, int channels, int points) const;

    int inputs() const { return inputs_; }
    int outputs() const { return outputs_; }

    // The instruction sets that this processor can run, the fastest first, of avx512, avx2 and plain: those of the
    // whole build. With `bf16` those that multiply it: avx512_bf16 or none.
    static std::vector<std::string_view> available(bool bf16 = false);

  private:
    void run_call(WinogradCall& whole) const;

    int inputs_, outputs_, kernel_;
    bool bf16_;
    WinogradRun* run_;
    BlockCopy *to_blocks_, *from_blocks_;
    std::vector<WinogradLine> weights_;  // [outputs / 16][36][depth, in bf16 depth / 2]
    std::vector<float> bias_;            // [outputs, padded]
};

// The numbers of an image of so many channels and points in blocks.
constexpr std::size_t block_size(int channels, int points) {
    return static_cast<std::size_t>((channels + kColumns - 1) / kColumns) * kColumns * points;
}

// `weights` [outputs][inputs][kernel][kernel], the gradient of a convolution's weights, of its input and the
// `gradient` of its output, laid out as in `Winograd::run`, with products of `bf16` as there. Runs on the calling
// thread. Throws std::invalid_argument where the processor has no such products.
void winograd_weight_gradient(const float* in, const float* gradient, float* weights, int outputs, int inputs,
                              int kernel, int batch, int rows, int columns, bool channels_last, bool bf16 = false);
// The same of images of bf16 with channels last, with products of bf16.
void winograd_weight_gradient(const std::uint16_t* in, const std::uint16_t* gradient, float* weights, int outputs,
                              int inputs, int kernel, int batch, int rows, int columns);

}  // namespace tengen
