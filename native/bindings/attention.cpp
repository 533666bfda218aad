// Attention layers, on arrays that Python owns.
#include "attention/attention.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bindings/thread_state.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tengen::bindings {
namespace {

using Given = nb::ndarray<const std::uint16_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Made = nb::ndarray<std::uint16_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Bias = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Angles = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void make(Attention* self, int heads, int key_heads, int query_size, int value_size, std::string_view instructions) {
    try {
        new (self) Attention(heads, key_heads, query_size, value_size, instructions);
    } catch (const std::invalid_argument& error) {
        throw nb::value_error(error.what());
    }
}

template <class T>
void check_points(const T& array, const Made& out, int channels, const char* name) {
    if (array.shape(0) != out.shape(0) || array.shape(1) != out.shape(1) ||
        array.shape(2) != static_cast<std::size_t>(channels))
        throw nb::value_error((std::string(name) + " must be [N, points, " + std::to_string(channels) + "]").c_str());
}

AttentionRotation rotation(const std::optional<Angles>& cosine, const std::optional<Angles>& sine, int heads,
                           std::size_t points, int size) {
    if (!cosine && !sine) return {};
    const auto wanted = static_cast<std::size_t>(heads), given = cosine ? cosine->shape(0) : 0;
    for (const auto& each : {cosine, sine})
        if (!each || (given != 1 && given != wanted) || each->shape(0) != given || each->shape(1) != points ||
            each->shape(2) != static_cast<std::size_t>(size))
            throw nb::value_error(
                ("cosine and sine must be [1 or " + std::to_string(heads) + ", points, " + std::to_string(size) + "]")
                    .c_str());
    return {cosine->data(), sine->data(), given > 1};
}

void run(const Attention& self, const Given& query, const Given& key, const Given& value, const Bias& bias,
         const Made& out, const std::optional<Angles>& query_cosine, const std::optional<Angles>& query_sine,
         const std::optional<Angles>& key_cosine, const std::optional<Angles>& key_sine) {
    const AttentionSizes& sizes = self.sizes();
    check_points(query, out, sizes.heads * sizes.query_size, "query");
    check_points(key, out, sizes.key_heads * sizes.query_size, "key");
    check_points(value, out, sizes.key_heads * sizes.value_size, "value");
    check_points(out, out, sizes.heads * sizes.value_size, "the output");
    if (bias.shape(0) != out.shape(0) || bias.shape(1) != out.shape(1))
        throw nb::value_error("bias must be [N, points]");
    if (out.shape(1) > Attention::kMaxPoints || out.shape(0) > 65536)
        throw nb::value_error(
            ("choose at most " + std::to_string(Attention::kMaxPoints) + " points and 65536 rows").c_str());
    AttentionCall call{};
    call.batch = static_cast<int>(out.shape(0));
    call.points = static_cast<int>(out.shape(1));
    call.query = query.data();
    call.key = key.data();
    call.value = value.data();
    call.bias = bias.data();
    call.query_rotation = rotation(query_cosine, query_sine, sizes.heads, out.shape(1), sizes.query_size);
    call.key_rotation = rotation(key_cosine, key_sine, sizes.key_heads, out.shape(1), sizes.query_size);
    call.out = out.data();
    keep_thread_state();
    const nb::gil_scoped_release release;
    self.run(call);
}

}  // namespace
}  // namespace tengen::bindings

void register_attention(nb::module_& m) {
    using namespace tengen;
    nb::class_<Attention>(m, "Attention", "An attention layer in bf16, by vectors or matrix units (AMX).")
        .def("__init__", &bindings::make, "heads"_a, "key_heads"_a, "query_size"_a, "value_size"_a,
             "instructions"_a = "",
             "Heads that follow each other share a key head; sizes are channels of a head. `instructions` names one of "
             "available(); the fastest unless given. Raises ValueError for heads above 1024 or that are no multiple of "
             "the key heads, a query_size other than 32 and 64, a value_size that is no multiple of 16 up to 1024 and "
             "instructions that the processor has not.")
        .def_prop_ro(
            "heads", [](const Attention& self) { return self.sizes().heads; }, "Number of heads.")
        .def_prop_ro(
            "value_size", [](const Attention& self) { return self.sizes().value_size; }, "Channels of a value.")
        .def_static("available", &Attention::available,
                    "The instructions of this processor and system for it, the fastest first: amx, avx512_bf16.")
        .def("run", &bindings::run, "query"_a, "key"_a, "value"_a, "bias"_a, "output"_a.noconvert(),
             "query_cosine"_a = nb::none(), "query_sine"_a = nb::none(), "key_cosine"_a = nb::none(),
             "key_sine"_a = nb::none(),
             "Write the means of values by softmax(query . key + bias) into output [N, points, heads * value_size], "
             "for query [N, points, heads * query_size], key and value [N, points, key_heads * size] and bias [N, "
             "points] of each key. Numbers are bf16 as uint16, those of bias floats. Channels c and c + query_size / 2 "
             "of a head are turned by the angles of cosine and sine [1 or heads, points, query_size]. Runs on the "
             "calling thread, without the GIL. Raises ValueError for arrays of other shapes, RuntimeError without "
             "products of bf16.");
}
