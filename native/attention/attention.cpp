#include "attention/attention.h"

#ifdef TENGEN_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "processor/processor.h"

namespace tengen {
namespace {

constexpr int kMaxHeads = 1024, kMaxChannels = 1024;  // beyond those of any network, and sizes of arrays fit in int

struct alignas(64) Line {
    float at[16];
};

}  // namespace

Attention::Attention(int heads, int key_heads, int query_size, int value_size)
    : sizes_{heads, key_heads, query_size, value_size} {
    if (heads > kMaxHeads)
        throw std::invalid_argument(std::to_string(heads) + " heads: choose at most " + std::to_string(kMaxHeads));
    if (key_heads < 1 || heads < 1 || heads % key_heads != 0)
        throw std::invalid_argument(std::to_string(heads) + " heads cannot share " + std::to_string(key_heads) +
                                    " key heads: choose a multiple");
    if (query_size != 32 && query_size != 64)
        throw std::invalid_argument("queries of " + std::to_string(query_size) + " channels: choose 32 or 64");
    if (value_size < 16 || value_size % 16 != 0 || value_size > kMaxChannels)
        throw std::invalid_argument("values of " + std::to_string(value_size) +
                                    " channels: choose a multiple of 16 up to " + std::to_string(kMaxChannels));
}

bool Attention::available() {
#ifdef TENGEN_AMX
    static const bool found = [] {
        const auto& flags = processor_flags();
        const std::string_view needed[] = {"avx512f", "avx512bw", "avx512dq", "avx512_bf16", "amx_bf16"};
        constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
        return std::ranges::all_of(needed, [&](auto flag) { return std::ranges::find(flags, flag) != flags.end(); }) &&
               syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
    }();
    return found;
#else
    return false;
#endif
}

void Attention::run(AttentionCall call) const {
#ifdef TENGEN_AMX
    if (available()) {
        std::vector<Line> space(static_cast<std::size_t>(attention_space(sizes_, call.points) / 16 + 1));
        call.space = space[0].at;
        return amx::run_attention(sizes_, call);
    }
#endif
    throw std::runtime_error("this processor has no matrix units for bf16 (AMX)");
}

}  // namespace tengen
