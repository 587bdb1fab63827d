// Windows whose places are data: dynamic slices, gather, scatter, as positions in loops; and
// positions that are results.
#include <algorithm>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/planner.h"
#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/gather_scatter.h"
#include "tlaloc/ops/indexing.h"
#include "tlaloc/ops/slice.h"

namespace tlaloc::cpu {

using ir::Dim;
using ir::Type;
using ir::ValueId;

std::vector<Indirect> Planner::starts(Context& c, const ir::Node& n, std::size_t first, Type like,
                                      std::int64_t batch_axes, std::span<const Dim> strides,
                                      std::span<const Dim> last) {
  std::vector<std::int64_t> axes;
  for (std::int64_t k = 0; k < batch_axes; ++k) axes.push_back(k);
  std::vector<Indirect> r;
  for (std::size_t k = 0; k < last.size(); ++k) {
    // Only one place fits: there is nothing to look up.
    if (last[k] == Dim(0)) continue;
    const Value start = c.env[n.operand(first + k)];
    const Value wide = viewed(c, n.operand(first + k), [&](const Value& v) {
      return broadcast(v, like.with_dtype(start.type.dtype()), axes);
    });
    r.push_back({as_index(wide).expr, strides[k], last[k]});
  }
  return r;
}

void Planner::dynamic_slice(Context& c, const ir::Node& n) {
  const auto nb = n.as<ops::DynamicSliceAttrs>().batch_axes;
  const Type type = c.type(n.result());
  Value& x = c.env[n.operand(0)];
  x = e_.lying(x, "copy");
  const auto behind = static_cast<std::size_t>(nb);
  std::vector<Dim> last;
  for (int axis = static_cast<int>(nb); axis < x.type.rank(); ++axis) {
    last.push_back(x.type.dim(axis) - type.dim(axis));
  }
  auto e = std::make_shared<Expr>(*x.expr);
  const auto more =
      starts(c, n, 1, type, nb, std::span<const Dim>(x.expr->at.strides).subspan(behind), last);
  e->indirect.insert(e->indirect.end(), more.begin(), more.end());
  c.env[n.result()] = {type, e};
  settle(c, n);
}

void Planner::update(Context& c, const ir::Node& n, const Value& update, const Windows& where,
                     bool drop, const ir::OpDef* combine) {
  const Value& x = c.env[n.operand(0)];
  // What is read of the operand is read before it changes.
  Target t{0, where.at, where.indirect, drop, combine};
  Value v = update;
  auto depends = [&](const ExprRef& e) {
    return x.expr->kind == Expr::Kind::read && reads(e, x.expr->storage);
  };
  if (depends(v.expr)) v = dense_value(v.type, e_.copy(v, n.op().name));
  for (Indirect& i : t.indirect) {
    if (!depends(i.index)) continue;
    const Type type = update.type.with_dtype(DType::i64);
    i.index = dense_value(type, e_.copy({type, i.index}, n.op().name)).expr;
  }
  t.storage = e_.copy(x, n.op().name);
  e_.compute(v, t, n.op().name);
  c.env[n.result()] = dense_value(c.type(n.result()), t.storage);
}

bool Planner::added_update(Context& c, const ir::Node& n) {
  const auto it = c.groups.added.find(n.index());
  if (it == c.groups.added.end()) return false;
  const ir::Node sum = c.g.node(it->second.addition);
  const Value x = c.env[n.operand(0)];
  const Type type = c.type(sum.result());
  Affine at{0, dense_strides(x.type.shape())};
  for (int axis = 0; axis < type.rank(); ++axis) {
    const ir::Node start = c.g.node(c.g.producer(n.operand(2 + usize(axis))));
    const Dim last = x.type.dim(axis) - type.dim(axis);
    const double place = start.as<ops::ConstantAttrs>().value.value.element(0);
    if (place <= 0 || last == Dim(0)) continue;
    at.offset += min(Dim(static_cast<std::int64_t>(std::min(place, 0x1p62))), last) *
                 at.strides[usize(axis)];
  }
  Value v = spread(c.env[it->second.value], type);
  // What is read of the operand elsewhere is read before it changes.
  if (x.expr->kind == Expr::Kind::read && reads(v.expr, x.expr->storage)) {
    v = dense_value(type, e_.copy(v, sum.op().name));
  }
  const StorageId to = e_.copy(x, n.op().name);
  std::vector<ExprRef> parts{read(type.dtype(), to, at), v.expr};
  if (!it->second.behind) std::swap(parts[0], parts[1]);
  e_.compute({type, apply(sum.op(), sum.attr(), type.dtype(), std::move(parts))}, {to, at},
             n.op().name);
  c.env[n.result()] = dense_value(c.type(n.result()), to);
  return true;
}

void Planner::dynamic_update_slice(Context& c, const ir::Node& n) {
  if (added_update(c, n)) return;
  const auto nb = n.as<ops::DynamicUpdateSliceAttrs>().batch_axes;
  const Type type = c.type(n.result());
  const Value u = c.env[n.operand(1)];
  Windows where{{0, dense_strides(type.shape())}, {}};
  std::vector<Dim> last;
  for (int axis = static_cast<int>(nb); axis < type.rank(); ++axis) {
    last.push_back(type.dim(axis) - u.type.dim(axis));
  }
  where.indirect =
      starts(c, n, 2, u.type, nb,
             std::span<const Dim>(where.at.strides).subspan(static_cast<std::size_t>(nb)), last);
  update(c, n, u, where, false, nullptr);
}

Planner::Windows Planner::windows(const Value& indices, const ops::IndexDims& dims, Type operand,
                                  Type windowed, std::span<const Dim> sizes, const Affine& lies) {
  Windows w{{lies.offset, std::vector<Dim>(usize(windowed.rank()), Dim(0))}, {}};
  const auto kept = ops::window_operand_axes(dims, operand.rank());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    w.at.strides[usize(dims.window_axes[k])] = lies.strides[usize(kept[k])];
  }
  // Axes of the indices, without their vector, in the windowed space.
  const auto positions = ops::index_axes(dims, indices.type.rank());
  std::vector<std::int64_t> to(usize(indices.type.rank()), -1);
  std::size_t next = 0;
  for (std::int64_t axis = 0; axis < windowed.rank(); ++axis) {
    if (std::ranges::find(dims.window_axes, axis) != dims.window_axes.end()) continue;
    to[usize(positions[next++])] = axis;
  }
  for (std::size_t k = 0; k < dims.operand_batch.size(); ++k) {
    w.at.strides[usize(to[usize(dims.indices_batch[k])])] +=
        lies.strides[usize(dims.operand_batch[k])];
  }
  for (std::size_t k = 0; k < dims.index_map.size(); ++k) {
    const auto axis = usize(dims.index_map[k]);
    const Dim last = operand.dim(static_cast<int>(axis)) - sizes[axis];
    const Type space = windowed.with_dtype(indices.type.dtype());
    const auto part = view(indices, space, [&](const Affine& at) -> std::optional<Affine> {
      Affine r{at.offset, std::vector<Dim>(usize(windowed.rank()), Dim(0))};
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i] >= 0) r.strides[usize(to[i])] = at.strides[i];
      }
      if (dims.vector_axis < indices.type.rank()) {
        r.offset += Dim(static_cast<std::int64_t>(k)) * at.strides[usize(dims.vector_axis)];
      }
      return r;
    });
    internal_check(part.has_value(), "indices can't be viewed");
    w.indirect.push_back({as_index(*part).expr, lies.strides[axis], last});
  }
  return w;
}

