// Operations on values whose shapes no type tells (Array): the shape rules of rules.h run on the
// sizes at hand. An axis of unknown size in a trace goes with anything and becomes a constraint.
// Errors: those of the rules, with both shapes and the user's line.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::core {

Ref binary_by_shape(BinaryOp op, const Ref& a, const Ref& b, Where where);
Ref select_by_shape(const Ref& p, const Ref& a, const Ref& b, Where where);
Ref matmul_by_shape(const Ref& a, const Ref& b, Where where);

/// Places of the chosen axes and the result's axes.
struct OverAxes {
  rules::Ints over;
  rules::AxisList axes;
};
OverAxes reduce_axes(const Ref& x, AxesSpec selectors, bool keep, Where where);
/// Result axis i is x's axis `over[i]`.
OverAxes transpose_axes(const Ref& x, AxesSpec permutation, Where where);
/// The place of one axis.
int choose_axis(const Ref& x, const AxisSpec& selector, Where where);

}  // namespace tlaloc::core
