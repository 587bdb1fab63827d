#include "tlaloc/ops/shape_ops.h"

#include <algorithm>
#include <numeric>

#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {
namespace {

std::vector<std::int64_t> shifted(const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> r;
  for (std::int64_t a : axes) r.push_back(a + 1);
  return r;
}
std::vector<Dim> with_lanes(Dim lanes, std::span<const Dim> shape) {
  std::vector<Dim> r{lanes};
  r.insert(r.end(), shape.begin(), shape.end());
  return r;
}
bool is_identity(const std::vector<std::int64_t>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// The number of elements in front of each axis, and of all.
std::vector<Dim> leading_products(std::span<const Dim> shape) {
  std::vector<Dim> r{Dim(1)};
  for (Dim d : shape) r.push_back(r.back() * d);
  return r;
}
/// A ragged axis may grow to the longest lane only if no step between elements depends on it: it
/// has to be the first of a group of axes that the other shape holds as a group too.
void require_places_without_ragged(const Call& c, BatchContext& ctx, std::span<const Dim> from,
                                   std::span<const Dim> to) {
  while (!from.empty() && !to.empty() && from.back() == to.back()) {
    from = from.first(from.size() - 1);
    to = to.first(to.size() - 1);
  }
  const auto from_products = leading_products(from), to_products = leading_products(to);
  auto require = [&](std::span<const Dim> shape, const std::vector<Dim>& products,
                     const std::vector<Dim>& others) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (std::ranges::find(others, products[i]) != others.end()) continue;
      require_same_in_lanes(ctx, shape[i], *c.op, "size of an axis that moves");
    }
  };
  require(from, from_products, to_products);
  require(to, to_products, from_products);
}

}  // namespace

// ---- broadcast_in_dim ----

void BroadcastInDim::infer(InferContext& c) {
  const BroadcastInDimAttrs& a = c.as<BroadcastInDimAttrs>();
  const Type x = c.in[0];
  if (a.axes.size() != static_cast<std::size_t>(x.rank())) {
    c.fail("TL-RANK-001", "one result axis per operand axis is needed");
  }
  std::vector<bool> used(a.shape.size());
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(a.axes[i]);
    if (a.axes[i] < 0 || axis >= a.shape.size() || used[axis]) {
      c.fail("TL-AXIS-001", "result axes must be distinct and within the result's rank");
    }
    used[axis] = true;
    // Only a literal 1 stretches: a symbolic size never broadcasts as 1.
    if (x.dim(static_cast<int>(i)) == Dim(1)) continue;
    c.require_equal(
        x.dim(static_cast<int>(i)), a.shape[axis],
        "operand axis " + std::to_string(i) + " and result axis " + std::to_string(axis));
  }
  c.out.push_back(Type::get(x.dtype(), a.shape, x.encoding()));
}
void BroadcastInDim::eval(EvalContext& c) {
  const BroadcastInDimAttrs& a = c.as<BroadcastInDimAttrs>();
  HostArray y = c.make();
  const Extents strides = row_major_strides(c.in[0].extents());
  Extents step(y.extents().size(), 0);
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(a.axes[i]);
    if (c.in[0].extents()[i] != 1) step[axis] = strides[i];
    if (c.in[0].extents()[i] != 1 && c.in[0].extents()[i] != y.extents()[axis]) {
      throw UserError({"TL-SHAPE-002",
                       kInfo.name,
                       "a size of " + std::to_string(c.in[0].extents()[i]) + " meets " +
                           std::to_string(y.extents()[axis]),
                       "",
                       {}});
    }
  }
  gather_strided(c.in[0], 0, step, y);
  c.out.push_back(std::move(y));
}
Val BroadcastInDim::simplify(const Call& c) {
  return c.in_types[0] == c.out_types[0] && is_identity(c.as<BroadcastInDimAttrs>().axes) ? c.in[0]
                                                                                          : Val{};
}
void BroadcastInDim::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const auto& axes = c.as<BroadcastInDimAttrs>().axes;
  const Type x = c.in_types[0];
  std::vector<std::int64_t> summed;
  for (int i = 0; i < ct[0].rank(); ++i) {
    const auto at = std::ranges::find(axes, i);
    const bool kept = at != axes.end() && (x.dim(static_cast<int>(at - axes.begin())) != Dim(1) ||
                                           ct[0].dim(i) == Dim(1));
    if (!kept) summed.push_back(i);
  }
  Val v = reduce_sum(ct[0], summed);
  // What is left are the operand's axes in the order of the result's; put the stretched ones back.
  std::vector<std::int64_t> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::int64_t i) {
    return std::ranges::find(summed, axes[static_cast<std::size_t>(i)]) != summed.end();
  });
  std::vector<std::int64_t> by_axis = order;
  std::ranges::sort(by_axis, {}, [&](std::int64_t i) { return axes[static_cast<std::size_t>(i)]; });
  std::vector<std::int64_t> permutation;
  for (std::int64_t i : order) {
    permutation.push_back(std::ranges::find(by_axis, i) - by_axis.begin());
  }
  v = ops::transpose(v, permutation);
  sink.add(0, ops::reshape(v, x.shape()));
}
void BroadcastInDim::batch(const Call& c, BatchContext& ctx) {
  const BroadcastInDimAttrs& a = c.as<BroadcastInDimAttrs>();
  auto axes = shifted(a.axes);
  axes.insert(axes.begin(), 0);
  ctx.set(0, broadcast_in_dim(ctx.lifted(0), with_lanes(ctx.lanes(), a.shape), axes));
}

