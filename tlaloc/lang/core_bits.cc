#include "tlaloc/lang/core_bits.h"

#include <array>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

using ir::Val;

Ref bitcast_convert(const Ref& x, DType dtype, AxesSpec axes, Where where) {
  return apply({"bitcast_convert", where}, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::bitcast_convert(in[0], dtype); });
}

Ref reduce_precision(const Ref& x, int exponent_bits, int mantissa_bits, AxesSpec axes,
                     Where where) {
  return apply({"reduce_precision", where}, std::array{x}, axes, [&](std::span<const Val> in) {
    return ops::reduce_precision(in[0], exponent_bits, mantissa_bits);
  });
}

Ref optimization_barrier(const Ref& x, AxesSpec axes, Where where) {
  return apply({"optimization_barrier", where}, std::array{x}, axes,
               [](std::span<const Val> in) { return ops::optimization_barrier(in[0]); });
}

}  // namespace tlaloc::core
