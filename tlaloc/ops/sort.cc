#include "tlaloc/ops/sort.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/lines.h"
#include "tlaloc/ops/scalar_graph.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

using Positions = std::vector<std::int64_t>;
using Before = std::function<bool(std::int64_t, std::int64_t)>;

/// Merges runs. Unlike std::stable_sort it stays within bounds whatever `before` answers, which may
/// be any graph.
void merge_sort(Positions& p, const Before& before) {
  Positions other(p.size());
  for (std::size_t width = 1; width < p.size(); width *= 2) {
    for (std::size_t i = 0; i < p.size(); i += 2 * width) {
      const auto at = [&](std::size_t k) {
        return p.begin() + static_cast<std::ptrdiff_t>(std::min(k, p.size()));
      };
      std::merge(at(i), at(i + width), at(i + width), at(i + 2 * width),
                 other.begin() + static_cast<std::ptrdiff_t>(i), before);
    }
    p.swap(other);
  }
}

/// -1, 0 or 1. NaN is equal to NaN and above the rest.
template <class T>
int standard_order(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  return (a != a) - (b != b);
}
/// Offset a comes before offset b, by the first `keys` arrays.
Before standard_before(std::span<const HostArray> in, std::int64_t keys, bool descending) {
  std::vector<std::function<int(std::int64_t, std::int64_t)>> orders;
  for (const HostArray& key : in.first(static_cast<std::size_t>(keys))) {
    dispatch(key.dtype(), [&]<class T>(TypeTag<T>) {
      orders.push_back([x = static_cast<const T*>(key.data())](std::int64_t a, std::int64_t b) {
        return standard_order(Storage<T>::load(x[a]), Storage<T>::load(x[b]));
      });
    });
  }
  return [orders = std::move(orders), descending](std::int64_t a, std::int64_t b) {
    for (const auto& order : orders) {
      const int o = descending ? order(b, a) : order(a, b);
      if (o) return o < 0;
    }
    return false;
  };
}
HostArray element_of(const HostArray& x, std::int64_t offset) {
  HostArray y = HostArray::uninitialized(x.dtype(), {});
  gather_strided(x, offset, {}, y);
  return y;
}
Before comparator_before(std::span<const HostArray> in, const ir::Graph& g) {
  return [in, &g](std::int64_t a, std::int64_t b) {
    std::vector<HostArray> args;
    for (const HostArray& x : in) {
      args.push_back(element_of(x, a));
      args.push_back(element_of(x, b));
    }
    return eval_scalar_graph(g, std::move(args)).at(0).as<bool>()[0];
  };
}

/// The smallest type for positions along an axis of n elements that surely suffices.
DType position_type(Dim n) {
  const Dim limit(std::int64_t{1} << 31);
  return less_equal(n, limit) == ir::Truth::yes ? DType::i32 : DType::i64;
}
Val positions_along(Type t, int axis, DType dtype) { return iota(t.with_dtype(dtype), axis); }

/// The comparator with one more operand in front or behind; in front it is the first key.
ir::GraphAttr with_operand(const ir::Graph& g, DType dtype, bool as_first_key) {
  ir::Builder b(g.name());
  auto pair = [&](DType t) { return Vals{b.param(Type::scalar(t)), b.param(Type::scalar(t))}; };
  Vals extra, args;
  if (as_first_key) extra = pair(dtype);
  for (Type t : g.param_types()) args.push_back(b.param(t));
  if (!as_first_key) extra = pair(dtype);
  Val before = emit_scalar_graph(g, args)[0];
  if (as_first_key) {
    const Val same = compare(Comparison::eq, extra[0], extra[1]);
    before = logical_or(extra[0] < extra[1], logical_and(same, before));
  }
  return {b.build({{before}})};
}

}  // namespace

// ---- sort ----

