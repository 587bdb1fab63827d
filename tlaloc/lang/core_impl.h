// Shared by the files that implement core*.h.
#pragma once

#include <utility>
#include <vector>

#include "tlaloc/ir/builder.h"
#include "tlaloc/lang/apply.h"

namespace tlaloc::core {

/// The row of the op table; InternalError when there is none.
const ir::OpDef& row(const char* name);

/// The operation as errors name it.
const char* name_of(BinaryOp op);

/// The size of axis i of a result: its type's, else that of an operand of `size_like` with an axis
/// of that name, or, for an axis without a name, of the result's rank. UserError TL-SHAPE-009.
ir::Dim size_of_axis(const OpCall& call, AxesSpec axes, int i, std::span<const Ref> size_like);

/// The labels of a result whose axes are x's: `axes`, or where it is empty x's own.
inline std::vector<AxisLabel> kept_labels(const Ref& x, AxesSpec axes) {
  return axes.empty() ? node(x).labels : labels_of(axes);
}

/// v in `shape`: axis i becomes axis_of_v[i]; -1 marks a literal 1 that stretches.
ir::Val broadcast_val(ir::Val v, std::span<const int> axis_of_v, std::span<const ir::Dim> shape);

/// Extents of a typed tensor with `count` elements: from `sizes`, else from the type; one is
/// inferred. UserError TL-SHAPE-002, TL-SHAPE-005, TL-SIZE-001, TL-BOUND-001.
Extents extents_of(AxesSpec axes, std::span<const std::int64_t> sizes, std::int64_t count,
                   DType dtype, Where where);

struct WindowSpec;
/// Zeros before and behind an axis of `size` elements.
std::pair<ir::Dim, ir::Dim> window_padding(const WindowSpec& w, ir::Dim size, ir::Dim window);

}  // namespace tlaloc::core
