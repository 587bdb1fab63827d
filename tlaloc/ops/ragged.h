// Sizes that differ between the lanes of a batch: what an op can't do with them.
#pragma once

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

/// Whether `size` differs between lanes: it mentions a ragged one.
inline bool is_ragged(BatchContext& ctx, Dim size) {
  return size.mentions([&](ir::Symbol s) { return static_cast<bool>(ctx.lengths(Dim(s))); });
}

/// UserError TL-VMAP-002 if `size` differs between lanes. `what` completes "lanes need ...".
inline void require_same_in_lanes(BatchContext& ctx, Dim size, const ir::OpDef& op,
                                  const std::string& what) {
  if (!is_ragged(ctx, size)) return;
  throw UserError({"TL-VMAP-002",
                   op.name,
                   "lanes need the same " + what + ", but " + size.to_string() + " differs",
                   "map over inputs of one length, or do this outside of vmap",
                   {}});
}

}  // namespace tlaloc::ops
