// Attention of tokens to keys and values in pages of a shared pool, for serving: prompts, parts of
// them and single tokens of many sequences in one call. Not part of tlaloc.h.
//
//   keys = tl::paged_store(keys, k, slots);  // in place where a jitted call was given the pool
//   values = tl::paged_store(values, v, slots);
//   auto y = tl::paged_attention(q, keys, values, positions, sequences, tables);
#pragma once

#include "tlaloc/lang/core_paged.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

using PagedAttentionOptions = core::PagedAttentionOptions;

/// Of each token, softmax(q kᵀ scale) v over its sequence up to its own place. q: float [tokens,
/// heads, width]; keys: [pages, page, kv heads, width] and values: [pages, page, kv heads, value
/// width] of one type, float, Half or BFloat16; heads is a multiple of kv heads. positions: int
/// [tokens], the place of each token in its sequence, below 0 for padding, whose result is zeros;
/// sequences: int [tokens], its row of `tables`; tables: int [sequences, P], the pages of each
/// sequence in order. Result: float [tokens, heads, value width].
///
/// The token's own key is in the pool already. What it does not see may hold anything. Rows and
/// pages out of range are moved to the nearest. A token has the same bits in whatever company it is
/// computed. There is no derivative (TL-GRAD-003): training uses `attention`.
/// Errors: TL-DTYPE-004, TL-RANK-001, TL-SHAPE-001, TL-ATTR-001 (a window or soft cap below 0).
inline Array paged_attention(const Array& q, const Array& keys, const Array& values,
                             const Array& positions, const Array& sequences, const Array& tables,
                             const PagedAttentionOptions& options = {},
                             Where where = Where::current()) {
  return Array(core::paged_attention(q.ref(), keys.ref(), values.ref(), positions.ref(),
                                     sequences.ref(), tables.ref(), options, where));
}

/// The pool [pages, page, kv heads, width] with rows, float [tokens, kv heads, width], rounded to
/// its type, at slots: int [tokens], page · page size + place in the page. A slot out of range,
/// such as -1, writes nothing; of equal slots the last counts. Errors: TL-DTYPE-004, TL-RANK-001,
/// TL-SHAPE-001.
inline Array paged_store(const Array& pool, const Array& rows, const Array& slots,
                         Where where = Where::current()) {
  return Array(core::paged_store(pool.ref(), rows.ref(), slots.ref(), where));
}

}  // namespace tlaloc
