// Attention of tokens to keys and values that lie in pages of a shared pool, for serving: sequences
// of any lengths in one call, without padding to the longest.
#pragma once

#include <cstdint>

#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

struct PagedParams {
  double scale = 0;         ///< 0: 1 / sqrt(width)
  std::int64_t window = 0;  ///< a query sees keys less than that far behind; 0: all
  double soft_cap = 0;      ///< scores become cap tanh(score / cap); 0: they stay
};
/// Of each token, softmax(q kᵀ scale) v over its sequence up to its own place.
/// q: f32 [tokens, heads, width]; keys: [pages, page, kv heads, width] and values: [pages, page, kv
/// heads, value width] of one type, f32, f16 or bf16, which enter in f32; heads is a multiple of kv
/// heads. positions: i32 [tokens], the place of each token in its sequence; sequences: i32
/// [tokens], its row of `tables`; tables: i32 [sequences, P], the pages of each sequence in order.
/// Result: f32 [tokens, heads, value width].
///
/// A token sees the keys at places 0 to its position, itself included, as far as the window
/// and the P pages reach. Below 0 it is padding, and its result is zeros. What is hidden is not
/// read, or not used: an unused place may hold NaN. Rows and pages out of range are moved to the
/// nearest; the page of a place is what the table says, whatever else lies there. There is no
/// derivative: TL-GRAD-003.
/// UserError TL-DTYPE-004, TL-RANK-001, TL-SHAPE-001, TL-ATTR-001 (a window or soft cap below 0).
Val paged_attention(Val q, Val keys, Val values, Val positions, Val sequences, Val tables,
                    const PagedParams& params);

/// The pool [pages, page, kv heads, width] with rows [tokens, kv heads, width], rounded to its
/// type, at the slots: i32 [tokens], page · page size + place in it. A slot out of range writes
/// nothing; of equal slots the last counts. In place where nobody else holds the pool. Errors as
/// above.
Val paged_store(Val pool, Val rows, Val slots);

}  // namespace tlaloc::ops
