#include "processor/processor.h"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>
#endif

namespace tengen {
namespace {

std::vector<std::string_view> read_flags() {
    std::vector<std::string_view> flags;
#if defined(__x86_64__) || defined(_M_X64)
    struct Leaf {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        Leaf(unsigned leaf, unsigned part) {
            if (!__get_cpuid_count(leaf, part, &eax, &ebx, &ecx, &edx)) eax = ebx = ecx = edx = 0;
        }
    };
    const Leaf first(1, 0), seven(7, 0);
    if (!(first.ecx >> 27 & 1)) return flags;  // the system saves no registers beyond those of SSE
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    // What the system saves of the registers: ymm, then zmm and masks, then tiles.
    const bool ymm = (low & 0x6) == 0x6, zmm = ymm && (low & 0xe0) == 0xe0, tiles = (low & 0x60000) == 0x60000;
    const auto add = [&](std::string_view name, bool there) {
        if (there) flags.push_back(name);
    };
    add("avx2", ymm && seven.ebx >> 5 & 1);
    add("fma", ymm && first.ecx >> 12 & 1);
    add("avx512f", zmm && seven.ebx >> 16 & 1);
    add("avx512dq", zmm && seven.ebx >> 17 & 1);
    add("avx512bw", zmm && seven.ebx >> 30 & 1);
    add("avx_vnni", ymm && seven.eax >= 1 && Leaf(7, 1).eax >> 4 & 1);
    add("avx512_vnni", zmm && seven.ecx >> 11 & 1);
    add("avx512_bf16", zmm && seven.eax >= 1 && Leaf(7, 1).eax >> 5 & 1);
    add("amx_bf16", tiles && seven.edx >> 22 & 1);
    add("amx_int8", tiles && seven.edx >> 25 & 1);
#endif
    return flags;
}

}  // namespace

const std::vector<std::string_view>& processor_flags() {
    static const auto flags = read_flags();
    return flags;
}

bool processor_has(std::span<const std::string_view> flags) {
    const auto& known = processor_flags();
    return std::ranges::all_of(flags, [&](auto flag) { return std::ranges::find(known, flag) != known.end(); });
}

}  // namespace tengen
