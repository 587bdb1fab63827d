// Indexing by values.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

void require_axis(const OpCall& call, const Ref& x, int axis) {
  if (axis >= 0 && axis < rank(x)) return;
  throw UserError({"TL-AXIS-001", call.name,
                   "axis " + std::to_string(axis) + " is out of range for " + describe(x), "",
                   user_place(call.where)});
}
void require_integers(const OpCall& call, const Ref& indices) {
  if (is_integer(dtype(indices))) return;
  throw UserError({"TL-DTYPE-003", call.name, "the indices are " + describe(indices),
                   "convert them to integers", user_place(call.where)});
}

/// Indices whose values are known are checked before anything runs.
void require_in_range(const OpCall& call, const Ref& x, int axis, const Ref& indices) {
  const Node& n = node(indices);
  const Dim size = node(x).type.dim(axis);
  if (n.traced() || !size.is_constant()) return;
  const std::int64_t limit = size.constant();
  const bool is_signed = is_signed_integer(n.array().dtype());
  for (std::int64_t k = 0; k < n.array().size(); ++k) {
    const std::int64_t i = n.array().element_int(k);
    if (i < limit && i >= (is_signed ? -limit : 0)) continue;
    throw UserError(
        {"TL-INDEX-001", call.name,
         "index " + std::to_string(i) + " is out of range for axis " + std::to_string(axis) +
             " of " + describe(x),
         "valid are " + std::to_string(is_signed ? -limit : 0) + " to " + std::to_string(limit - 1),
         user_place(call.where)});
  }
}

/// Negative indices count from the end.
Val wrapped(Val indices, Dim size) {
  if (!is_signed_integer(indices.dtype())) return indices;
  const Val zero = ops::scalar_int(0, indices.dtype());
  // Wide enough to hold the size, which a small index type may not.
  const Val wide = ops::convert(indices, DType::i64);
  const Val moved = ops::add(wide, ops::dim_value(size));
  return ops::select(ops::compare(ops::Comparison::lt, indices, zero), moved, wide);
}

}  // namespace

Ref take(const Ref& x, int axis, const Ref& indices, AxesSpec axes, Where where, Outside outside) {
  const OpCall call{"take", where, Variant::of(axis, outside)};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    require_integers(call, indices);
    require_in_range(call, x, axis, indices);
    return apply(call, std::array{x, indices}, axes, [&](std::span<const Val> in) {
      return ops::take(in[0], wrapped(in[1], in[0].dim(axis)), axis,
                       outside == Outside::fill ? ops::OutOfBounds::fill : ops::OutOfBounds::clip);
    });
  });
}

Ref take_along_axis(const Ref& x, int axis, const Ref& indices, AxesSpec axes, Where where) {
  const OpCall call{"take_along_axis", where, Variant::of(axis)};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    require_integers(call, indices);
    if (rank(x) != rank(indices)) {
      throw UserError({"TL-RANK-001", call.name,
                       "the ranks of " + describe(x) + " and " + describe(indices) + " differ",
                       "give indices of the operand's rank", user_place(where)});
    }
    for (int i = 0; i < rank(x); ++i) {
      if (i != axis) require_same(call, "TL-SHAPE-006", x, i, indices, i);
    }
    require_in_range(call, x, axis, indices);
    return apply(call, std::array{x, indices}, axes, [&](std::span<const Val> in) {
      ops::GatherAttrs attrs;
      attrs.dims.collapsed_axes = {axis};
      attrs.dims.index_map = {axis};
      for (int i = 0; i < in[0].rank(); ++i) {
        if (i == axis) continue;
        attrs.dims.operand_batch.push_back(i);
        attrs.dims.indices_batch.push_back(i);
      }
      attrs.dims.vector_axis = in[1].rank();
      attrs.mode = ops::OutOfBounds::fill;
      attrs.sizes.assign(usize(in[0].rank()), Dim(1));
      return ops::gather(in[0], wrapped(in[1], in[0].dim(axis)), std::move(attrs));
    });
  });
}

Ref scatter(ScatterOp op, const Ref& x, int axis, const Ref& indices, const Ref& updates,
            AxesSpec axes, Where where) {
  struct Row {
    const char* name;
    ops::Update update;
  };
  constexpr std::array<Row, static_cast<std::size_t>(ScatterOp::count)> kRows{
      {{"scatter_add", ops::Update::add},
       {"scatter_mul", ops::Update::mul},
       {"scatter_min", ops::Update::min},
       {"scatter_max", ops::Update::max},
       {"scatter_set", ops::Update::set}}};
  const Row& row = kRows[static_cast<std::size_t>(op)];
  const OpCall call{row.name, where, Variant::of(axis)};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    require_integers(call, indices);
    require_in_range(call, x, axis, indices);
    return apply(call, std::array{x, indices, updates}, kept_labels(x, axes),
                 [&](std::span<const Val> in) {
                   return ops::scatter_at(in[0], wrapped(in[1], in[0].dim(axis)), in[2], axis,
                                          row.update, ops::OutOfBounds::fill);
                 });
  });
}

