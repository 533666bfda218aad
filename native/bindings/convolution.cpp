// Convolutions by Winograd's algorithm, on arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/thread_state.h"
#include "convolution/chain.h"
#include "convolution/winograd.h"
#include "processor/processor.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {
namespace {

template <class T>
using Images = nb::ndarray<T, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Bias = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool is_bf16(const std::string& precision) {
    if (precision != "f32" && precision != "bf16")
        throw nb::value_error(("precision " + precision + " is unknown: choose f32 or bf16").c_str());
    return precision == "bf16";
}

void make(Winograd* self, const Images<const float>& weights, const Bias& bias, const std::string& precision,
          const std::string& instructions) {
    const auto kernel = weights.shape(2);
    if ((kernel != 3 && kernel != 5) || weights.shape(3) != kernel)
        throw nb::value_error("the kernel must be 3x3 or 5x5");
    if (bias.size() != weights.shape(0)) throw nb::value_error("the bias must have one number an output");
    new (self) Winograd(weights.data(), bias.data(), static_cast<int>(weights.shape(0)),
                        static_cast<int>(weights.shape(1)), static_cast<int>(kernel), is_bf16(precision), instructions);
}

// The dimensions of images [N, channels, rows, columns], or [N, rows, columns, channels] with channels last.
struct Shape {
    int batch, channels, rows, columns;

    template <class T>
    Shape(const Images<T>& array, bool channels_last)
        : batch(static_cast<int>(array.shape(0))),
          channels(static_cast<int>(array.shape(channels_last ? 3 : 1))),
          rows(static_cast<int>(array.shape(channels_last ? 1 : 2))),
          columns(static_cast<int>(array.shape(channels_last ? 2 : 3))) {}

    Shape(int batch, int channels, int rows, int columns)
        : batch(batch), channels(channels), rows(rows), columns(columns) {}

    Shape with(int others) const {
        Shape shape = *this;
        shape.channels = others;
        return shape;
    }
    bool operator==(const Shape&) const = default;
};

template <class A, class B>
bool overlap(const A& a, const B& b) {
    return b.data() < a.data() + a.size() && a.data() < b.data() + b.size();
}

// The shape of the results of a convolution. Throws ValueError for arrays that are not its images of one batch.
template <class A, class B>
Shape shape_of(const Winograd& self, const A& in, const B& out, bool channels_last) {
    const Shape given(in, channels_last), made = given.with(self.outputs());
    if (given.channels != self.inputs() || Shape(out, channels_last) != made)
        throw nb::value_error(("the arrays must have " + std::to_string(self.inputs()) + " inputs and " +
                               std::to_string(self.outputs()) + " outputs of one batch and size")
                                  .c_str());
    return made;
}

void run(const Winograd& self, const Images<const float>& in, const Images<float>& out,
         const std::optional<Images<const float>>& residual, bool relu, bool channels_last,
         const std::optional<Images<const float>>& input_bias, bool input_relu,
         const std::optional<Images<const float>>& input_mask) {
    const Shape given(in, channels_last);
    shape_of(self, in, out, channels_last);
    if (residual) shape_of(self, in, *residual, channels_last);
    WinogradInput before{.relu = input_relu};
    if (input_bias) {
        const auto& bias = *input_bias;
        const auto images = static_cast<int>(bias.shape(0)), channels = static_cast<int>(bias.shape(1));
        if (channels != given.channels || (images != 1 && images != given.batch) || bias.shape(2) * bias.shape(3) != 1)
            throw nb::value_error("the bias of the input must be [1, inputs, 1, 1] or [N, inputs, 1, 1]");
        before.bias = bias.data();
        before.bias_of_image = images > 1;
    }
    if (input_mask) {
        if (Shape(*input_mask, false) != Shape(given).with(1))
            throw nb::value_error("the mask of the input must be [N, 1, rows, columns]");
        before.mask = input_mask->data();
    }
    if (overlap(out, in) || (residual && overlap(out, *residual)) || (input_bias && overlap(out, *input_bias)) ||
        (input_mask && overlap(out, *input_mask)))
        throw nb::value_error("the output may not overlap the other arrays");
    const auto layout = channels_last ? ImageLayout::channels_last : ImageLayout::channels_first;
    const nb::gil_scoped_release release;
    self.run(in.data(), residual ? residual->data() : nullptr, relu, out.data(), given.batch, given.rows, given.columns,
             layout, before);
}

void run_halves(const Winograd& self, const Images<const std::uint16_t>& in, const Images<std::uint16_t>& out) {
    const Shape made = shape_of(self, in, out, true);
    if (overlap(out, in)) throw nb::value_error("the output may not overlap the input");
    const nb::gil_scoped_release release;
    self.run(in.data(), out.data(), made.batch, made.rows, made.columns);
}

void make_chain(ConvolutionChain* self, int given, const std::vector<ConvolutionChain::Step>& steps,
                const std::vector<int>& results) {
    try {
        new (self) ConvolutionChain(given, steps, results);
    } catch (const std::invalid_argument& error) {
        throw nb::value_error(error.what());
    }
}

void run_chain(const ConvolutionChain& self, const std::vector<Images<const float>>& given,
               const std::vector<Images<float>>& results) {
    using Kind = ConvolutionChain::Kind;
    const auto values = self.given();
    if (given.size() != values.size() || static_cast<int>(results.size()) != self.results() || results.empty())
        throw nb::value_error(
            ("the chain takes " + std::to_string(values.size()) + " arrays and gives " + std::to_string(self.results()))
                .c_str());
    const Shape made(results[0], false);
    std::vector<ConvolutionChain::Given> read;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const Shape shape(given[i], false);
        const bool is_bias = values[i].kind == Kind::bias, of_image = is_bias && shape.batch == made.batch;
        const Shape bias(of_image ? made.batch : 1, values[i].channels, 1, 1);
        if (shape != (is_bias ? bias : made.with(values[i].channels)))
            throw nb::value_error(("array " + std::to_string(i) + " of the chain has another shape").c_str());
        read.push_back({given[i].data(), of_image});
    }
    std::vector<float*> to;
    for (int i = 0; i < self.results(); ++i) {
        const auto& result = results[i];
        if (Shape(result, false) != made.with(self.result_channels(i)))
            throw nb::value_error(("result " + std::to_string(i) + " of the chain has another shape").c_str());
        const auto overlaps = [&](const auto& other) { return overlap(result, other); };
        if (std::ranges::any_of(given, overlaps) || std::any_of(results.begin(), results.begin() + i, overlaps))
            throw nb::value_error("a result may not overlap the other arrays");
        to.push_back(result.data());
    }
    keep_thread_state();
    const nb::gil_scoped_release release;
    self.run(read, to, made.batch, made.rows, made.columns);
}

