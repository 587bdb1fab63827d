#include "tlaloc/lang/core_linalg.h"

#include <array>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

using ir::Val;

Ref cholesky(const Ref& x, AxesSpec axes, Where where) {
  return apply({"cholesky", where}, std::array{x}, axes,
               [](std::span<const Val> in) { return ops::cholesky(in[0]); });
}

Ref triangular_solve(const Ref& a, const Ref& b, const TriangularOptions& options, AxesSpec axes,
                     Where where) {
  const OpCall call{"triangular_solve", where};
  return with_place(where, [&] {
    const int n = rank(a);
    for (int i = 0; i < n - 1; ++i) require_same(call, "TL-SHAPE-006", a, i, b, i);
    return apply(call, std::array{a, b}, axes, [&](std::span<const Val> in) {
      return ops::triangular_solve(
          in[0], in[1],
          {.lower = options.lower, .unit = options.unit, .transpose = options.transpose});
    });
  });
}

Ref diag(const Ref& x, AxesSpec axes, Where where) {
  return apply({"diag", where}, std::array{x}, axes, [](std::span<const Val> in) {
    const std::array shape{in[0].dim(0), in[0].dim(0)};
    const Val rows = ops::broadcast_in_dim(in[0], shape, std::array<std::int64_t, 1>{1});
    return ops::triangle(ops::triangle(rows, true), false, false);
  });
}

}  // namespace tlaloc::core
