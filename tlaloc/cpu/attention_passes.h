// The passes of attention over blocks of scores; internal to cpu. See attention.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// What an array is to attention.
enum class AttentionArray : std::uint8_t {
  q,
  k,
  v,
  mask,
  out,
  lse,  ///< logarithm of the sum of exp(score) by query
  d_out,
  dq,
  dk,
  dv,
  d_mask,
};
inline constexpr std::size_t kAttentionArrays = 11;

/// A step's data. Its integers: the sizes of queries, keys, width, width of values and the number
/// of heads of k and v (1 without heads); those of the batch axes; then for each array its offset,
/// and its strides along the batch axes, rows and columns. What is written has columns that are
/// neighbours and rows without gaps.
struct Attention {
  bool causal = false, boolean_mask = false;
  std::int64_t window = 0;
  double scale = 0;  ///< 0: 1 / sqrt(width)
  double soft_cap = 0;
  std::size_t batch = 0;                     ///< axes in front of queries, with q's heads last
  std::int8_t array[kAttentionArrays] = {};  ///< of the step's; -1: none
};

/// What a step asks for.
std::size_t attention_scratch_bytes();

// KernelFns; `data` is an Attention.
void run_attention(const KernelCall& call);
void run_attention_backward(const KernelCall& call);

}  // namespace tlaloc::cpu
