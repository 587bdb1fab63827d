// Contiguous and strided windows: slice, dynamic_slice, dynamic_update_slice.
//
// The dynamic ops take their starts as integer operands, one for each axis behind the first
// `batch_axes`. The batch axes are shared by all operands: each start has their shape, so that lane
// b reads its own window. Batching a rank-0 start therefore stays one op.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/shape_ops.h"

namespace tlaloc::ops {

struct SliceAttrs {
  std::vector<Dim> start, limit, strides;
  static constexpr auto fields() {
    return std::tuple(ir::field("start", &SliceAttrs::start),
                      ir::field("limit", &SliceAttrs::limit),
                      ir::field("strides", &SliceAttrs::strides));
  }
};
struct Slice : LinearUnary {
  using Attrs = SliceAttrs;
  static constexpr OpInfo kInfo{
      "slice", "Elements start, start + stride, … below limit, per axis.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of everything
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct DynamicSliceAttrs {
  std::vector<Dim> sizes;       ///< one per axis behind the batch axes
  std::int64_t batch_axes = 0;  ///< leading axes with a start each
  static constexpr auto fields() {
    return std::tuple(ir::field("sizes", &DynamicSliceAttrs::sizes),
                      ir::field("batch_axes", &DynamicSliceAttrs::batch_axes));
  }
};
/// Operands: x, then one integer start per axis behind the batch axes.
struct DynamicSlice {
  using Kind = Custom;
  using Attrs = DynamicSliceAttrs;
  static constexpr OpInfo kInfo{"dynamic_slice",
                                "A window; starts are clamped so that it fits, per batch index.",
                                {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of everything
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct DynamicUpdateSliceAttrs {
  std::int64_t batch_axes = 0;
  static constexpr auto fields() {
    return std::tuple(ir::field("batch_axes", &DynamicUpdateSliceAttrs::batch_axes));
  }
};
/// Operands: x, update, then the starts. In place where nobody else holds x.
struct DynamicUpdateSlice {
  using Kind = Custom;
  using Attrs = DynamicUpdateSliceAttrs;
  static constexpr OpInfo kInfo{"dynamic_update_slice",
                                "x with a window replaced; starts are clamped so that it fits.",
                                {.updates = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of everything
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
