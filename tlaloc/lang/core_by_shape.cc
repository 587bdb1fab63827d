#include "tlaloc/lang/core_by_shape.h"

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/rules_contract.h"
#include "tlaloc/lang/rules_layout.h"

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

[[noreturn]] void refuse(const rules::Fault& fault, const char* op, const std::string& shapes) {
  const rules::Text reason = rules::describe(fault);
  throw UserError({fault.code,
                   op,
                   std::string(reason.chars, static_cast<std::size_t>(reason.size)) + ": " + shapes,
                   "",
                   {}});
}

}  // namespace

Ref binary_by_shape(BinaryOp op, const Ref& a, const Ref& b, Where where) {
  return with_place(where, [&] {
    const rules::AxisList x = axes_of(a), y = axes_of(b);
    const char* name = name_of(op);
    const std::string shapes = describe(a) + " and " + describe(b);
    if (dtype(a) != dtype(b)) refuse({"TL-DTYPE-001", "dtypes differ"}, name, shapes);
    const rules::Broadcast plan = rules::broadcast(x, y);
    if (!plan.ok()) refuse(plan.fault, name, shapes);
    return binary(op, a, plan.axis_of_a, b, plan.axis_of_b, rules::result_axes(plan, x, y), where);
  });
}

Ref select_by_shape(const Ref& p, const Ref& a, const Ref& b, Where where) {
  return with_place(where, [&] {
    const rules::AxisList q = axes_of(p), x = axes_of(a), y = axes_of(b);
    const std::string shapes = describe(p) + ", " + describe(a) + " and " + describe(b);
    if (dtype(p) != DType::boolean) refuse({"TL-DTYPE-003", "no bool"}, "select", shapes);
    if (dtype(a) != dtype(b)) refuse({"TL-DTYPE-001", "dtypes differ"}, "select", shapes);
    const rules::Broadcast3 plan = rules::broadcast(q, x, y);
    if (!plan.ok()) refuse(plan.fault, "select", shapes);
    return select(p, plan.axis_of_a, a, plan.axis_of_b, b, plan.axis_of_c,
                  rules::result_axes(plan, q, x, y), where);
  });
}

Ref matmul_by_shape(const Ref& a, const Ref& b, Where where) {
  return with_place(where, [&] {
    const rules::AxisList x = axes_of(a), y = axes_of(b);
    const std::string shapes = describe(a) + " and " + describe(b);
    if (dtype(a) != dtype(b)) refuse({"TL-DTYPE-001", "dtypes differ"}, "matmul", shapes);
    const rules::Contraction plan = rules::matmul(x, y);
    if (!plan.ok()) refuse(plan.fault, "matmul", shapes);
    const Labeled operands[]{{&a, plan.labels_a}, {&b, plan.labels_b}};
    return einsum(operands, plan.labels_result, rules::result_axes(plan, x, y), where);
  });
}

OverAxes reduce_axes(const Ref& x, AxesSpec selectors, bool keep, Where where) {
  return with_place(where, [&]() -> OverAxes {
    const rules::AxisList axes = axes_of(x);
    const rules::Over plan = rules::reduce(axes, selectors, keep);
    if (!plan.ok()) refuse(plan.fault, "reduction", describe(x));
    return {plan.axes_over, rules::result_axes(plan, axes)};
  });
}

OverAxes transpose_axes(const Ref& x, AxesSpec permutation, Where where) {
  return with_place(where, [&]() -> OverAxes {
    const rules::AxisList axes = axes_of(x);
    const rules::Over plan = rules::transpose(axes, permutation);
    if (!plan.ok()) refuse(plan.fault, "transpose", describe(x));
    return {plan.axes_over, rules::result_axes(plan, axes)};
  });
}

int choose_axis(const Ref& x, const AxisSpec& selector, Where where) {
  return with_place(where, [&] {
    const rules::Chosen chosen = rules::choose(axes_of(x), selector);
    if (chosen.fault) refuse(chosen.fault, "axis", describe(x));
    return chosen.axis;
  });
}

}  // namespace tlaloc::core
