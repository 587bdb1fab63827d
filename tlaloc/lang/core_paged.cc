#include "tlaloc/lang/core_paged.h"

#include <array>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/paged.h"

namespace tlaloc::core {

Ref paged_attention(const Ref& q, const Ref& keys, const Ref& values, const Ref& positions,
                    const Ref& sequences, const Ref& tables, const PagedAttentionOptions& options,
                    Where where) {
  return apply({"paged_attention", where},
               std::array{q, keys, values, positions, sequences, tables}, AxesSpec{},
               [&](std::span<const ir::Val> in) {
                 return ops::paged_attention(in[0], in[1], in[2], in[3], in[4], in[5],
                                             {options.scale, options.window, options.soft_cap});
               });
}
Ref paged_store(const Ref& pool, const Ref& rows, const Ref& slots, Where where) {
  return apply({"paged_store", where, Variant::of()}, std::array{pool, rows, slots}, AxesSpec{},
               [](std::span<const ir::Val> in) { return ops::paged_store(in[0], in[1], in[2]); });
}

}  // namespace tlaloc::core
