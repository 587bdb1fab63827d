// gather and scatter.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/gather_scatter.h"
#include "tlaloc/ops/indexing.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;
using ops::IndexDims;
using ops::OutOfBounds;

/// Where a windowed element lies in the operand, and whether its window fits.
struct Target {
  Indices at;
  ExprRef fits;  ///< null: always
};

class Walk {
 public:
  Walk(const IndexDims& dims, Type operand, const Value& indices, std::vector<Dim> sizes,
       OutOfBounds mode)
      : dims_(dims), operand_(operand), indices_(indices), sizes_(std::move(sizes)), mode_(mode) {}

  /// `windowed`: indices into gather's result or scatter's updates.
  Target operator()(Lowering& l, const Indices& windowed) const {
    Indices positions, window;
    for (std::size_t i = 0; i < windowed.size(); ++i) {
      const bool in_window = ops::contains(dims_.window_axes, static_cast<std::int64_t>(i));
      (in_window ? window : positions).push_back(windowed[i]);
    }
    const auto rank = usize(operand_.rank());
    std::vector<std::optional<Index>> at(rank);
    Target t;
    const auto position_axes = ops::index_axes(dims_, indices_.type.rank());
    for (std::size_t k = 0; k < dims_.operand_batch.size(); ++k) {
      const auto p = std::ranges::find(position_axes, dims_.indices_batch[k]);
      at[usize(dims_.operand_batch[k])] =
          positions[static_cast<std::size_t>(p - position_axes.begin())];
    }
    for (std::size_t k = 0; k < dims_.index_map.size(); ++k) {
      const std::size_t axis = usize(dims_.index_map[k]);
      const Dim last = operand_.dim(static_cast<int>(axis)) - sizes_[axis];
      at[axis] = start(l, component(l, positions, k), last, t.fits);
    }
    const auto kept = ops::window_operand_axes(dims_, operand_.rank());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      std::optional<Index>& i = at[usize(kept[k])];
      const Dim n = operand_.dim(static_cast<int>(kept[k]));
      if (!i)
        i = window[k];
      else
        i = Index{position_add(i->expr, window[k].expr), Range::below(n), i->narrow};
    }
    for (auto& i : at) t.at.push_back(i ? *i : Index{integer(0), Range::exactly(std::int64_t{0})});
    return t;
  }

 private:
  /// Component k of the index vector at `positions`.
  Value component(Lowering& l, const Indices& positions, std::size_t k) const {
    Indices at = positions;
    if (dims_.vector_axis < indices_.type.rank()) {
      at.insert(at.begin() + dims_.vector_axis, {integer(static_cast<std::int64_t>(k)),
                                                 Range::exactly(static_cast<std::int64_t>(k))});
    }
    Value v = l.element_value(indices_, at);
    v.scalar = l.keep(v.scalar, v.type.dtype());
    return v;
  }
  Index start(Lowering& l, const Value& v, Dim last, ExprRef& fits) const {
    if (mode_ != OutOfBounds::fill) return l.clamped(v, last);
    auto also = [&](ExprRef test) { fits = fits ? logical_and(fits, test) : test; };
    ExprRef e = v.scalar;
    if (v.type.dtype() == DType::u64) {
      const Index inside = l.clamped(v, last);
      also(compare("==", call("static_cast<std::uint64_t>", {inside.expr}), e));
      return inside;
    }
    if (!l.at_least_zero(v.range)) also(compare(">=", e, integer(0)));
    if (!l.at_most(v.range, last)) also(compare("<=", e, l.size(last)));
    return {e, v.range, v.type.dtype() != DType::i64};
  }

  IndexDims dims_;
  Type operand_;
  Value indices_;
  std::vector<Dim> sizes_;
  OutOfBounds mode_;
};

HostArray fill_value(DType dtype, std::optional<double> wanted) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) -> HostArray {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return HostArray::scalar(T(static_cast<float>(wanted.value_or(0))));
    } else {
      if (wanted) return HostArray::scalar(static_cast<T>(*wanted));
      if (std::is_floating_point_v<T>) return HostArray::scalar(Limits::quiet_NaN());
      return HostArray::scalar(std::is_signed_v<T> ? Limits::min() : Limits::max());
    }
  });
}

void lower_gather(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::GatherAttrs>();
  const Value x = c.in[0];
  std::vector<Dim> sizes;
  for (Dim d : a.sizes) sizes.push_back(d.substitute(c.dims));
  const Walk walk(a.dims, x.type, c.in[1], sizes, a.mode);
  const Type type = c.types[0];
  auto element = [x, walk, fill = a.fill, t = type.dtype()](Lowering& ll, const Indices& at) {
    const Target from = walk(ll, at);
    const ExprRef e = ll.element(x, from.at);
    return from.fits ? ternary(from.fits, e, ll.constant(fill_value(t, fill)).scalar) : e;
  };
  if (type.rank() == 0) {
    c.out.push_back(l.scalar(type, l.keep(element(l, {}), type.dtype(), &c.node.origin())));
    return;
  }
  ArrayValue y;
  y.element = element;
  c.out.push_back(l.lazy(type, std::move(y)));
}

const ir::OpDef& combining(ops::Update update) {
  switch (update) {
    case ops::Update::mul:
      return ops::rows::Mul;
    case ops::Update::min:
      return ops::rows::Min;
    case ops::Update::max:
      return ops::rows::Max;
    default:
      return ops::rows::Add;
  }
}

void lower_scatter(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::ScatterAttrs>();
  const Value &x = c.in[0], &updates = c.in[2];
  const Type type = c.types[0];
  std::vector<Dim> sizes(usize(x.type.rank()), 1);
  const auto kept = ops::window_operand_axes(a.dims, x.type.rank());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    sizes[usize(kept[k])] = updates.type.dim(static_cast<int>(a.dims.window_axes[k]));
  }
  const Walk walk(a.dims, x.type, c.in[1], sizes, a.mode);
  // The order of updates counts: index by index, each window whole.
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.assign(y, l.whole(x));
  std::vector<std::size_t> axes;
  for (bool window : {false, true}) {
    for (int i = 0; i < updates.type.rank(); ++i) {
      if (ops::contains(a.dims.window_axes, i) == window)
        axes.push_back(static_cast<std::size_t>(i));
    }
  }
  std::vector<Dim> extents;
  for (std::size_t i : axes) extents.push_back(updates.type.dim(static_cast<int>(i)));
  l.for_each(Type::get(type.dtype(), extents), [&](const Indices& in_order) {
    Indices at(axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k) at[axes[k]] = in_order[k];
    const Target to = walk(l, at);
    const ExprRef place = l.position(type, to.at).expr;
    auto write = [&] {
      ExprRef value = l.element(updates, at);
      if (a.update != ops::Update::set) {
        value =
            l.combine(combining(a.update), c.node, type.dtype(), index(variable(y), place), value);
      }
      l.store(y, place, value);
    };
    if (!to.fits) return write();
    Stmt test{Stmt::Kind::branch};
    test.value = to.fits;
    test.body = l.block(write);
    l.emit(std::move(test));
  });
  c.out.push_back(l.in_vector(type, y));
}

const Rule kRules[] = {
    {.op = &ops::rows::Gather, .node = lower_gather, .reads = Reads::often},
    {.op = &ops::rows::Scatter, .node = lower_scatter, .reads = Reads::often},
};

}  // namespace

std::span<const Rule> gather_rules() { return kRules; }

}  // namespace tlaloc::cxx