void check_weights(const Shape& given, const Shape& made, const Images<float>& weights) {
    const auto kernel = static_cast<int>(weights.shape(2));
    if ((kernel != 3 && kernel != 5) || static_cast<int>(weights.shape(3)) != kernel ||
        static_cast<int>(weights.shape(0)) != made.channels || static_cast<int>(weights.shape(1)) != given.channels ||
        made != given.with(made.channels))
        throw nb::value_error("the weights must be [outputs, inputs, 3, 3] or 5x5, of images of one batch and size");
}

void weight_gradient(const Images<const float>& in, const Images<const float>& gradient, const Images<float>& weights,
                     bool channels_last, const std::string& precision) {
    const Shape given(in, channels_last), made(gradient, channels_last);
    check_weights(given, made, weights);
    const bool bf16 = is_bf16(precision);
    const nb::gil_scoped_release release;
    winograd_weight_gradient(in.data(), gradient.data(), weights.data(), made.channels, given.channels,
                             static_cast<int>(weights.shape(2)), given.batch, given.rows, given.columns, channels_last,
                             bf16);
}

void weight_gradient_of_halves(const Images<const std::uint16_t>& in, const Images<const std::uint16_t>& gradient,
                               const Images<float>& weights) {
    const Shape given(in, true), made(gradient, true);
    check_weights(given, made, weights);
    const nb::gil_scoped_release release;
    winograd_weight_gradient(in.data(), gradient.data(), weights.data(), made.channels, given.channels,
                             static_cast<int>(weights.shape(2)), given.batch, given.rows, given.columns);
}

}  // namespace
}  // namespace tengen::bindings

