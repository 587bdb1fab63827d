// Ops that move elements, in tensor mode.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/ops/joining.h"
#include "tlaloc/ops/shape_ops.h"
#include "tlaloc/ops/slice.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;
namespace rows = ops::rows;

std::string list_text(std::span<const std::int64_t> values) {
  std::string s;
  for (std::int64_t v : values) s += (s.empty() ? "" : ", ") + std::to_string(v);
  return s;
}
std::int64_t number(Dim d, const ir::Node& n, const char* what) {
  if (!d.is_constant()) {
    TensorLowering::refuse(n, std::string(what) + " is " + d.to_string() +
                                  ", and the public API takes it as a number in the type");
  }
  return d.constant();
}
void put(TensorLowering& l, TensorCall& c, ExprRef e) {
  c.out.push_back(l.named(c.types[0], std::move(e), c.node.origin()));
}

/// Stays as it is where the operand broadcasts by itself: scalars, trailing axes, or axes of size 1
/// put in by tl::expand.
void print_broadcast(TensorLowering& l, TensorCall& c) {
  const auto& axes = c.node.as<ops::BroadcastInDimAttrs>().axes;
  const TensorValue& x = c.in[0];
  const Type type = c.types[0];
  if (x.base.rank() == 0) {
    c.out.push_back({type, x.base, x.expr, x.constant});
    return;
  }
  ExprRef e = l.full(x, c.node);
  // Trailing axes as they are need nothing; others get axes of size 1 between and in front.
  const bool trailing =
      axes.empty() || (axes.back() == type.rank() - 1 &&
                       axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size()) &&
                       std::ranges::equal(x.type.shape(), type.shape().last(axes.size())));
  std::vector<Dim> base(x.type.shape().begin(), x.type.shape().end());
  for (int i = 0, next = 0; !trailing && i < type.rank(); ++i) {
    if (static_cast<std::size_t>(next) < axes.size() && axes[static_cast<std::size_t>(next)] == i) {
      ++next;
      continue;
    }
    e = call("tl::expand<" + std::to_string(i) + ">", {e});
    base.insert(base.begin() + i, 1);
  }
  const Type small = Type::get(type.dtype(), base);
  TensorValue v = l.named(small, e, c.node.origin());
  v.type = type;
  c.out.push_back(std::move(v));
}

void print_reshape(TensorLowering& l, TensorCall& c) {
  const TensorValue& x = c.in[0];
  const Type from = x.type, to = c.types[0];
  if (from == to || x.base.rank() == 0) {
    c.out.push_back({to, x.base.rank() == 0 ? x.base : to, x.expr, x.constant});
    return;
  }
  const ExprRef e = l.full(x, c.node);
  auto real = [](Type t) {
    std::vector<Dim> r;
    for (Dim d : t.shape()) {
      if (d != Dim(1)) r.push_back(d);
    }
    return r;
  };
  if (real(from) == real(to)) {
    // Axes of size 1 come and go one at a time.
    std::vector<std::int64_t> dropped;
    ExprRef r = e;
    std::size_t k = 0;
    std::vector<std::int64_t> added;
    for (int i = 0; i < to.rank(); ++i) {
      if (k < usize(from.rank()) && from.dim(static_cast<int>(k)) == to.dim(i)) {
        ++k;
      } else if (to.dim(i) == Dim(1)) {
        added.push_back(i);
      } else {
        while (k < usize(from.rank()) && from.dim(static_cast<int>(k)) != to.dim(i))
          dropped.push_back(static_cast<std::int64_t>(k++));
        ++k;
      }
    }
    while (k < usize(from.rank())) dropped.push_back(static_cast<std::int64_t>(k++));
    if (!dropped.empty()) r = call("tl::squeeze<" + list_text(dropped) + ">", {r});
    for (std::int64_t i : added) r = call("tl::expand<" + std::to_string(i) + ">", {r});
    return put(l, c, r);
  }
  const auto open = std::ranges::count_if(to.shape(), [](Dim d) { return !d.is_constant(); });
  if (open > 1) TensorLowering::refuse(c.node, "two sizes of the result are open");
  put(l, c, call("tl::reshape<" + TensorLowering::dims_text(to.shape()) + ">", {e}));
}

void print_transpose(TensorLowering& l, TensorCall& c) {
  const auto& p = c.node.as<ops::TransposeAttrs>().permutation;
  if (c.in[0].base.rank() == 0) {
    c.out.push_back({c.types[0], c.in[0].base, c.in[0].expr, c.in[0].constant});
    return;
  }
  put(l, c, call("tl::transpose<" + list_text(p) + ">", {l.full(c.in[0], c.node)}));
}
void print_reverse(TensorLowering& l, TensorCall& c) {
  const auto& axes = c.node.as<ops::ReverseAttrs>().axes;
  put(l, c, call("tl::flip<" + list_text(axes) + ">", {l.full(c.in[0], c.node)}));
}

void print_slice(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::SliceAttrs>();
  const Type from = c.in[0].type;
  ExprRef e = l.full(c.in[0], c.node);
  for (int i = 0; i < from.rank(); ++i) {
    const Dim start = a.start[usize(i)].substitute(c.dims), n = from.dim(i);
    const Dim limit = a.limit[usize(i)].substitute(c.dims);
    const Dim step = a.strides[usize(i)].substitute(c.dims);
    if (start == Dim(0) && limit == n && step == Dim(1)) continue;
    const std::int64_t low = number(start, c.node, "a start");
    const std::int64_t high = number(limit, c.node, "a limit");
    const std::int64_t by = number(step, c.node, "a stride");
    std::vector<std::int64_t> args{i, low, high};
    if (by != 1) args.push_back(by);
    e = call("tl::slice<" + list_text(args) + ">", {e});
  }
  put(l, c, e);
}
void print_pad(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::PadAttrs>();
  ExprRef e = l.full(c.in[0], c.node);
  for (int i = 0; i < c.types[0].rank(); ++i) {
    std::vector<std::int64_t> args{i, number(a.low[usize(i)].substitute(c.dims), c.node, "padding"),
                                   number(a.high[usize(i)].substitute(c.dims), c.node, "padding")};
    const std::int64_t inner = number(a.interior[usize(i)].substitute(c.dims), c.node, "padding");
    if (args[1] == 0 && args[2] == 0 && inner == 0) continue;
    if (inner != 0) args.push_back(inner);
    Exprs in{e};
    const std::string& value = c.in[1].expr->text;
    if (value != "0.0" && value != "0.0f" && value != "0") in.push_back(c.in[1].expr);
    e = call("tl::pad<" + list_text(args) + ">", std::move(in));
  }
  put(l, c, e);
}
void print_concatenate(TensorLowering& l, TensorCall& c) {
  Exprs parts;
  for (const TensorValue& v : c.in) parts.push_back(l.full(v, c.node));
  const std::int64_t axis = c.node.as<ops::ConcatenateAttrs>().axis;
  put(l, c, call("tl::concat<" + std::to_string(axis) + ">", std::move(parts)));
}

constexpr TensorRow kRows[] = {
    {&rows::BroadcastInDim, print_broadcast},
    {&rows::Reshape, print_reshape},
    {&rows::Transpose, print_transpose},
    {&rows::Reverse, print_reverse},
    {&rows::Slice, print_slice},
    {&rows::Pad, print_pad},
    {&rows::Concatenate, print_concatenate},
};

}  // namespace

std::span<const TensorRow> tensor_shape_rules() { return kRows; }

}  // namespace tlaloc::cxx
