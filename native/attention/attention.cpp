#include "attention/attention.h"

#ifdef TENGEN_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

// Attention, compiled for the instructions that it needs.
struct Compiled {
    std::string_view name;
    void (*run)(const AttentionSizes&, const AttentionCall&);
    std::vector<std::string_view> needs;
};

// Linux gives the matrix units to a process that asks.
[[maybe_unused]] bool may_use_tiles() {
#ifdef TENGEN_AMX
    constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

// Those that this processor and system can run, the fastest first.
const std::vector<Compiled>& runnable() {
    static const std::vector<Compiled> found = [] {
        std::vector<Compiled> sets;
#ifdef TENGEN_AMX
        sets.push_back({"amx", amx::run_attention, {"avx512f", "avx512bw", "avx512dq", "avx512_bf16", "amx_bf16"}});
#endif
#ifdef TENGEN_X86
        sets.push_back({"avx512_bf16", avx512_bf16::run_attention, {"avx512f", "avx512bw", "avx512dq", "avx512_bf16"}});
#endif
        std::erase_if(sets, [](const Compiled& set) {
            return !processor_has(set.needs) || (set.name == "amx" && !may_use_tiles());
        });
        return sets;
    }();
    return found;
}

}  // namespace

Attention::Attention(int heads, int key_heads, int query_size, int value_size, std::string_view instructions)
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
    for (const Compiled& set : runnable())
        if (!run_ && (instructions.empty() || set.name == instructions)) run_ = set.run;
    if (!run_ && !instructions.empty())
        throw std::invalid_argument("this processor has no instructions " + std::string(instructions) +
                                    " for products of bf16");
}

std::vector<std::string_view> Attention::available() {
    std::vector<std::string_view> names;
    for (const Compiled& set : runnable()) names.push_back(set.name);
    return names;
}

void Attention::run(AttentionCall call) const {
    if (!run_) throw std::runtime_error("this processor has no products of bf16 (AVX512-BF16 or AMX)");
    std::vector<Line> space(static_cast<std::size_t>(attention_space(sizes_, call.points) / 16 + 1));
    call.space = space[0].at;
    run_(sizes_, call);
}

}  // namespace tengen
