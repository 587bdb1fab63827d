// Values made from numbers and sizes.
#include <array>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

/// Sizes may belong to a trace: then what is made of them does too. Operands that only give sizes
/// are operands, so that the operation is recorded.
std::vector<Ref> with_sizes(std::initializer_list<Ref> operands, std::span<const Ref> size_like) {
  std::vector<Ref> all = operands;
  for (const Ref& x : size_like) {
    if (node(x).traced() && node(x).type.has_symbols()) all.push_back(x);
  }
  return all;
}

/// True on and below the diagonal `diagonal` of the last two axes of a shape.
Val below_diagonal(std::span<const Dim> shape, std::int64_t diagonal, ops::Comparison comparison) {
  const ir::Type type = ir::Type::get(DType::i64, shape);
  const int rows = type.rank() - 2;
  const Val row = ops::iota(type, rows), column = ops::iota(type, rows + 1);
  return ops::compare(comparison, column, ops::add(row, ops::scalar_int(diagonal, DType::i64)));
}

}  // namespace

Ref full_like(const Ref& x, double value, Where where) {
  return apply({"full_like", where}, std::array{x}, node(x).labels,
               [&](std::span<const Val> in) { return ops::full(value, in[0].type()); });
}

Ref arange(const Ref& start, const Ref& step, std::span<const Ref> size_like, AxesSpec axes,
           Where where) {
  const OpCall call{"arange", where};
  return with_place(where, [&] {
    const Dim n = size_of_axis(call, axes, 0, size_like);
    return apply(call, with_sizes({start, step}, size_like), axes, [&](std::span<const Val> in) {
      const Val index = ops::iota(ir::Type::get(in[0].dtype(), {n}), 0);
      return ops::add(in[0], ops::mul(in[1], index));
    });
  });
}

Ref linspace(const Ref& start, const Ref& stop, AxesSpec axes, Where where) {
  const OpCall call{"linspace", where};
  return with_place(where, [&] {
    const Dim n = size_of_axis(call, axes, 0, {});
    return apply(call, std::array{start, stop}, axes, [&](std::span<const Val> in) {
      const ir::Type type = ir::Type::get(in[0].dtype(), {n});
      if (n == Dim(1)) return ops::broadcast_to(in[0], type.shape());
      // Both ends exactly: (1 - t) start + t stop, as in JAX.
      const Val last = ops::full(static_cast<double>(n.constant() - 1), type);
      const Val t = ops::div(ops::iota(type, 0), last);
      const Val mixed = ops::add(ops::mul(in[0], ops::sub(ops::ones(type), t)), ops::mul(in[1], t));
      const Val at_end = ops::compare(ops::Comparison::eq, ops::iota(type, 0), last);
      return ops::select(at_end, ops::broadcast_to(in[1], type.shape()), mixed);
    });
  });
}

Ref eye(DType dtype, std::int64_t diagonal, std::span<const Ref> size_like, AxesSpec axes,
        Where where) {
  const OpCall call{"eye", where};
  return with_place(where, [&] {
    std::vector<Dim> shape;
    for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
      shape.push_back(size_of_axis(call, axes, i, size_like));
    }
    return apply(call, with_sizes({}, size_like), axes, [&](std::span<const Val>) {
      return ops::convert(below_diagonal(shape, diagonal, ops::Comparison::eq), dtype);
    });
  });
}

Ref triangle(const Ref& x, bool upper, std::int64_t diagonal, AxesSpec axes, Where where) {
  const OpCall call{upper ? "triu" : "tril", where};
  return with_place(where, [&] {
    if (rank(x) < 2) {
      throw UserError({"TL-RANK-001", call.name, describe(x) + " has fewer than two axes",
                       "give a matrix", user_place(where)});
    }
    return apply(call, std::array{x}, axes.empty() ? node(x).labels : labels_of(axes),
                 [&](std::span<const Val> in) {
                   const Val keep = below_diagonal(
                       in[0].shape(), diagonal, upper ? ops::Comparison::ge : ops::Comparison::le);
                   return ops::select(keep, in[0], ops::zeros_like(in[0]));
                 });
  });
}

}  // namespace tlaloc::core
