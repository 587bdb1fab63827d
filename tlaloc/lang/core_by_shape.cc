#include "tlaloc/lang/core_by_shape.h"

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/rules.h"

namespace tlaloc::core {
namespace {

/// The axes as rules take them: an axis whose size is not known yet says nothing.
rules::AxisList axes_of(const Ref& x) {
  rules::AxisList list;
  const int n = rank(x);
  if (n > kMaxRank) {
    throw UserError(
        {"TL-RANK-002", "shape rule", "the rank of " + describe(x) + " is above 12", "", {}});
  }
  for (int i = 0; i < n; ++i) {
    AxisSpec spec = axis(x, i);
    if (spec.size < 0) spec = {.any = true};
    list.list[list.size++] = spec;
  }
  return list;
}

[[noreturn]] void refuse(const rules::Fault& fault, const char* op, const Ref& a, const Ref& b) {
  const rules::Text reason = rules::describe(fault);
  throw UserError({fault.code,
                   op,
                   std::string(reason.chars, static_cast<std::size_t>(reason.size)) + ": " +
                       describe(a) + " and " + describe(b),
                   "",
                   {}});
}

}  // namespace

Ref binary_by_shape(BinaryOp op, const Ref& a, const Ref& b, Where where) {
  return with_place(where, [&] {
    const rules::AxisList x = axes_of(a), y = axes_of(b);
    if (dtype(a) != dtype(b)) {
      throw UserError({"TL-DTYPE-001",
                       "elementwise operation",
                       "dtypes differ: " + describe(a) + " and " + describe(b),
                       "cast one",
                       {}});
    }
    const rules::Broadcast plan = rules::broadcast(x, y);
    if (!plan.ok()) refuse(plan.fault, "elementwise operation", a, b);
    return binary(op, a, plan.axis_of_a, b, plan.axis_of_b, rules::result_axes(plan, x, y), where);
  });
}

}  // namespace tlaloc::core