// ---- reshape ----

void Reshape::infer(InferContext& c) {
  const Type y = Type::get(c.in[0].dtype(), c.as<ReshapeAttrs>().shape);
  if (c.in[0].encoding()) c.fail("TL-DTYPE-004", "does not accept quantized values");
  c.require_equal(c.in[0].elements(), y.elements(), "number of elements");
  c.out.push_back(y);
}
void Reshape::eval(EvalContext& c) { c.out.push_back(c.take(0).reshaped(c.out_extents[0])); }
Val Reshape::simplify(const Call& c) {
  if (c.in_types[0] == c.out_types[0]) return c.in[0];
  ir::Builder& b = ir::Builder::current();
  if (b.op_of(c.in[0]) == &rows::Reshape) {
    return ops::reshape(b.operand_of(c.in[0], 0), c.as<ReshapeAttrs>().shape);
  }
  return {};
}
void Reshape::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, ops::reshape(ct[0], c.in_types[0].shape()));
}
void Reshape::batch(const Call& c, BatchContext& ctx) {
  const auto& shape = c.as<ReshapeAttrs>().shape;
  require_places_without_ragged(c, ctx, c.in_types[0].shape(), shape);
  ctx.set(0, ops::reshape(ctx.lifted(0), with_lanes(ctx.lanes(), shape)));
}

// ---- transpose ----

void Transpose::infer(InferContext& c) {
  const auto& p = c.as<TransposeAttrs>().permutation;
  const Type x = c.in[0];
  std::vector<bool> used(p.size());
  std::vector<Dim> shape;
  if (x.encoding()) c.fail("TL-DTYPE-004", "does not accept quantized values");
  if (p.size() != static_cast<std::size_t>(x.rank())) c.fail("TL-RANK-001", "one index per axis");
  for (std::int64_t axis : p) {
    if (axis < 0 || axis >= x.rank() || used[static_cast<std::size_t>(axis)]) {
      c.fail("TL-AXIS-001", "the permutation must name each axis once");
    }
    used[static_cast<std::size_t>(axis)] = true;
    shape.push_back(x.dim(static_cast<int>(axis)));
  }
  c.out.push_back(Type::get(x.dtype(), shape));
}
void Transpose::eval(EvalContext& c) {
  HostArray y = c.make();
  const Extents strides = row_major_strides(c.in[0].extents());
  Extents step;
  for (std::int64_t axis : c.as<TransposeAttrs>().permutation) {
    step.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  gather_strided(c.in[0], 0, step, y);
  c.out.push_back(std::move(y));
}
Val Transpose::simplify(const Call& c) {
  const auto& p = c.as<TransposeAttrs>().permutation;
  if (is_identity(p)) return c.in[0];
  ir::Builder& b = ir::Builder::current();
  if (b.op_of(c.in[0]) != &rows::Transpose) return {};
  const auto& q = ir::attr_as<TransposeAttrs>(b.attr_of(c.in[0])).permutation;
  std::vector<std::int64_t> composed;
  for (std::int64_t axis : p) composed.push_back(q[static_cast<std::size_t>(axis)]);
  return ops::transpose(b.operand_of(c.in[0], 0), composed);
}
void Transpose::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const auto& p = c.as<TransposeAttrs>().permutation;
  std::vector<std::int64_t> inverse(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    inverse[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  }
  sink.add(0, ops::transpose(ct[0], inverse));
}
void Transpose::batch(const Call& c, BatchContext& ctx) {
  auto p = shifted(c.as<TransposeAttrs>().permutation);
  p.insert(p.begin(), 0);
  ctx.set(0, ops::transpose(ctx.lifted(0), p));
}

TLALOC_ROW(BroadcastInDim);
TLALOC_ROW(Reshape);
TLALOC_ROW(Transpose);

Val broadcast_in_dim(Val x, std::span<const Dim> shape, std::span<const std::int64_t> axes) {
  return ir::Builder::current().emit(
      rows::BroadcastInDim,
      ir::make_attr(BroadcastInDimAttrs{{shape.begin(), shape.end()}, {axes.begin(), axes.end()}}),
      {x});
}
Val broadcast_to(Val x, std::span<const Dim> shape) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(shape.size()) - x.rank());
  return broadcast_in_dim(x, shape, axes);
}
Val reshape(Val x, std::span<const Dim> shape) {
  return ir::Builder::current().emit(
      rows::Reshape, ir::make_attr(ReshapeAttrs{{shape.begin(), shape.end()}}), {x});
}
Val transpose(Val x, std::span<const std::int64_t> permutation) {
  return ir::Builder::current().emit(
      rows::Transpose, ir::make_attr(TransposeAttrs{{permutation.begin(), permutation.end()}}),
      {x});
}

}  // namespace tlaloc::ops
