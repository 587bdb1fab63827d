// Windows into arrays: slice, dynamic_slice, dynamic_update_slice, reverse.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/joining.h"
#include "tlaloc/ops/slice.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;

std::vector<Dim> substituted(std::vector<Dim> dims, const ir::DimMap& map) {
  for (Dim& d : dims) d = d.substitute(map);
  return dims;
}
Value view(Lowering& l, Type type, const Value& x,
           std::function<Indices(Lowering&, const Indices&)> map) {
  if (x.array->uniform) return l.uniform(type, *x.array->uniform);
  ArrayValue a;
  a.free = x.array->free;
  a.element = [x, map](Lowering& ll, const Indices& i) { return ll.element(x, map(ll, i)); };
  return l.lazy(type, std::move(a));
}

void lower_slice(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::SliceAttrs>();
  const auto start = substituted(a.start, c.dims), strides = substituted(a.strides, c.dims);
  c.out.push_back(view(l, c.types[0], c.in[0],
                       [start, strides, from = c.in[0].type](Lowering& ll, const Indices& at) {
                         Indices r;
                         for (std::size_t k = 0; k < at.size(); ++k) {
                           const ExprRef step = position_multiply(at[k].expr, ll.size(strides[k]));
                           r.push_back({position_add(step, ll.size(start[k])),
                                        Range::below(from.dim(static_cast<int>(k))), at[k].narrow});
                         }
                         return r;
                       }));
}

void lower_reverse(Lowering& l, NodeCall& c) {
  const auto axes = c.node.as<ops::ReverseAttrs>().axes;
  c.out.push_back(
      view(l, c.types[0], c.in[0], [axes, type = c.types[0]](Lowering& ll, const Indices& at) {
        Indices r = at;
        for (std::int64_t axis : axes) {
          const Dim n = type.dim(static_cast<int>(axis));
          const ExprRef last = ll.size(n - 1);
          Index& i = r[usize(axis)];
          i = {position_subtract(last, i.expr), Range::below(n)};
        }
        return r;
      }));
}

/// Where a window begins: one start per axis behind the batch axes, which come first in `at`.
class Window {
 public:
  Window(Lowering& l, std::span<const Value> starts, Type operand, std::vector<Dim> sizes)
      : starts_(starts.begin(), starts.end()),
        operand_(operand),
        sizes_(std::move(sizes)),
        batch_(usize(operand.rank()) - starts.size()) {
    if (batch_ == 0) {
      for (std::size_t k = 0; k < starts_.size(); ++k)
        fixed_.push_back(l.clamped(starts_[k], last(k)));
    }
  }
  /// Indices into the operand of window element `at`.
  Indices operator()(Lowering& l, const Indices& at) const {
    Indices r(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batch_));
    const Indices lane = r;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
      const Index start =
          batch_ == 0 ? fixed_[k] : l.clamped(l.element_value(starts_[k], lane), last(k));
      const Index& i = at[batch_ + k];
      const auto range = sum(start.range, i.range, DType::i64);
      r.push_back({position_add(start.expr, i.expr),
                   range ? *range : Range::below(operand_.dim(static_cast<int>(batch_ + k))),
                   start.narrow});
    }
    return r;
  }

 private:
  Dim last(std::size_t k) const { return operand_.dim(static_cast<int>(batch_ + k)) - sizes_[k]; }
  Values starts_;
  Type operand_;
  std::vector<Dim> sizes_;
  std::size_t batch_;
  Indices fixed_;
};

void lower_dynamic_slice(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::DynamicSliceAttrs>();
  const Window window(l, c.in.subspan(1), c.in[0].type, substituted(a.sizes, c.dims));
  c.out.push_back(view(l, c.types[0], c.in[0], window));
}

void lower_dynamic_update_slice(Lowering& l, NodeCall& c) {
  const auto batch = usize(c.node.as<ops::DynamicUpdateSliceAttrs>().batch_axes);
  const Value &x = c.in[0], &update = c.in[1];
  const auto shape = update.type.shape().subspan(batch);
  const Window window(l, c.in.subspan(2), x.type, {shape.begin(), shape.end()});
  const VarId y = l.declare(c.types[0]);
  l.suggest(y, c.node.origin());
  l.assign(y, l.whole(x));
  const std::size_t from = l.emitted();
  l.for_each(update.type, [&](const Indices& at) {
    const Indices to = window(l, at);
    l.store(y, l.position(x.type, to).expr, l.element(update, at));
  });
  l.by_element(from);
  c.out.push_back(l.in_vector(c.types[0], y));
}

const Rule kRules[] = {
    {.op = &ops::rows::Slice, .node = lower_slice, .reads = Reads::once},
    {.op = &ops::rows::Reverse, .node = lower_reverse, .reads = Reads::once},
    {.op = &ops::rows::DynamicSlice, .node = lower_dynamic_slice, .reads = Reads::once},
    {.op = &ops::rows::DynamicUpdateSlice,
     .node = lower_dynamic_update_slice,
     .reads = Reads::once},
};

}  // namespace

std::span<const Rule> index_rules() { return kRules; }

}  // namespace tlaloc::cxx
