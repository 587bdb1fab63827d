// pad, concatenate, clamp.
#include <algorithm>

#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/joining.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;

void lower_pad(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::PadAttrs>();
  const Value &x = c.in[0], &value = c.in[1];
  const Type type = c.types[0];
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.fill(y, l.uniform(type, value));
  l.for_each(x.type, [&](const Indices& at) {
    Indices to;
    ExprRef inside;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Dim low = a.low[k].substitute(c.dims), pitch = a.interior[k].substitute(c.dims) + 1;
      const Dim n = type.dim(static_cast<int>(k));
      const Dim last = low + (x.type.dim(static_cast<int>(k)) - 1) * pitch;
      const ExprRef p = position_add(position_multiply(at[k].expr, l.size(pitch)), l.size(low));
      to.push_back({p, Range::below(n)});
      // Negative padding crops.
      auto also = [&](ExprRef test) { inside = inside ? logical_and(inside, test) : test; };
      if (!l.proved_less_equal(Dim(0), low)) also(compare(">=", p, integer(0)));
      if (!l.proved_less_equal(last, n - 1)) also(compare("<", p, l.size(n)));
    }
    auto write = [&] { l.store(y, l.position(type, to).expr, l.element(x, at)); };
    if (!inside) return write();
    Stmt test{Stmt::Kind::branch};
    test.value = inside;
    test.body = l.block(write);
    l.emit(std::move(test));
  });
  c.out.push_back(l.in_vector(type, y));
}

void lower_concatenate(Lowering& l, NodeCall& c) {
  const auto axis = static_cast<std::size_t>(c.node.as<ops::ConcatenateAttrs>().axis);
  const Type type = c.types[0];
  const VarId y = l.new_vector(type, c.node.origin());
  Dim offset = 0;
  for (const Value& part : c.in) {
    l.for_each(part.type, [&](const Indices& at) {
      Indices to = at;
      to[axis] = {position_add(at[axis].expr, l.size(offset)),
                  Range::below(type.dim(static_cast<int>(axis)))};
      l.store(y, l.position(type, to).expr, l.element(part, at));
    });
    offset += part.type.dim(static_cast<int>(axis));
  }
  c.out.push_back(l.in_vector(type, y));
}

/// min(max(x, lo), hi), where the bounds may be scalars.
void lower_clamp(Lowering& l, NodeCall& c) {
  const Value lo = c.in[0], x = c.in[1], hi = c.in[2];
  const DType t = c.types[0].dtype();
  auto bounded = [node = c.node, t](Lowering& ll, ExprRef v, ExprRef low, ExprRef high) {
    const ExprRef least = ll.combine(ops::rows::Max, node, t, std::move(v), std::move(low));
    return ll.combine(ops::rows::Min, node, t, least, std::move(high));
  };
  if (c.types[0].rank() == 0) {
    const ExprRef e = bounded(l, x.scalar, lo.scalar, hi.scalar);
    c.out.push_back(l.scalar(c.types[0], l.keep(e, t, &c.node.origin())));
    return;
  }
  ArrayValue a;
  a.element = [lo, x, hi, bounded](Lowering& ll, const Indices& at) {
    const ExprRef low = lo.scalar ? lo.scalar : ll.element(lo, at);
    const ExprRef high = hi.scalar ? hi.scalar : ll.element(hi, at);
    return bounded(ll, ll.element(x, at), low, high);
  };
  c.out.push_back(l.lazy(c.types[0], std::move(a)));
}

const Rule kRules[] = {
    {.op = &ops::rows::Pad, .node = lower_pad, .reads = Reads::once},
    {.op = &ops::rows::Concatenate, .node = lower_concatenate, .reads = Reads::once},
    {.op = &ops::rows::Clamp, .node = lower_clamp, .reads = Reads::once},
};

}  // namespace

std::span<const Rule> joining_rules() { return kRules; }

}  // namespace tlaloc::cxx
