// The position of an extreme element.
#pragma once

#include <tuple>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

struct ArgReduceAttrs {
  std::int64_t axis = 0;
  DType dtype = DType::i32;  ///< of the positions
  static constexpr auto fields() {
    return std::tuple(ir::field("axis", &ArgReduceAttrs::axis),
                      ir::field("dtype", &ArgReduceAttrs::dtype));
  }
};
/// The first of equals, the first NaN if there is one. The axis vanishes and must not be empty.
struct ArgReduction {
  using Kind = Custom;
  using Attrs = ArgReduceAttrs;
  static void infer(InferContext& c);
  static constexpr Refusal kNoJvp{"a position has no tangent"};
  static constexpr Refusal kNoTranspose{"a position has no tangent"};
};
struct ArgMax : ArgReduction {
  static constexpr OpInfo kInfo{"argmax", "Position of the largest element along an axis."};
  static void eval(EvalContext& c);
  static void batch(const Call& c, BatchContext& ctx);
};
struct ArgMin : ArgReduction {
  static constexpr OpInfo kInfo{"argmin", "Position of the smallest element along an axis."};
  static void eval(EvalContext& c);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
