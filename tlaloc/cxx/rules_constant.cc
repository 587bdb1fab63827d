// Ops that make values from nothing, and the barrier.
#include <algorithm>

#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/constants.h"

namespace tlaloc::cxx {
namespace {

/// True if all elements have the bits of the first.
bool all_equal(const HostArray& a) {
  const auto* bytes = static_cast<const char*>(a.data());
  const auto step = static_cast<std::size_t>(byte_size(a.dtype()));
  for (std::size_t i = step; i < a.bytes(); ++i) {
    if (bytes[i] != bytes[i - step]) return false;
  }
  return a.size() > 0;
}
HostArray first_element(const HostArray& a) {
  return dispatch(a.dtype(), [&]<class T>(TypeTag<T>) { return HostArray::scalar(a.as<T>()[0]); });
}

/// first + step * i, if the integers go up or down evenly.
std::optional<std::pair<std::int64_t, std::int64_t>> progression_of(const HostArray& a) {
  if (!is_integer(a.dtype()) || a.rank() != 1 || a.size() < 3) return std::nullopt;
  const std::int64_t first = a.element_int(0), step = a.element_int(1) - first;
  for (std::int64_t i = 2; i < a.size(); ++i) {
    if (a.element_int(i) - a.element_int(i - 1) != step) return std::nullopt;
  }
  return std::pair(first, step);
}
Value evenly_spaced(Lowering& l, ir::Type type, std::int64_t first, std::int64_t step) {
  ArrayValue a;
  a.free = a.local = true;
  a.element = [first, step, t = type.dtype()](Lowering&, const Indices& at) {
    const ExprRef e = position_add(position_multiply(at[0].expr, integer(step)), integer(first));
    return t == DType::i64 ? e : call("static_cast<" + type_name(t) + ">", {e});
  };
  a.flat = [element = a.element](Lowering& ll, const Index& at) { return element(ll, {at}); };
  const std::int64_t last = first + step * (type.dim(0).constant() - 1);
  a.element_range = [low = std::min(first, last), high = std::max(first, last)](const Indices&) {
    return Range{low, high, ir::Dim(low), ir::Dim(high)};
  };
  return l.lazy(type, std::move(a));
}

void lower_constant(Lowering& l, NodeCall& c) {
  const HostArray& value = c.node.as<ops::ConstantAttrs>().value.value;
  const ir::Type type = c.types[0];
  if (value.rank() == 0) {
    c.out.push_back(l.constant(value));
  } else if (all_equal(value)) {
    c.out.push_back(l.uniform(type, l.constant(first_element(value))));
  } else if (const auto even = progression_of(value)) {
    c.out.push_back(evenly_spaced(l, type, even->first, even->second));
  } else {
    const VarId v = l.declare(type);
    l.suggest(v, c.node.origin());
    Exprs elements;
    for (std::int64_t i = 0; i < value.size(); ++i) elements.push_back(element_literal(value, i));
    l.assign(v, list(type_name(type), std::move(elements)));
    c.out.push_back(l.in_vector(type, v));
  }
}

void lower_iota(Lowering& l, NodeCall& c) {
  const auto axis = static_cast<std::size_t>(c.node.as<ops::IotaAttrs>().axis);
  const DType dtype = c.types[0].dtype();
  ArrayValue a;
  a.free = dtype == DType::i64;
  a.element = [axis, dtype](Lowering&, const Indices& at) {
    if (dtype == DType::i64) return at[axis].expr;
    return call("static_cast<" + type_name(dtype) + ">", {at[axis].expr});
  };
  if (is_integer(dtype)) a.element_range = [axis](const Indices& at) { return at[axis].range; };
  if (c.types[0].rank() == 1) {
    a.flat = [element = a.element](Lowering& ll, const Index& at) { return element(ll, {at}); };
  }
  c.out.push_back(l.lazy(c.types[0], std::move(a)));
}

void lower_dim_value(Lowering& l, NodeCall& c) {
  const ir::Dim d = c.node.as<ops::DimValueAttrs>().dim.substitute(c.dims);
  c.out.push_back(l.scalar(c.types[0], l.size(d), Range::exactly(d)));
}

/// Values are the same behind a barrier; it only matters to transforms.
void lower_barrier(Lowering&, NodeCall& c) { c.out.push_back(c.in[0]); }

const Rule kRules[] = {
    {.op = &ops::rows::Constant, .node = lower_constant},
    {.op = &ops::rows::Iota, .node = lower_iota},
    {.op = &ops::rows::DimValue, .node = lower_dim_value},
    {.op = &ops::rows::OptimizationBarrier, .node = lower_barrier, .reads = Reads::once},
    {.op = &ops::rows::StopGradient, .node = lower_barrier, .reads = Reads::once},
    {.op = &ops::rows::ShardingConstraint, .node = lower_barrier, .reads = Reads::once},
};

}  // namespace

std::span<const Rule> constant_rules() { return kRules; }

}  // namespace tlaloc::cxx
