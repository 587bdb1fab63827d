// Attention to pages by parts for the gang; internal to cpu. See paged.h.
#pragma once

#include "tlaloc/base/dtype.h"
#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// A step's data. Its storages: q, keys, values, positions, sequences, tables, the result. Its
/// integers are a PagedSizes; all but the pools are dense.
struct Paged {
  DType pool = DType::f32;
  double scale = 0;  ///< 0: 1 / sqrt(width)
  std::int64_t window = 0;
  double soft_cap = 0;
};
/// Where a pool's elements lie; those of a row are neighbours.
struct PagedPool {
  std::int64_t offset, page, place, head;
};
struct PagedSizes {
  std::int64_t tokens, heads, width, value_width, kv_heads, pages, page, sequences, columns;
  PagedPool keys, values;
};
inline constexpr std::size_t kPagedSizes = sizeof(PagedSizes) / sizeof(std::int64_t);

/// A KernelFn.
void run_paged_attention(const KernelCall& call);

}  // namespace tlaloc::cpu
