// The transforms of Winograd's algorithm along a line of six points.
//
// A part of winograd_run.cpp alone: its functions are of one instruction set, and of that file.
#pragma once

#include "convolution/winograd_vectors.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

// The interpolation points are 0, +-kNear, +-kFar and infinity: of the small ones, those with the least error in
// bf16, some 1% of a result where 1 and 2 have 2.1% (Barabasz et al., "Error analysis and improving the accuracy of
// Winograd convolution for deep neural networks", 2020, choose points so). Their product is 1.
constexpr float kNear = static_cast<float>(kWinogradNear), kFar = static_cast<float>(kWinogradFar);
constexpr float kNear2 = kNear * kNear, kFar2 = kFar * kFar, kBoth2 = kNear2 + kFar2;

// Transform of six input points of a line, `step` apart, into `to`.
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

// Transform of six products of a line into `Out` (4 or 2) results.
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

// The reverse of `transform_output`, as gradients go: `Out` results of a line to six products.
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

}  // namespace
}  // namespace tengen::TENGEN_INSTRUCTIONS
