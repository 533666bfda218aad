// What the processor of this machine can do, asked when the program runs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tengen {

// Instructions beyond the x86-64 of every processor that both the processor and the system support, of avx2, fma,
// avx512f, avx512bw, avx512dq, avx_vnni, avx512_vnni, avx512_bf16, amx_bf16 and amx_int8, by the names of Linux; empty
// on other architectures.
const std::vector<std::string_view>& processor_flags();

// Whether all of these are among them.
bool processor_has(std::span<const std::string_view> flags);

}  // namespace tengen
