// Ops that move elements without computing: an element of the result is one of the operand's.
#include <algorithm>

#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/shape_ops.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
Index zero() { return {integer(0), Range::exactly(std::int64_t{0})}; }

/// An array whose elements are x's at the indices that `map` gives.
Value view(Lowering& l, Type type, const Value& x, std::function<Indices(const Indices&)> map) {
  if (x.array->uniform) return l.uniform(type, *x.array->uniform);
  ArrayValue a;
  a.free = x.array->free;
  a.element = [x, map](Lowering& ll, const Indices& i) { return ll.element(x, map(i)); };
  if (x.array->element_range) {
    a.element_range = [x, map](const Indices& i) { return x.array->element_range(map(i)); };
  }
  return l.lazy(type, std::move(a));
}

void lower_broadcast(Lowering& l, NodeCall& c) {
  const auto& axes = c.node.as<ops::BroadcastInDimAttrs>().axes;
  const Value& x = c.in[0];
  const Type type = c.types[0];
  if (type.rank() == 0) {
    c.out.push_back(x);
    return;
  }
  if (x.type.rank() == 0) {
    c.out.push_back(l.uniform(type, x));
    return;
  }
  c.out.push_back(view(l, type, x, [axes, from = x.type](const Indices& i) {
    Indices r;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      r.push_back(from.dim(static_cast<int>(k)) == Dim(1) ? zero() : i[at(axes[k])]);
    }
    return r;
  }));
}

/// The axes that are not 1, and their places.
std::vector<std::size_t> real_axes(Type t) {
  std::vector<std::size_t> r;
  for (int i = 0; i < t.rank(); ++i) {
    if (t.dim(i) != Dim(1)) r.push_back(static_cast<std::size_t>(i));
  }
  return r;
}
bool same_real_shape(Type a, Type b) {
  const auto x = real_axes(a), y = real_axes(b);
  return std::ranges::equal(x, y, [&](std::size_t i, std::size_t k) {
    return a.dim(static_cast<int>(i)) == b.dim(static_cast<int>(k));
  });
}

void lower_reshape(Lowering& l, NodeCall& c) {
  const Value& x = c.in[0];
  const Type from = x.type, type = c.types[0];
  if (from.rank() == 0 && type.rank() == 0) {
    c.out.push_back(x);
  } else if (from.rank() == 0) {
    c.out.push_back(l.uniform(type, x));
  } else if (type.rank() == 0) {
    Value v = l.element_value(x, Indices(static_cast<std::size_t>(from.rank()), zero()));
    // Read here: the vector may be updated in place before the value is used.
    v.scalar = l.keep(v.scalar, type.dtype(), &c.node.origin());
    c.out.push_back(std::move(v));
  } else if (same_real_shape(from, type)) {
    const auto source = real_axes(from), target = real_axes(type);
    Value v = view(l, type, x, [source, target, rank = from.rank()](const Indices& i) {
      Indices r(static_cast<std::size_t>(rank), zero());
      for (std::size_t k = 0; k < source.size(); ++k) r[source[k]] = i[target[k]];
      return r;
    });
    if (x.array->var || x.array->flat) {
      ArrayValue a = *v.array;
      a.var = x.array->var;
      a.flat = x.array->flat;
      v = l.lazy(type, std::move(a));
    }
    c.out.push_back(std::move(v));
  } else {
    // The same vector, or the same order of elements, under other indices.
    Value flat = x;
    if (!x.array->flat) flat = l.in_vector(from, l.materialize(x));
    ArrayValue a;
    a.var = flat.array->var;
    a.free = flat.array->free;
    a.uniform = flat.array->uniform;
    a.flat = flat.array->flat;
    a.element = [flat, type](Lowering& ll, const Indices& i) {
      return ll.element_flat(flat, ll.position(type, i));
    };
    c.out.push_back(l.lazy(type, std::move(a)));
  }
}

void lower_transpose(Lowering& l, NodeCall& c) {
  const auto& p = c.node.as<ops::TransposeAttrs>().permutation;
  if (c.types[0].rank() == 0) {
    c.out.push_back(c.in[0]);
    return;
  }
  c.out.push_back(view(l, c.types[0], c.in[0], [p](const Indices& i) {
    Indices r(i.size());
    for (std::size_t k = 0; k < p.size(); ++k) r[at(p[k])] = i[k];
    return r;
  }));
}

const Rule kRules[] = {
    {.op = &ops::rows::BroadcastInDim, .node = lower_broadcast, .reads = Reads::often},
    {.op = &ops::rows::Reshape, .node = lower_reshape, .reads = Reads::once},
    {.op = &ops::rows::Transpose, .node = lower_transpose, .reads = Reads::once},
};

}  // namespace

std::span<const Rule> shape_rules() { return kRules; }

}  // namespace tlaloc::cxx