void Sort::infer(InferContext& c) {
  const auto& a = c.as<SortAttrs>();
  if (c.in.empty()) c.fail("TL-ARITY-001", "takes at least one operand");
  const Type x = c.in[0];
  if (a.axis < 0 || a.axis >= x.rank()) c.fail("TL-AXIS-001", "axis is out of range");
  if (a.num_keys < 1 || a.num_keys > static_cast<std::int64_t>(c.in.size())) {
    c.fail(kAttrError, "the number of keys must be from 1 to the number of operands");
  }
  std::vector<DType> pairs;
  for (Type t : c.in) {
    if (t.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
    if (is_complex(t.dtype())) c.fail(kDTypeError, "complex numbers have no order");
    if (t.rank() != x.rank()) c.fail("TL-RANK-001", "the operands' ranks differ");
    for (int i = 0; i < x.rank(); ++i) {
      c.require_equal(t.dim(i), x.dim(i), "axis " + std::to_string(i));
    }
    pairs.insert(pairs.end(), 2, t.dtype());
    c.out.push_back(t);
  }
  if (a.comparator) check_scalar_graph(c, *a.comparator, pairs, {DType::boolean});
}
void Sort::eval(EvalContext& c) {
  const auto& a = c.as<SortAttrs>();
  const std::vector<HostArray> in(c.in.begin(), c.in.end());
  std::vector<HostArray> out;
  for (std::size_t k = 0; k < in.size(); ++k) out.push_back(c.make(static_cast<int>(k)));
  const Before before = a.comparator ? comparator_before(in, *a.comparator->graph)
                                     : standard_before(in, a.num_keys, a.descending);
  const Lines lines(in[0].extents(), a.axis);
  Positions from(static_cast<std::size_t>(lines.length));
  lines.each([&](std::int64_t, std::int64_t first) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = first + static_cast<std::int64_t>(i) * lines.step;
    }
    merge_sort(from, before);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto size = static_cast<std::size_t>(byte_size(in[k].dtype()));
      const auto* source = static_cast<const std::byte*>(in[k].data());
      auto* target = static_cast<std::byte*>(out[k].mutable_data());
      for (std::size_t i = 0; i < from.size(); ++i) {
        const auto to = static_cast<std::size_t>(first) + i * static_cast<std::size_t>(lines.step);
        std::copy_n(source + static_cast<std::size_t>(from[i]) * size, size, target + to * size);
      }
    }
  });
  c.out = std::move(out);
}
void Sort::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  SortAttrs a = c.as<SortAttrs>();
  const int axis = static_cast<int>(a.axis);
  const DType dtype = position_type(c.in_types[0].dim(axis));
  Vals in(c.in.begin(), c.in.end());
  in.push_back(positions_along(c.in_types[0], axis, dtype));
  if (a.comparator) a.comparator = with_operand(*a.comparator->graph, dtype, false);
  const Val from = ir::Builder::current().emit_all(*c.op, ir::make_attr(a), in).back();
  for (std::size_t k = 0; k < dx.size(); ++k) {
    if (dx[k]) dy[k] = take_along(dx[k], from, axis);
  }
}
void Sort::batch(const Call& c, BatchContext& ctx) {
  SortAttrs a = c.as<SortAttrs>();
  ++a.axis;
  Vals in;
  for (std::size_t k = 0; k < c.in.size(); ++k) in.push_back(ctx.lifted(static_cast<int>(k)));
  // Padding has to stay behind the elements, NaN included: a key of its own says what it is.
  const Val zero = zeros(in[0].type().with_dtype(DType::i32));
  const bool last_is_lowest = a.descending && !a.comparator;
  const Val padding =
      ctx.mask_ragged(zero, static_cast<int>(a.axis),
                      last_is_lowest ? ir::Identity::lowest : ir::Identity::highest);
  const bool ragged = padding != zero;
  if (ragged) {
    in.insert(in.begin(), padding);
    ++a.num_keys;
    if (a.comparator) a.comparator = with_operand(*a.comparator->graph, DType::i32, true);
  }
  const Vals out = ir::Builder::current().emit_all(*c.op, ir::make_attr(a), in);
  for (std::size_t k = 0; k < c.in.size(); ++k) ctx.set(static_cast<int>(k), out[k + ragged]);
}

// ---- top_k ----

