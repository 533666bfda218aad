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

void run(const Winograd& self, const Images<const float>& in, const Images<float>& out,
         const std::optional<Images<const float>>& residual, bool relu) {
    const auto fits = [&](const auto& array, int channels) {
        return array.shape(0) == in.shape(0) && static_cast<int>(array.shape(1)) == channels &&
               array.shape(2) == in.shape(2) && array.shape(3) == in.shape(3);
    };
    if (!fits(in, self.inputs()) || !fits(out, self.outputs()) || (residual && !fits(*residual, self.outputs())))
        throw nb::value_error(("the arrays must have " + std::to_string(self.inputs()) + " inputs and " +
                               std::to_string(self.outputs()) + " outputs of one batch and size")
                                  .c_str());
    const nb::gil_scoped_release release;
    self.run(in.data(), residual ? residual->data() : nullptr, relu, out.data(), static_cast<int>(in.shape(0)),
             static_cast<int>(in.shape(2)), static_cast<int>(in.shape(3)));
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
        .def("run", &bindings::run, "input"_a, "output"_a, "residual"_a.none(), "relu"_a,
             "Write the result for input [N, inputs, rows, columns] into output [N, outputs, rows, columns]: plus "
             "residual, which may be output itself, and no less than 0 with relu. Runs on the calling thread, without "
             "the GIL. Raises ValueError for arrays of other shapes.");
}
