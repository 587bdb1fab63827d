// Reductions: one accumulator per result, in row-major order, as the interpreter folds.
#include <algorithm>
#include <limits>

#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/reduce.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;
using Combine = ExprRef (*)(Lowering&, DType, ExprRef acc, ExprRef x);

ExprRef combine_sum(Lowering& l, DType t, ExprRef acc, ExprRef x) {
  if (!is_integer(t) || (is_unsigned_integer(t) && byte_size(t) >= 4)) return add(acc, x);
  l.needs().helper(Helper::wrapping_add);
  return call(name_of(Helper::wrapping_add), {acc, x});
}
ExprRef combine_max(Lowering& l, DType t, ExprRef acc, ExprRef x) {
  if (is_float(t)) {
    l.needs().helper(Helper::maximum);
    return call(name_of(Helper::maximum), {acc, x});
  }
  if (t == DType::boolean) return infix(Level::logical_or, "||", acc, x);
  l.needs().header("algorithm");
  return call("std::max", {acc, x});
}
ExprRef combine_or(Lowering&, DType t, ExprRef acc, ExprRef x) {
  if (t == DType::boolean) return infix(Level::logical_or, "||", acc, x);
  return infix(Level::bit_or, "|", acc, x);
}

HostArray zero_of(DType t) {
  return dispatch(t, []<class T>(TypeTag<T>) { return HostArray::scalar(T{}); });
}
HostArray lowest_of(DType t) {
  return dispatch(t, []<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      return HostArray::scalar(-std::numeric_limits<T>::infinity());
    } else {
      return HostArray::scalar(std::numeric_limits<T>::lowest());
    }
  });
}

void lower_reduction(Lowering& l, NodeCall& c, const HostArray& start, Combine combine,
                     const char* name) {
  const auto& axes = c.node.as<ops::ReduceAttrs>().axes;
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  const auto outer = ops::other_axes(x.type.rank(), axes);
  std::vector<ir::Dim> reduced;
  for (std::int64_t a : axes) reduced.push_back(x.type.dim(static_cast<int>(a)));
  const Type inner = Type::get(dtype, reduced);

  auto fold = [&](const Indices& at) {
    const VarId acc = l.declare(Type::scalar(dtype), name, NameRank::derived);
    if (type.rank() == 0) l.suggest(acc, c.node.origin());
    l.assign(acc, l.constant(start).scalar);
    l.for_each(inner, [&](const Indices& i) {
      Indices all(static_cast<std::size_t>(x.type.rank()));
      for (std::size_t k = 0; k < outer.size(); ++k)
        all[static_cast<std::size_t>(outer[k])] = at[k];
      for (std::size_t k = 0; k < axes.size(); ++k) all[static_cast<std::size_t>(axes[k])] = i[k];
      l.assign(acc, combine(l, dtype, variable(acc), l.element(x, all)));
    });
    return variable(acc);
  };
  if (type.rank() == 0) {
    c.out.push_back(l.scalar(type, fold({})));
    return;
  }
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.assign(y, call(l.var(y).type, {l.size(type.elements())}));
  l.for_each(type, [&](const Indices& at) { l.store(y, l.position(type, at).expr, fold(at)); });
  c.out.push_back(l.in_vector(type, y));
}

void lower_sum(Lowering& l, NodeCall& c) {
  lower_reduction(l, c, zero_of(c.types[0].dtype()), combine_sum, "sum");
}
void lower_max(Lowering& l, NodeCall& c) {
  lower_reduction(l, c, lowest_of(c.types[0].dtype()), combine_max, "largest");
}
void lower_or(Lowering& l, NodeCall& c) {
  lower_reduction(l, c, zero_of(c.types[0].dtype()), combine_or, "any");
}

const Rule kRules[] = {
    {.op = &ops::rows::ReduceSum, .node = lower_sum, .reads = Reads::once},
    {.op = &ops::rows::ReduceMax, .node = lower_max, .reads = Reads::once},
    {.op = &ops::rows::ReduceOr, .node = lower_or, .reads = Reads::once},
};

}  // namespace

std::span<const Rule> reduce_rules() { return kRules; }

}  // namespace tlaloc::cxx
