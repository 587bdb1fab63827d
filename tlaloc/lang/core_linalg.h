// The untyped core, continued: linear algebra over the last two axes; axes in front are a batch.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// The lower L with L Lᵀ = x, from x's lower triangle; NaN where x is not positive definite.
Ref cholesky(const Ref& x, AxesSpec axes, Where where);

struct TriangularOptions {
  bool lower = true;       ///< the triangle of a that is read; the other one is taken as zero
  bool unit = false;       ///< the diagonal is not read and taken as one
  bool transpose = false;  ///< solves aᵀ x = b
};
/// The x with a x = b for a triangular a: [..., n, n] by [..., n, m] -> [..., n, m].
Ref triangular_solve(const Ref& a, const Ref& b, const TriangularOptions& options, AxesSpec axes,
                     Where where);
/// The matrix with a vector on its diagonal and zeros elsewhere.
Ref diag(const Ref& x, AxesSpec axes, Where where);

}  // namespace tlaloc::core
