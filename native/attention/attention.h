// Attention layers of networks, in bf16 on processors with matrix units (AMX).
#pragma once

#include "attention/attention_run.h"

namespace tengen {

/// An attention layer of some heads, each with its queries and with the keys and values of a key head: queries and keys
/// are turned by angles of their point (RoFormer, Su et al. 2021, section 3.4.2), products of query and key become
/// weights by softmax, and the result is the mean of the values by these weights.
class Attention {
  public:
    static constexpr int kMaxPoints = 25 * 25;

    /// Heads that follow each other share a key head. Throws std::invalid_argument where `heads` is above 1024 or no
    /// multiple of `key_heads`, `query_size` is not 32 or 64, or `value_size` is no multiple of 16 up to 1024.
    Attention(int heads, int key_heads, int query_size, int value_size);

    /// Whether this processor and system have matrix units for bf16.
    static bool available();

    const AttentionSizes& sizes() const { return sizes_; }

    /// For up to `kMaxPoints`. Throws std::runtime_error where it is not available.
    void run(AttentionCall call) const;

  private:
    AttentionSizes sizes_;
};

}  // namespace tengen
