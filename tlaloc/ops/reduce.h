// Reductions over axes.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// The reduced axes, strictly increasing; they vanish from the result.
struct ReduceAttrs {
  std::vector<std::int64_t> axes;
  static constexpr auto fields() { return std::tuple(ir::field("axes", &ReduceAttrs::axes)); }
};

/// What reductions share: shapes and batching. The op supplies
///   static constexpr Identity kIdentity;    the padding that changes nothing
///   static bool accepts(DType);
///   full eval, jvp and transpose
struct Reduction : Custom {
  static constexpr bool kBatch = true;
  static void infer_axes(InferContext& c);
  template <class O>
  static void infer(InferContext& c) {
    infer_axes(c);
    if (!O::accepts(c.in[0].dtype())) c.fail(kDTypeError, "does not accept this element type");
  }
  template <class O>
  static void batch(const Call& c, BatchContext& ctx) {
    batch_axes(c, ctx, O::kIdentity);
  }
  static void batch_axes(const Call& c, BatchContext& ctx, ir::Identity identity);
};

struct ReduceSum {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_sum", "Sum over axes; 0 over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::zero;
  static bool accepts(DType t) { return t != DType::boolean && !is_complex(t); }
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    dy[0] = emit_like(c, {dx[0]});
  }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};

/// NaN if any element is NaN. Ties share the tangent equally.
struct ReduceMax {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_max", "Largest over axes; the lowest value over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::lowest;
  static bool accepts(DType t) { return !is_complex(t); }
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct ReduceMin {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_min",
                                "Smallest over axes; the highest value over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::highest;
  static bool accepts(DType t) { return !is_complex(t); }
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};
/// The derivative multiplies what lies before and behind each element, so zeros are exact.
struct ReduceProd {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_prod", "Product over axes; 1 over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::one;
  static bool accepts(DType t) { return ReduceSum::accepts(t); }
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct ReduceOr {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_or", "Bitwise or over axes; 0 over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::zero;
  static bool accepts(DType t) { return t == DType::boolean || is_integer(t); }
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp{"its operand has no tangent"};
  static constexpr Refusal kNoTranspose{"its operand has no tangent"};
};

struct ReduceAnd {
  using Kind = Reduction;
  using Attrs = ReduceAttrs;
  static constexpr OpInfo kInfo{"reduce_and", "Bitwise and over axes; all ones over nothing."};
  static constexpr ir::Identity kIdentity = ir::Identity::all_ones;
  static bool accepts(DType t) { return ReduceOr::accepts(t); }
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp = ReduceOr::kNoJvp;
  static constexpr Refusal kNoTranspose = ReduceOr::kNoTranspose;
};

/// `small` (the operand without `axes`) broadcast back over them.
Val broadcast_over(Val small, Type operand, std::span<const std::int64_t> axes);
/// x with `axes` moved behind the others and made one.
Val merge_axes(Val x, std::span<const std::int64_t> axes);
/// All axes but `axes`, in order.
std::vector<std::int64_t> other_axes(int rank, std::span<const std::int64_t> axes);

}  // namespace tlaloc::ops
