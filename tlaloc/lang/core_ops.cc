// Elementwise operations and reductions of the untyped core.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;
using ops::Comparison;

/// Names of rows of the op table, by UnaryOp.
constexpr std::array<const char*, static_cast<std::size_t>(UnaryOp::count)> kUnary{
    "neg",      "abs",     "sign",      "ceil",  "floor",  "round", "round_even",
    "exp",      "expm1",   "log",       "log1p", "sqrt",   "rsqrt", "cbrt",
    "logistic", "tanh",    "sin",       "cos",   "tan",    "asin",  "acos",
    "atan",     "sinh",    "cosh",      "asinh", "acosh",  "atanh", "erf",
    "erfc",     "erf_inv", "is_finite", "not",   "popcnt", "clz",   "stop_gradient"};

struct BinaryRow {
  const char* name;  ///< as errors name it
  const char* op;    ///< the row, or null for comparisons
  Comparison comparison = Comparison::eq;
};
constexpr std::array<BinaryRow, static_cast<std::size_t>(BinaryOp::count)> kBinary{{
    {"add", "add"},
    {"sub", "sub"},
    {"mul", "mul"},
    {"div", "div"},
    {"rem", "rem"},
    {"pow", "pow"},
    {"max", "max"},
    {"min", "min"},
    {"atan2", "atan2"},
    {"logical_and", "and"},
    {"logical_or", "or"},
    {"logical_xor", "xor"},
    {"shift_left", "shift_left"},
    {"shift_right_arithmetic", "shift_right_arithmetic"},
    {"shift_right_logical", "shift_right_logical"},
    {"eq", nullptr, Comparison::eq},
    {"ne", nullptr, Comparison::ne},
    {"lt", nullptr, Comparison::lt},
    {"le", nullptr, Comparison::le},
    {"gt", nullptr, Comparison::gt},
    {"ge", nullptr, Comparison::ge},
}};

constexpr std::array<const char*, static_cast<std::size_t>(ReduceOp::count)> kReduce{
    "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"};

template <class Op>
std::size_t index(Op op) {
  return static_cast<std::size_t>(op);
}

/// The shape that operands broadcast to. Requires sizes that meet to agree; only axes marked -1,
/// which are literal 1s, stretch.
class Broadcast {
 public:
  Broadcast(const OpCall& call, std::size_t rank)
      : call_(call), from_(rank), shape_(rank, Dim(1)) {}

  void add(const Ref& x, std::span<const int> axis_of_x) {
    const Node& n = node(x);
    internal_check(static_cast<int>(axis_of_x.size()) == n.type.rank(), "broadcast: wrong rank");
    for (int i = 0; i < n.type.rank(); ++i) {
      const int to = axis_of_x[static_cast<std::size_t>(i)];
      const Dim d = n.type.dim(i);
      if (to < 0) {
        internal_check(d == Dim(1), "broadcast: a stretched axis is not a literal 1");
        continue;
      }
      const auto at = static_cast<std::size_t>(to);
      internal_check(at < shape_.size(), "broadcast: axis out of range");
      if (!from_[at].x) {
        from_[at] = {&x, i};
        shape_[at] = d;
      } else {
        require_same(call_, "TL-SHAPE-001", *from_[at].x, from_[at].axis, x, i);
      }
    }
  }
  /// `v`, an operand added before, in the common shape.
  Val broadcast(Val v, std::span<const int> axis_of_x) const {
    return broadcast_val(v, axis_of_x, shape_);
  }

 private:
  struct Source {
    const Ref* x = nullptr;
    int axis = 0;
  };
  const OpCall& call_;
  std::vector<Source> from_;
  std::vector<Dim> shape_;
};

}  // namespace

const ir::OpDef& row(const char* name) {
  const ir::OpDef* op = ops::find(name);
  if (!op) throw InternalError(std::string("the op table has no ") + name);
  return *op;
}

const char* name_of(BinaryOp op) { return kBinary[index(op)].name; }

Ref unary(UnaryOp op, const Ref& x, AxesSpec axes, Where where) {
  const OpCall call{kUnary[index(op)], where, Variant::of()};
  return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
    return ir::Builder::current().emit(row(call.name), nullptr, {in[0]});
  });
}

double unary_number(UnaryOp op, DType dtype, double x, Where where) {
  return item(unary(op, scalar(dtype, x), {}, where), where);
}

Ref binary(BinaryOp op, const Ref& a, std::span<const int> axis_of_a, const Ref& b,
           std::span<const int> axis_of_b, AxesSpec axes, Where where) {
  const BinaryRow& r = kBinary[index(op)];
  const OpCall call{r.name, where, Variant::of(axes.size(), axis_of_a, axis_of_b)};
  return with_place(where, [&] {
    Broadcast shape(call, axes.size());
    shape.add(a, axis_of_a);
    shape.add(b, axis_of_b);
    return apply(call, std::array{a, b}, axes, [&](std::span<const Val> in) {
      const Val x = shape.broadcast(in[0], axis_of_a), y = shape.broadcast(in[1], axis_of_b);
      return r.op ? ir::Builder::current().emit(row(r.op), nullptr, {x, y})
                  : ops::compare(r.comparison, x, y);
    });
  });
}

Ref select(const Ref& p, std::span<const int> axis_of_p, const Ref& a,
           std::span<const int> axis_of_a, const Ref& b, std::span<const int> axis_of_b,
           AxesSpec axes, Where where) {
  const OpCall call{"select", where, Variant::of(axes.size(), axis_of_p, axis_of_a, axis_of_b)};
  return with_place(where, [&] {
    Broadcast shape(call, axes.size());
    shape.add(p, axis_of_p);
    shape.add(a, axis_of_a);
    shape.add(b, axis_of_b);
    return apply(call, std::array{p, a, b}, axes, [&](std::span<const Val> in) {
      const Val q = in[0].rank() == 0 ? in[0] : shape.broadcast(in[0], axis_of_p);
      return ops::select(q, shape.broadcast(in[1], axis_of_a), shape.broadcast(in[2], axis_of_b));
    });
  });
}

Ref convert(const Ref& x, DType dtype, AxesSpec axes, Where where) {
  return apply({"convert", where, Variant::of(dtype)}, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::convert(in[0], dtype); });
}

Ref reduce(ReduceOp op, const Ref& x, std::span<const int> over, bool keep, AxesSpec axes,
           Where where) {
  const OpCall call{kReduce[index(op)], where, Variant::of(over, keep)};
  return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
    if ((op == ReduceOp::all || op == ReduceOp::any) && in[0].dtype() != DType::boolean) {
      throw UserError({"TL-DTYPE-003",
                       call.name,
                       describe(x) + " has no bool elements",
                       "compare them, for example x != 0",
                       {}});
    }
    ops::ReduceAttrs attrs;
    attrs.axes.assign(over.begin(), over.end());
    std::ranges::sort(attrs.axes);
    std::vector<Dim> kept(in[0].shape().begin(), in[0].shape().end());
    for (std::int64_t axis : attrs.axes) {
      if (axis < 0 || axis >= in[0].rank()) {
        throw UserError({"TL-AXIS-001",
                         call.name,
                         "axis " + std::to_string(axis) + " is out of range for " + describe(x),
                         "",
                         {}});
      }
      kept[static_cast<std::size_t>(axis)] = Dim(1);
    }
    const Val y = attrs.axes.empty()
                      ? in[0]
                      : ir::Builder::current().emit(row(call.name), ir::make_attr(attrs), {in[0]});
    return keep ? ops::reshape(y, kept) : y;
  });
}

}  // namespace tlaloc::core
