// Reading and writing at positions that are values, in tensor mode.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/ops/gather_scatter.h"
#include "tlaloc/ops/slice.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;
namespace rows = ops::rows;

void print_dynamic_slice(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::DynamicSliceAttrs>();
  if (a.batch_axes > 0) TensorLowering::refuse(c.node, "its starts differ between lanes");
  ExprRef e = l.full(c.in[0], c.node);
  for (int i = 0; i < c.in[0].type.rank(); ++i) {
    const Dim size = a.sizes[usize(i)].substitute(c.dims);
    if (size == c.in[0].type.dim(i)) continue;
    if (!size.is_constant()) TensorLowering::refuse(c.node, "the size of its window is open");
    e = call(
        "tl::dynamic_slice<" + std::to_string(i) + ", " + std::to_string(size.constant()) + ">",
        {e, c.in[usize(i) + 1].expr});
  }
  c.out.push_back(l.named(c.types[0], e, c.node.origin()));
}
void print_dynamic_update(TensorLowering& l, TensorCall& c) {
  if (c.node.as<ops::DynamicUpdateSliceAttrs>().batch_axes > 0) {
    TensorLowering::refuse(c.node, "its starts differ between lanes");
  }
  Exprs args{l.full(c.in[0], c.node), l.full(c.in[1], c.node)};
  for (const TensorValue& start : c.in.subspan(2)) args.push_back(start.expr);
  c.out.push_back(
      l.named(c.types[0], call("tl::dynamic_update", std::move(args)), c.node.origin()));
}

/// The axis, if the dimension numbers are those of tl::take along one.
std::optional<std::int64_t> taken_axis(const ops::IndexDims& d, int operand_rank, int index_rank) {
  if (d.index_map.size() != 1 || !d.operand_batch.empty() || d.vector_axis != index_rank ||
      d.collapsed_axes != d.index_map) {
    return std::nullopt;
  }
  const std::int64_t axis = d.index_map[0];
  ops::AxisList windows;
  for (std::int64_t i = 0; i < operand_rank + index_rank - 1; ++i) {
    if (i < axis || i >= axis + index_rank) windows.push_back(i);
  }
  return windows == d.window_axes ? std::optional(axis) : std::nullopt;
}
/// Positions that tl::take accepts and that mean the same: in range, clamped as the op clamps.
ExprRef positions(TensorLowering& l, const TensorCall& c, Dim n) {
  const ExprRef i = l.full(c.in[1], c.node);
  if (!n.is_constant()) {
    TensorLowering::refuse(c.node, "the size of the axis that it reads is open");
  }
  return call("tl::clip", {i, integer(0), integer(n.constant() - 1)});
}

void print_gather(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::GatherAttrs>();
  const Type x = c.in[0].type;
  const auto axis = taken_axis(a.dims, x.rank(), c.in[1].type.rank());
  if (!axis || a.mode == ops::OutOfBounds::fill) {
    TensorLowering::refuse(c.node, "the public API takes along one axis, in range");
  }
  const ExprRef at = positions(l, c, x.dim(static_cast<int>(*axis)));
  c.out.push_back(l.named(
      c.types[0], call("tl::take<" + std::to_string(*axis) + ">", {l.full(c.in[0], c.node), at}),
      c.node.origin()));
}
void print_scatter(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::ScatterAttrs>();
  const Type x = c.in[0].type;
  const auto axis = taken_axis(a.dims, x.rank(), c.in[1].type.rank());
  if (!axis || a.update != ops::Update::add || a.mode == ops::OutOfBounds::fill) {
    TensorLowering::refuse(c.node, "the public API adds along one axis, in range");
  }
  const ExprRef at = positions(l, c, x.dim(static_cast<int>(*axis)));
  c.out.push_back(l.named(c.types[0],
                          call("tl::scatter_add<" + std::to_string(*axis) + ">",
                               {l.full(c.in[0], c.node), at, l.full(c.in[2], c.node)}),
                          c.node.origin()));
}

constexpr TensorRow kRows[] = {
    {&rows::DynamicSlice, print_dynamic_slice},
    {&rows::DynamicUpdateSlice, print_dynamic_update},
    {&rows::Gather, print_gather},
    {&rows::Scatter, print_scatter},
};

}  // namespace

std::span<const TensorRow> tensor_index_rules() { return kRows; }

}  // namespace tlaloc::cxx
