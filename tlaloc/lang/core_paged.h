// The untyped core, continued: keys and values in pages of a shared pool. See ops/paged.h.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

struct PagedAttentionOptions {
  double scale = 0;         ///< 0: 1 / sqrt(width)
  std::int64_t window = 0;  ///< a query sees keys less than that far behind; 0: all
  double soft_cap = 0;      ///< scores become cap tanh(score / cap); 0: they stay
};
Ref paged_attention(const Ref& q, const Ref& keys, const Ref& values, const Ref& positions,
                    const Ref& sequences, const Ref& tables, const PagedAttentionOptions& options,
                    Where where);
Ref paged_store(const Ref& pool, const Ref& rows, const Ref& slots, Where where);

}  // namespace tlaloc::core
