// The untyped core, continued: several values of one shape, sorted, folded and reduced in windows
// by functions on their elements.
#pragma once

#include "tlaloc/lang/trace.h"

namespace tlaloc {

/// A window along one axis.
struct Window {
  int size = 1;
  int stride = 1;
  int low = 0, high = 0;  ///< padding before and behind; negative crops
  int dilation = 1;       ///< of the window: the distance of its elements
  int base_dilation = 1;  ///< of the tensor: the distance of its elements after gaps are put in
  bool same = false;      ///< padding that gives ceil(size / stride), more behind than before
};

namespace core {

// `xs` have one shape: UserError TL-SHAPE-001. A function sees elements: `elements` are the leaves
// of its arguments. UserError TL-REGION-001 when it is not made of elementwise operations, or reads
// a traced value.

/// xs, sorted along an axis by the first `keys` of them; stable, ascending, NaN counts as the
/// largest.
Leaves sort_together(const Leaves& xs, int axis, int keys, Where where);
/// xs, sorted along an axis. `before`: a…, b… -> whether a comes first. Stable.
Leaves sort_by(const Function& before, const Leaves& elements, const Leaves& xs, int axis,
               Where where);
/// acc… = f(acc…, x…) from `init` (rank 0) over the axes `over`, in row-major order.
Leaves fold(const Function& f, const Leaves& elements, const Leaves& init, const Leaves& xs,
            std::span<const int> over, Where where);
/// The same over each window; `init` is also what padding and gaps hold. One window per axis.
Leaves fold_windows(const Function& f, const Leaves& elements, const Leaves& init, const Leaves& xs,
                    std::span<const Window> windows, Where where);

}  // namespace core
}  // namespace tlaloc
