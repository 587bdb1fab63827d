// What attention.cc does with blocks of scores, by vectors; internal to cpu.
#pragma once

#include <cstdint>

namespace tlaloc::cpu {

/// Rows of a block are this many elements times a whole number, so that vectors never end within
/// one.
inline constexpr std::int64_t kScoreVector = 16;

/// A block of scores: `rows` of them, `stride` elements apart, with `columns` that count.
struct ScoreBlock {
  float* scores = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;
};
struct Masking {
  float scale = 1, soft_cap = 0;
  float* tanh = nullptr;  ///< of the scores over the soft cap, laid out like them; null: not wanted
  std::int64_t low = 0, high = 0;  ///< row r sees columns in [low + r, high + r)
  // At most one of them, null: none.
  const bool* keep = nullptr;
  const float* bias = nullptr;
  std::int64_t mask_row = 0, mask_column = 0;  ///< strides of it
};

struct AttentionKernels {
  /// Scales, bends and masks products; what is hidden, and columns that don't count, become
  /// -infinity.
  void (*mask)(const ScoreBlock& b, const Masking& m);
  /// Scores become exp(score - max), by row the max of these and of those before. `sums` are of
  /// what is relative to that max; `factors` are what brings results up to now to it.
  void (*softmax)(const ScoreBlock& b, float* max, float* sums, float* factors);
  /// Scores become exp(score - shift), by row.
  void (*exp)(const ScoreBlock& b, const float* shifts);
  /// Gradients of the results of exp (p), in `b`, become those of the masked scores: p (b - delta),
  /// which go to `masked` too, `masked_row` elements from row to row, unless it is null; then, with
  /// the tanh of mask unless it is null, those of the products.
  void (*gradient)(const ScoreBlock& b, const float* p, const float* delta, const Masking& m,
                   float* masked, std::int64_t masked_row);
  /// x[r][c] *= factors[r], or /= them.
  void (*multiply)(float* x, std::int64_t rows, std::int64_t columns, std::int64_t row,
                   const float* factors);
  void (*divide)(float* x, std::int64_t rows, std::int64_t columns, std::int64_t row,
                 const float* divisors);
  /// The sum of n products; the elements lie `x_step` and `y_step` apart.
  float (*dot)(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step,
               std::int64_t n);
  /// Whether all of n elements, `step` apart, are numbers from `low` up, and not infinity.
  bool (*is_bounded)(const float* x, std::int64_t step, std::int64_t n, float low);
};

/// The set for the CPU this runs on.
const AttentionKernels& attention_kernels();

}  // namespace tlaloc::cpu
