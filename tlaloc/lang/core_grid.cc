#include "tlaloc/lang/core_grid.h"

#include <array>
#include <vector>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

Ref meshgrid(std::span<const Ref> vectors, int i, AxesSpec axes, Where where) {
  return apply({"meshgrid", where}, vectors, axes, [&](std::span<const ir::Val> in) {
    std::vector<ir::Dim> shape;
    for (const ir::Val v : in) shape.push_back(v.dim(0));
    return ops::broadcast_in_dim(in[static_cast<std::size_t>(i)], shape,
                                 std::array<std::int64_t, 1>{i});
  });
}

}  // namespace tlaloc::core