Ref one_hot(const Ref& ids, DType dtype, AxesSpec axes, Where where) {
  const OpCall call{"one_hot", where};
  return with_place(where, [&] {
    require_integers(call, ids);
    const Dim classes = size_of_axis(call, axes, static_cast<int>(axes.size()) - 1, {});
    return apply(call, std::array{ids}, axes, [&](std::span<const Val> in) {
      std::vector<Dim> shape(in[0].shape().begin(), in[0].shape().end());
      shape.push_back(classes);
      // In i64, as a small index type may not hold the number of classes.
      const int last = in[0].rank();
      std::vector<std::int64_t> leading;
      for (int i = 0; i < last; ++i) leading.push_back(i);
      const Val id = ops::broadcast_in_dim(ops::convert(in[0], DType::i64), shape, leading);
      const Val index = ops::iota(ir::Type::get(DType::i64, shape), last);
      return ops::convert(ops::compare(ops::Comparison::eq, id, index), dtype);
    });
  });
}

Ref dynamic_slice(const Ref& x, int axis, const Ref& start, std::int64_t size, AxesSpec axes,
                  Where where) {
  const OpCall call{"dynamic_slice", where};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    require_integers(call, start);
    const Dim have = node(x).type.dim(axis);
    if (size < 0 || ir::less_equal(Dim(size), have) == ir::Truth::no) {
      throw UserError({"TL-SHAPE-007", call.name,
                       std::to_string(size) + " elements of axis " + std::to_string(axis) + " of " +
                           describe(x),
                       "ask for no more than the axis has", user_place(where)});
    }
    return apply(call, std::array{x, start}, kept_labels(x, axes), [&](std::span<const Val> in) {
      std::vector<Dim> sizes(in[0].shape().begin(), in[0].shape().end());
      sizes[usize(axis)] = Dim(size);
      ir::Vals starts(usize(in[0].rank()), ops::scalar_int(0, in[1].dtype()));
      starts[usize(axis)] = in[1];
      return ops::dynamic_slice(in[0], starts, sizes);
    });
  });
}

Ref dynamic_update(const Ref& x, const Ref& block, std::span<const Ref> starts, AxesSpec axes,
                   Where where) {
  const OpCall call{"dynamic_update", where};
  return with_place(where, [&] {
    if (static_cast<int>(starts.size()) != rank(x)) {
      throw UserError({"TL-RANK-001", call.name,
                       std::to_string(starts.size()) + " starts for " + describe(x),
                       "give one start per axis", user_place(where)});
    }
    for (const Ref& s : starts) require_integers(call, s);
    std::vector<Ref> operands{x, block};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return apply(call, operands, kept_labels(x, axes), [&](std::span<const Val> in) {
      return ops::dynamic_update_slice(in[0], in[1], in.subspan(2));
    });
  });
}

Ref axis_size(const Ref& x, int axis, Where where) {
  const OpCall call{"axis_size", where};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    const Dim d = node(x).type.dim(axis);
    if (d.is_constant()) return scalar_int(DType::i64, d.constant());
    return apply(call, std::array{x}, AxesSpec(),
                 [&](std::span<const Val>) { return ops::dim_value(d); });
  });
}

Ref roll(const Ref& x, const Ref& shift, int axis, AxesSpec axes, Where where) {
  const OpCall call{"roll", where};
  return with_place(where, [&] {
    require_axis(call, x, axis);
    require_integers(call, shift);
    if (node(x).type.dim(axis) == Dim(0)) return x;
    return apply(call, std::array{x, shift}, kept_labels(x, axes), [&](std::span<const Val> in) {
      const Dim size = in[0].dim(axis);
      const Val n = ops::dim_value(size);
      const Val position = ops::iota(ir::Type::get(DType::i64, {size}), 0);
      // The remainder first: position - shift would wrap around for the lowest of all shifts.
      const Val from = ops::sub(position, ops::rem(ops::convert(in[1], DType::i64), n));
      // from mod n: a negative remainder is moved up.
      const Val rest = ops::rem(from, n);
      const Val zero = ops::scalar_int(0, DType::i64);
      const Val index =
          ops::select(ops::compare(ops::Comparison::lt, rest, zero), ops::add(rest, n), rest);
      return ops::take(in[0], index, axis);
    });
  });
}

}  // namespace tlaloc::core