void TopK::infer(InferContext& c) {
  Unary::check_operand(c);
  const auto& a = c.as<TopKAttrs>();
  const Type x = c.in[0];
  if (is_complex(x.dtype())) c.fail(kDTypeError, "complex numbers have no order");
  if (!is_integer(a.dtype)) c.fail(kDTypeError, "positions are integers");
  if (x.rank() == 0) c.fail("TL-RANK-001", "needs an axis");
  const Dim n = x.dim(x.rank() - 1);
  c.require_less_equal(0, a.k, "k must not be negative");
  c.require_less_equal(a.k, n, "k must not exceed the last axis");
  if (byte_size(a.dtype) < 4) {
    const int bits = bit_width(a.dtype) - is_signed_integer(a.dtype);
    c.require_less_equal(n, std::int64_t{1} << bits, "positions must fit into the index type");
  }
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  shape.back() = a.k;
  c.out = {Type::get(x.dtype(), shape), Type::get(a.dtype, shape)};
}
void TopK::eval(EvalContext& c) {
  const HostArray x = c.take(0);
  HostArray values = c.make(0), positions = c.make(1);
  const Lines lines(x.extents(), x.rank() - 1);
  const std::int64_t k = c.out_extents[0].back();
  const Before before = standard_before(std::span(&x, 1), 1, true);
  Positions from(static_cast<std::size_t>(lines.length));
  lines.each([&](std::int64_t line, std::int64_t first) {
    std::iota(from.begin(), from.end(), first);
    merge_sort(from, before);
    dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
      const T* in = static_cast<const T*>(x.data());
      T* out = static_cast<T*>(values.mutable_data()) + line * k;
      for (std::int64_t i = 0; i < k; ++i) out[i] = in[from[static_cast<std::size_t>(i)]];
    });
    dispatch(positions.dtype(), [&]<class I>(TypeTag<I>) {
      I* out = static_cast<I*>(positions.mutable_data()) + line * k;
      for (std::int64_t i = 0; i < k; ++i) {
        out[i] = convert_element<I>(from[static_cast<std::size_t>(i)] - first);
      }
    });
  });
  c.out = {std::move(values), std::move(positions)};
}
void TopK::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = take_along(dx[0], c.out[1], c.in_types[0].rank() - 1);
}
void TopK::batch(const Call& c, BatchContext& ctx) {
  Val x = ctx.lifted(0);
  x = ctx.mask_ragged(x, x.rank() - 1, ir::Identity::lowest);
  const Vals out = ir::Builder::current().emit_all(*c.op, c.attr->shared_from_this(), {{x}});
  ctx.set(0, out[0]);
  ctx.set(1, out[1]);
}

TLALOC_ROW(Sort);
TLALOC_ROW(TopK);

Vals sort(std::span<const Val> operands, int axis, int num_keys, bool descending) {
  return ir::Builder::current().emit_all(
      rows::Sort, ir::make_attr(SortAttrs{axis, num_keys, descending, {}}), operands);
}
Vals sort(std::span<const Val> operands, int axis, ir::GraphRef comparator) {
  return ir::Builder::current().emit_all(
      rows::Sort, ir::make_attr(SortAttrs{axis, 1, false, ir::GraphAttr{std::move(comparator)}}),
      operands);
}
Sorted sort(Val x, int axis, bool descending) {
  const Vals r =
      sort(std::array{x, positions_along(x.type(), axis, DType::i32)}, axis, 1, descending);
  return {r[0], r[1]};
}
Sorted top_k(Val x, Dim k, DType dtype) {
  const Vals r =
      ir::Builder::current().emit_all(rows::TopK, ir::make_attr(TopKAttrs{k, dtype}), {{x}});
  return {r[0], r[1]};
}
Val take_along(Val x, Val positions, int axis) {
  GatherAttrs g;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    g.dims.operand_batch.push_back(i);
    g.dims.indices_batch.push_back(i);
  }
  g.dims.collapsed_axes = {axis};
  g.dims.index_map = {axis};
  g.dims.vector_axis = x.rank();
  g.sizes.assign(static_cast<std::size_t>(x.rank()), Dim(1));
  return gather(x, positions, std::move(g));
}

}  // namespace tlaloc::ops
