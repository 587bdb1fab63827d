// What paged_passes.cc does with blocks of keys, by vectors; internal to cpu.
#pragma once

#include <cstdint>

#include "tlaloc/base/dtype.h"

namespace tlaloc::cpu {

/// Keys meet queries in blocks that begin at multiples of this many places of a sequence, so that
/// what is added up in which order depends on places alone.
inline constexpr std::int64_t kPagedBlock = 64;
/// Rows of a block's arrays are this many elements times a whole number, so that vectors never end
/// within one.
inline constexpr std::int64_t kPagedVector = 16;

/// Queries, each with what it has found so far: a softmax of the keys up to now.
struct PagedRows {
  std::int64_t count = 0;
  const float* const* q = nullptr;
  /// Query r sees the keys [low[r], high[r]) of the block, at least one. Neither falls from row to
  /// row.
  const std::int64_t *low = nullptr, *high = nullptr;
  float *max = nullptr, *sum = nullptr;  ///< of the scores; of exp(score - max)
  float* values = nullptr;               ///< sums of values, weighted by exp(score - max)
  std::int64_t stride = 0;               ///< of values, from row to row
};

struct PagedBlock {
  std::int64_t width = 0;
  const float* keys = nullptr;           ///< [width, kPagedBlock]
  std::int64_t columns = 0;              ///< of values, filled up to whole vectors
  const float* const* values = nullptr;  ///< by key
  float scale = 1, soft_cap = 0;
  float* scores = nullptr;   ///< to work in: [rows, kPagedBlock]
  float* factors = nullptr;  ///< to work in: as many as rows, filled up to whole vectors
};

struct PagedKernels {
  /// Has bytes read into the second-level cache while other work goes on.
  void (*fetch)(const std::byte* x, std::int64_t bytes);
  /// Rows `low` to `high` - 1 of n elements of a floating type as f32, `row` elements apart, with
  /// zeros behind them up to `filled`.
  void (*widen)(DType from, const std::byte* const* rows, std::int64_t low, std::int64_t high,
                std::int64_t n, float* out, std::int64_t row, std::int64_t filled);
  /// The same rows as columns of [width, kPagedBlock]; other columns have any numbers, but all
  /// kPagedBlock rows are there.
  void (*transpose)(DType from, const std::byte* const* rows, std::int64_t low, std::int64_t high,
                    std::int64_t width, float* out);
  /// Lets queries see the keys of a block, behind those before.
  void (*add)(const PagedBlock& block, const PagedRows& rows);
  /// The same with what `other` has found elsewhere; `q`, `low` and `high` are not read.
  void (*merge)(const PagedRows& rows, const PagedRows& other, std::int64_t columns);
  /// out = values / sum of one query; zeros where it has seen nothing.
  void (*finish)(const float* values, float sum, std::int64_t n, float* out);
};

/// The set for the CPU this runs on.
const PagedKernels& paged_kernels();

}  // namespace tlaloc::cpu
