#include "tlaloc/lang/core_collectives.h"

#include <array>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::core {
namespace {

ops::MeshAxis mesh(const MeshSpec& over) { return {over.name, ir::Dim(over.devices)}; }
ops::Collective op_of(Collective reduction) {
  switch (reduction) {
    case Collective::max:
      return ops::Collective::max;
    case Collective::min:
      return ops::Collective::min;
    default:
      return ops::Collective::sum;
  }
}

}  // namespace

Ref all_reduce(const Ref& x, Collective reduction, const MeshSpec& over, AxesSpec axes,
               Where where) {
  return apply({"all_reduce", where}, std::array{x}, kept_labels(x, axes),
               [&](std::span<const ir::Val> in) {
                 return ops::all_reduce(in[0], op_of(reduction), mesh(over));
               });
}
Ref all_gather(const Ref& x, int axis, const MeshSpec& over, AxesSpec axes, Where where) {
  return apply({"all_gather", where}, std::array{x}, axes, [&](std::span<const ir::Val> in) {
    return ops::all_gather(in[0], axis, mesh(over));
  });
}
Ref reduce_scatter(const Ref& x, int axis, const MeshSpec& over, AxesSpec axes, Where where) {
  return apply({"reduce_scatter", where}, std::array{x}, axes, [&](std::span<const ir::Val> in) {
    return ops::reduce_scatter(in[0], axis, mesh(over));
  });
}

}  // namespace tlaloc::core
