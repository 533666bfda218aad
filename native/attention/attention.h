// Attention layers of networks, in bf16 on processors that multiply it (AMX, AVX512-BF16).
#pragma once

#include <string_view>
#include <vector>

#include "attention/attention_run.h"

namespace tengen {

// An attention layer of some heads, each with its queries and with the keys and values of a key head: queries and keys
// are turned by angles of their point (RoFormer, Su et al. 2021, section 3.4.2), products of query and key become
// weights by softmax, and the result is the mean of the values by these weights.
class Attention {
  public:
    static constexpr int kMaxPoints = 25 * 25;

    // Heads that follow each other share a key head. `instructions` names one of `available()`; the fastest unless
    // given. Throws std::invalid_argument where `heads` is above 1024 or no multiple of `key_heads`, `query_size` is
    // not 32 or 64, `value_size` is no multiple of 16 up to 1024, or the processor has no such instructions.
    Attention(int heads, int key_heads, int query_size, int value_size, std::string_view instructions = {});

    // The instructions of this processor and system for it, the fastest first: amx, avx512_bf16.
    static std::vector<std::string_view> available();

    const AttentionSizes& sizes() const { return sizes_; }

    // For up to `kMaxPoints`. Throws std::runtime_error where it is not available.
    void run(AttentionCall call) const;

  private:
    AttentionSizes sizes_;
    void (*run_)(const AttentionSizes&, const AttentionCall&) = nullptr;
};

}  // namespace tengen
