// Reductions over windows, and what the gradient of max pooling is made of.
#pragma once

#include <array>
#include <tuple>

#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/window.h"

namespace tlaloc::ops {

constexpr std::array<std::string_view, 6> enum_names(Monoid) {
  return {"sum", "prod", "max", "min", "all", "any"};
}
struct ReduceWindowAttrs {
  Monoid monoid = Monoid::sum;
  Window window;
  static constexpr auto fields() {
    return std::tuple(ir::field("monoid", &ReduceWindowAttrs::monoid),
                      ir::field("window", &ReduceWindowAttrs::window));
  }
};
/// A window without elements gives the identity. NaN wins max and min. f16 and bf16 accumulate in
/// f32 and round once. Linear if the monoid is sum.
struct ReduceWindow {
  using Kind = Custom;
  using Attrs = ReduceWindowAttrs;
  static constexpr OpInfo kInfo{"reduce_window", "Reduces the elements of each window."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct SelectWindowAttrs {
  bool largest = true;
  Window window;
  static constexpr auto fields() {
    return std::tuple(ir::field("largest", &SelectWindowAttrs::largest),
                      ir::field("window", &SelectWindowAttrs::window));
  }
};
/// What both share: the winner of a window is its largest (or smallest) element, the first in
/// row-major order; with NaN, the last NaN. A window without elements has none.
struct SelectWindow {
  using Kind = Custom;
  using Attrs = SelectWindowAttrs;
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
};
/// Operands: values and x, of one shape. Linear in the values; the derivative by x is zero.
struct SelectAndGather : SelectWindow {
  static constexpr OpInfo kInfo{"select_and_gather",
                                "Per window, the value where x wins; 0 where nothing does."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};
/// Operands: one value per window, and x. The transpose of select_and_gather.
struct SelectAndScatter : SelectWindow {
  static constexpr OpInfo kInfo{"select_and_scatter",
                                "Adds each window's value where x wins, to zeros of x's shape."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};

}  // namespace tlaloc::ops
