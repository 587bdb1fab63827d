// Ops that make values from nothing.
#pragma once

#include "tlaloc/ir/attr.h"
#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

struct ConstantAttrs {
  ir::Literal value;
  static constexpr auto fields() { return std::tuple(ir::field("value", &ConstantAttrs::value)); }
};
struct IotaAttrs {
  Type type;
  std::int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple(ir::field("type", &IotaAttrs::type), ir::field("axis", &IotaAttrs::axis));
  }
};
struct DimValueAttrs {
  Dim dim;
  static constexpr auto fields() { return std::tuple(ir::field("dim", &DimValueAttrs::dim)); }
};

/// Shared by ops without operands: nothing to differentiate, nothing to map.
struct Nullary {
  static constexpr Refusal kNoJvp{"it has no operands"};
  static constexpr Refusal kNoTranspose{"it has no operands"};
  static constexpr Refusal kNoBatch{"it has no operands"};
  using Kind = Custom;
};

struct Constant : Nullary {
  using Attrs = ConstantAttrs;
  static constexpr OpInfo kInfo{"constant", "A dense array.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
};
struct Iota : Nullary {
  using Attrs = IotaAttrs;
  static constexpr OpInfo kInfo{"iota", "Counts from 0 along an axis.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
};
struct DimValue : Nullary {
  using Attrs = DimValueAttrs;
  static constexpr OpInfo kInfo{"dim_value", "A size as an i64 scalar.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
};

}  // namespace tlaloc::ops
