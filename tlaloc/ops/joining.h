// pad, concatenate, reverse. All linear.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/shape_ops.h"

namespace tlaloc::ops {

struct PadAttrs {
  std::vector<Dim> low, high, interior;
  static constexpr auto fields() {
    return std::tuple(ir::field("low", &PadAttrs::low), ir::field("high", &PadAttrs::high),
                      ir::field("interior", &PadAttrs::interior));
  }
};
/// Operands: x and the value (rank 0). An axis of n elements gets low + n + high +
/// max(n - 1, 0) * interior; low and high may be negative, which crops after the interior padding.
struct Pad {
  using Kind = Custom;
  using Attrs = PadAttrs;
  static constexpr OpInfo kInfo{"pad", "x with a value around and between its elements."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // by nothing
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct ConcatenateAttrs {
  std::int64_t axis = 0;
  static constexpr auto fields() { return std::tuple(ir::field("axis", &ConcatenateAttrs::axis)); }
};
struct Concatenate {
  using Kind = Custom;
  using Attrs = ConcatenateAttrs;
  static constexpr OpInfo kInfo{"concatenate", "The operands one after the other along an axis."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of one operand
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct ReverseAttrs {
  std::vector<std::int64_t> axes;
  static constexpr auto fields() { return std::tuple(ir::field("axes", &ReverseAttrs::axes)); }
};
struct Reverse : LinearUnary {
  using Attrs = ReverseAttrs;
  static constexpr OpInfo kInfo{"reverse", "The elements in opposite order along axes."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of the same reverse; along nothing
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