void register_convolution(nb::module_& m) {
    using namespace tengen;
    m.def("processor_flags", &processor_flags,
          "Instructions that this processor and its system support, of avx2, fma, avx512f, avx512bw, avx512dq, "
          "avx_vnni, avx512_vnni, avx512_bf16, amx_bf16 and amx_int8; empty on other processors than x86-64.");
    nb::class_<Winograd>(m, "Winograd", "A convolution 3x3 or 5x5 with zero padding, by Winograd's algorithm.")
        .def(
            "__init__", &bindings::make, "weights"_a, "bias"_a, "precision"_a = "f32", "instructions"_a = "",
            "Weights [outputs, inputs, kernel, kernel] and bias [outputs]; with precision bf16 the factors of products "
            "are rounded to bf16: the error has about 1% of the standard deviation of the results with a kernel of 3, "
            "1.3% with one of 5. instructions is one of available(precision), the first unless given. Raises "
            "ValueError for another kernel, for an unknown "
            "precision and for other instructions.")
        .def_static(
            "available", [](const std::string& precision) { return Winograd::available(bindings::is_bf16(precision)); },
            "precision"_a = "f32",
            "Instruction sets that this processor can run for a precision, the fastest first: of avx512, avx2 and "
            "plain, those of the whole build, for f32, avx512_bf16 for bf16.")
        .def_prop_ro("outputs", &Winograd::outputs, "Number of output channels.")
        .def("run", &bindings::run, "input"_a, "output"_a.noconvert(), "residual"_a.none(), "relu"_a,
             "channels_last"_a = false, "input_bias"_a = nb::none(), "input_relu"_a = false,
             "input_mask"_a = nb::none(),
             "Write the result for input [N, inputs, rows, columns] into output [N, outputs, rows, columns]: plus "
             "residual and no less than 0 with relu. With channels_last the arrays are [N, rows, columns, channels]. "
             "The input is read plus input_bias [1 or N, inputs, 1, 1], no less than 0 with input_relu, and times "
             "input_mask [N, 1, rows, columns]. "
             "Runs on the calling thread, without the GIL. Raises ValueError for arrays of "
             "other shapes and for an output that overlaps another array.")
        .def("run_bf16", &bindings::run_halves, "input"_a, "output"_a.noconvert(),
             "The same for numbers of bf16, as uint16 [N, rows, columns, channels]. Raises ValueError as run, and "
             "without products of bf16.");
    using Step = ConvolutionChain::Step;
    nb::class_<Step>(m, "ConvolutionStep", "A convolution of a chain, with the numbers of the values that it reads.")
        .def(
            "__init__",
            [](Step* self, std::shared_ptr<Winograd> kernel, int input, bool relu, bool input_relu,
               std::optional<int> residual, std::optional<int> input_bias, std::optional<int> input_mask) {
                new (self) Step{std::move(kernel), input, residual, input_bias, input_mask, relu, input_relu};
            },
            "kernel"_a, "input"_a, "relu"_a = false, "input_relu"_a = false, "residual"_a = nb::none(),
            "input_bias"_a = nb::none(), "input_mask"_a = nb::none(), "What is read and computed, as in Winograd.run.");
    nb::class_<ConvolutionChain>(m, "ConvolutionChain",
                                 "Convolutions that follow each other, as one call. The values have numbers: first the "
                                 "given ones, then what each step makes.")
        .def("__init__", &bindings::make_chain, "given"_a, "steps"_a, "results"_a,
             "`given` values, the steps in their order, and the numbers of the values that a call gives. Bias and mask "
             "are given values. Raises ValueError for a number of no value that is known before its step, for a value "
             "that is read in two ways, for a given one that no step reads and for a result that is named twice.")
        .def("run", &bindings::run_chain, "given"_a, "results"_a.noconvert(),
             "Write the results [N, outputs, rows, columns]. Runs on the calling thread, without the GIL. Raises "
             "ValueError for arrays of other shapes and for a result that overlaps another array.");
    m.def("winograd_weight_gradient", &bindings::weight_gradient, "input"_a, "gradient"_a, "weights"_a.noconvert(),
          "channels_last"_a = false, "precision"_a = "f32",
          "Write the gradient of a convolution's weights [outputs, inputs, kernel, kernel], for its input [N, inputs, "
          "rows, columns] and the gradient [N, outputs, rows, columns] of its output, which are [N, rows, columns, "
          "channels] with channels_last. Runs on the calling thread, without the GIL. Raises "
          "ValueError for arrays of other shapes.");
    m.def("winograd_weight_gradient_bf16", &bindings::weight_gradient_of_halves, "input"_a, "gradient"_a,
          "weights"_a.noconvert(),
          "The same for numbers of bf16, as uint16 [N, rows, columns, channels], with products of bf16.");
}
