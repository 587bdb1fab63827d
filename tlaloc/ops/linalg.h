// Triangular factors and solves, over leading batch axes.
#pragma once

#include <tuple>

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::ops {

/// The lower triangle of a symmetric positive definite matrix A = L L^T; only A's lower triangle is
/// read, and only it gets a gradient. A matrix that is not positive definite gives NaN in the lower
/// triangle. f16 and bf16 are computed in f32 and rounded at the end.
/// Derivative: I. Murray, "Differentiation of the Cholesky decomposition", 2016, eq. 8.
struct Cholesky {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"cholesky", "The lower L with A = L L^T; NaN if there is none."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose{"it is not a linear function of its operand"};
  static void batch(const Call& c, BatchContext& ctx);
};

/// Operands: A [batch…, n, n] and B [batch…, n, m] (left) or [batch…, m, n] (right). Linear in B.
/// A zero on the diagonal gives infinities or NaN.
struct TriangularSolve {
  using Kind = Custom;
  using Attrs = TriangularAttrs;
  static constexpr OpInfo kInfo{"triangular_solve",
                                "X with op(A) X = B or X op(A) = B, where A is triangular."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
