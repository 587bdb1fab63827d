// Random bits: a counter-based generator, the same on every back end.
#pragma once

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// Operands k0, k1, x0, x1 of one shape; results y0, y1.
struct Threefry2x32 {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"threefry2x32",
                                "20 rounds of Threefry on the words (x0, x1) with key (k0, k1).",
                                {.elementwise = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp{"random bits have no tangent"};
  static constexpr Refusal kNoTranspose = kNotLinear;
  static void batch(const Call& c, BatchContext& ctx);
};

/// One evaluation; (x0, x1) is replaced.
void threefry2x32_block(std::uint32_t k0, std::uint32_t k1, std::uint32_t& x0, std::uint32_t& x1);

}  // namespace tlaloc::ops