void Planner::gather(Context& c, const ir::Node& n) {
  const auto& a = n.as<ops::GatherAttrs>();
  const Type type = c.type(n.result());
  for (ValueId v : n.operands()) c.env[v] = e_.lying(c.env[v], "copy");
  const Value& x = c.env[n.operand(0)];
  const Value& indices = c.env[n.operand(1)];
  std::vector<Dim> sizes;
  for (Dim d : a.sizes) sizes.push_back(c.dim(d));
  const Windows w = windows(indices, a.dims, x.type, type, sizes, x.expr->at);
  auto e = std::make_shared<Expr>(*x.expr);
  e->at = w.at;
  e->indirect = w.indirect;
  ExprRef r = e;
  if (a.mode == ops::OutOfBounds::fill) {
    ExprRef fits;
    auto require = [&](ExprRef p) {
      fits = fits ? apply(ops::rows::And, nullptr, DType::boolean, {fits, p}) : p;
    };
    const auto compare = [](ops::Comparison how, ExprRef p, ExprRef q) {
      return apply(ops::rows::Compare, ir::make_attr(ops::CompareAttrs{how}), DType::boolean,
                   {std::move(p), std::move(q)});
    };
    for (const Indirect& i : w.indirect) {
      require(compare(ops::Comparison::ge, i.index, number(0, DType::i64, type)));
      require(compare(ops::Comparison::le, i.index, number(max(i.last, 0), DType::i64, type)));
    }
    if (fits) {
      r = apply(ops::rows::Select, nullptr, type.dtype(),
                {fits, r, literal(ops::fill_value(type.dtype(), a.fill))});
    }
  }
  c.env[n.result()] = {type, r};
  settle(c, n);
}

