// Convolutions by Winograd's algorithm, on arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "convolution/winograd.h"
#include "processor/processor.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {
namespace {

template <class T>
using Images = nb::ndarray<T, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Bias = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make(Winograd* self, const Images<const float>& weights, const Bias& bias, const std::string& instructions) {
    const auto kernel = weights.shape(2);
    if ((kernel != 3 && kernel != 5) || weights.shape(3) != kernel)
        throw nb::value_error("the kernel must be 3x3 or 5x5");
    if (bias.size() != weights.shape(0)) throw nb::value_error("the bias must have one number an output");
    new (self) Winograd(weights.data(), bias.data(), static_cast<int>(weights.shape(0)),
                        static_cast<int>(weights.shape(1)), static_cast<int>(kernel), instructions);
}

/// The dimensions of images [N, channels, rows, columns], or [N, rows, columns, channels] with channels last.
struct Shape {
    int batch, channels, rows, columns;

    template <class T>
    Shape(const Images<T>& array, bool channels_last)
        : batch(static_cast<int>(array.shape(0))),
          channels(static_cast<int>(array.shape(channels_last ? 3 : 1))),
          rows(static_cast<int>(array.shape(channels_last ? 1 : 2))),
          columns(static_cast<int>(array.shape(channels_last ? 2 : 3))) {}

    Shape with(int others) const {
        Shape shape = *this;
        shape.channels = others;
        return shape;
    }
    bool operator==(const Shape&) const = default;
};

void run(const Winograd& self, const Images<const float>& in, const Images<float>& out,
         const std::optional<Images<const float>>& residual, bool relu, bool channels_last) {
    const Shape given(in, channels_last), made = given.with(self.outputs());
    if (given.channels != self.inputs() || Shape(out, channels_last) != made ||
        (residual && Shape(*residual, channels_last) != made))
        throw nb::value_error(("the arrays must have " + std::to_string(self.inputs()) + " inputs and " +
                               std::to_string(self.outputs()) + " outputs of one batch and size")
                                  .c_str());
    const nb::gil_scoped_release release;
    self.run(in.data(), residual ? residual->data() : nullptr, relu, out.data(), given.batch, given.rows, given.columns,
             channels_last);
}

void weight_gradient(const Images<const float>& in, const Images<const float>& gradient, const Images<float>& weights,
                     bool channels_last) {
    const Shape given(in, channels_last), made(gradient, channels_last);
    const auto kernel = static_cast<int>(weights.shape(2));
    if ((kernel != 3 && kernel != 5) || static_cast<int>(weights.shape(3)) != kernel ||
        static_cast<int>(weights.shape(0)) != made.channels || static_cast<int>(weights.shape(1)) != given.channels ||
        made != given.with(made.channels))
        throw nb::value_error("the weights must be [outputs, inputs, 3, 3] or 5x5, of images of one batch and size");
    const nb::gil_scoped_release release;
    winograd_weight_gradient(in.data(), gradient.data(), weights.data(), made.channels, given.channels, kernel,
                             given.batch, given.rows, given.columns, channels_last);
}

}  // namespace
}  // namespace tengen::bindings

void register_convolution(nb::module_& m) {
    using namespace tengen;
    m.def("processor_flags", &processor_flags,
          "Instructions that this processor and its system support, of avx2, fma, avx512f, avx_vnni, avx512_vnni and "
          "amx_int8; empty on other processors than x86-64.");
    nb::class_<Winograd>(m, "Winograd",
                         "A convolution 3x3 or 5x5 with zero padding in float32, by Winograd's algorithm.")
        .def("__init__", &bindings::make, "weights"_a, "bias"_a, "instructions"_a = "",
             "Weights [outputs, inputs, kernel, kernel] and bias [outputs]; instructions is one of available(), the "
             "first unless given. Raises ValueError for another kernel and for other instructions.")
        .def_static("available", &Winograd::available,
                    "Instruction sets that this processor can run, the fastest first, of avx512, avx2 and plain: those "
                    "of the whole build.")
        .def_prop_ro("outputs", &Winograd::outputs, "Number of output channels.")
        .def("run", &bindings::run, "input"_a, "output"_a, "residual"_a.none(), "relu"_a, "channels_last"_a = false,
             "Write the result for input [N, inputs, rows, columns] into output [N, outputs, rows, columns]: plus "
             "residual, which may be output itself, and no less than 0 with relu. With channels_last the arrays are "
             "[N, rows, columns, channels]. Runs on the calling thread, without the GIL. Raises ValueError for arrays "
             "of other shapes.");
    m.def("winograd_weight_gradient", &bindings::weight_gradient, "input"_a, "gradient"_a, "weights"_a,
          "channels_last"_a = false,
          "Write the gradient of a convolution's weights [outputs, inputs, kernel, kernel], for its input [N, inputs, "
          "rows, columns] and the gradient [N, outputs, rows, columns] of its output, which are [N, rows, columns, "
          "channels] with channels_last. Runs on the calling thread, without the GIL. Raises ValueError for arrays of "
          "other shapes.");
}
