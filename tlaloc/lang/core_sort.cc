#include "tlaloc/lang/core_sort.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::core {

void sort_together(std::span<const Ref> xs, int axis, int keys, std::span<const AxesSpec> axes,
                   std::span<Ref> out, Where where) {
  const OpCall call{"sort_together", where};
  with_place(where, [&] {
    std::vector<std::vector<AxisLabel>> labels;
    for (std::size_t k = 0; k < xs.size(); ++k) {
      for (int i = 0; i < rank(xs[0]); ++i) require_same(call, "TL-SHAPE-001", xs[0], i, xs[k], i);
      labels.push_back(labels_of(axes[k]));
    }
    std::vector<Ref> sorted =
        apply_all(call, xs, std::move(labels),
                  [&](std::span<const ir::Val> in) { return ops::sort(in, axis, keys); });
    std::ranges::move(sorted, out.begin());
  });
}

}  // namespace tlaloc::core