void Planner::scatter(Context& c, const ir::Node& n) {
  const auto& a = n.as<ops::ScatterAttrs>();
  const Type type = c.type(n.result());
  // A window axis in front of a position axis would change the order of the updates.
  const auto& wa = a.dims.window_axes;
  const Type updates_type = c.env[n.operand(2)].type;
  const bool in_order =
      wa.empty() || wa.front() == updates_type.rank() - static_cast<std::int64_t>(wa.size());
  if (!in_order && !a.unique) {
    return reference(c, n, "its updates may come in an order that its kernel does not keep");
  }
  for (ValueId v : n.operands()) c.env[v] = e_.lying(c.env[v], "copy");
  const Value indices = c.env[n.operand(1)], updates = c.env[n.operand(2)];
  const auto sizes = ops::window_sizes(a.dims, type, updates.type);
  const Windows w =
      windows(indices, a.dims, type, updates.type, sizes, {0, dense_strides(type.shape())});
  const ir::OpDef* combine = nullptr;
  const bool logical = type.dtype() == DType::boolean;
  switch (a.update) {
    case ops::Update::set:
      break;
    case ops::Update::add:
      combine = &ops::rows::Add;
      break;
    case ops::Update::mul:
      combine = &ops::rows::Mul;
      break;
    case ops::Update::min:
      combine = &ops::rows::Min;
      break;
    case ops::Update::max:
      combine = &ops::rows::Max;
      break;
  }
  if (logical && (a.update == ops::Update::add || a.update == ops::Update::mul)) {
    return reference(c, n, "its kernel does not add up booleans");
  }
  update(c, n, updates, w, a.mode == ops::OutOfBounds::fill, combine);
}

void Planner::position_of_extreme(Context& c, const ir::Node& n) {
  const auto& a = n.as<ops::ArgReduceAttrs>();
  // Read twice: for the extreme, and for where it is.
  const Value x = e_.lying(c.env[n.operand(0)], n.op().name);
  const auto axis = static_cast<int>(a.axis);
  const std::int64_t folded[] = {a.axis};
  std::vector<Dim> kept(x.type.shape().begin(), x.type.shape().end());
  const Dim size = kept[usize(a.axis)];
  kept.erase(kept.begin() + a.axis);
  std::vector<std::int64_t> axes;
  for (int i = 0; i < x.type.rank(); ++i) {
    if (i != axis) axes.push_back(i);
  }
  auto fold = [&](const Value& v, const ir::OpDef& reduction) {
    const Type type = Type::get(v.type.dtype(), kept);
    const Target t{e_.storage(type), {0, dense_strides(kept)}};
    e_.fold(v, *find_fold(reduction, type.dtype()), folded, t, n.op().name);
    return dense_value(type, t.storage);
  };
  const bool largest = &n.op() == &ops::rows::ArgMax;
  const Value extreme = fold(x, largest ? ops::rows::ReduceMax : ops::rows::ReduceMin);
  auto compare = [&](ops::Comparison how, const ExprRef& p, const ExprRef& q) {
    return apply(ops::rows::Compare, ir::make_attr(ops::CompareAttrs{how}), DType::boolean, {p, q});
  };
  ExprRef hit = compare(ops::Comparison::eq, x.expr, broadcast(extreme, x.type, axes)->expr);
  // Where there is a NaN it is the extreme, and equals nothing.
  if (is_float(x.type.dtype())) {
    hit = apply(ops::rows::Or, nullptr, DType::boolean,
                {hit, compare(ops::Comparison::ne, x.expr, x.expr)});
  }
  // The first one counts: behind all of them lies what is none.
  const bool few = ir::bounds(size).upper <= std::numeric_limits<std::int32_t>::max();
  const DType counted = few ? DType::i32 : DType::i64;
  const ExprRef none = few ? literal(HostArray::scalar(std::numeric_limits<std::int32_t>::max()))
                           : literal(HostArray::scalar(std::numeric_limits<std::int64_t>::max()));
  const Type positions = x.type.with_dtype(counted);
  auto at = std::make_shared<Expr>(*number(0, counted, positions));
  at->at.strides[usize(a.axis)] = 1;
  Value& first = c.env[n.result()];
  first = fold({positions, apply(ops::rows::Select, nullptr, counted, {hit, at, none})},
               ops::rows::ReduceMin);
  if (counted == a.dtype) return;
  first = {
      first.type.with_dtype(a.dtype),
      apply(ops::rows::Convert, ir::make_attr(ops::ConvertAttrs{a.dtype}), a.dtype, {first.expr})};
  settle(c, n);
}

}  // namespace tlaloc::cpu
