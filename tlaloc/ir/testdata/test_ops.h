// A few ops for tests of this folder, which comes before the op table.
#pragma once

#include <array>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::ir::test {

struct ConstantAttrs {
  Literal value;
  static constexpr auto fields() { return std::tuple(field("value", &ConstantAttrs::value)); }
};
struct ShapeAttrs {
  std::vector<Dim> shape;
  static constexpr auto fields() { return std::tuple(field("shape", &ShapeAttrs::shape)); }
};
struct DimAttrs {
  Dim size;
  static constexpr auto fields() { return std::tuple(field("size", &DimAttrs::size)); }
};

enum class Mode : std::uint8_t { clamp, wrap };
constexpr std::array<std::string_view, 2> enum_names(Mode) { return {"clamp", "wrap"}; }
struct Window {
  std::int64_t low = 0;
  std::optional<Dim> high;
  static constexpr auto fields() {
    return std::tuple(field("low", &Window::low), field("high", &Window::high));
  }
};
/// One field of each kind.
struct EverythingAttrs {
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  DType dtype = DType::f32;
  Dim dim;
  Type type = Type::scalar(DType::f32);
  Literal literal{HostArray::scalar(0.0f)};
  Mode mode = Mode::clamp;
  std::vector<bool> flags;
  std::vector<double> reals;
  std::optional<std::int64_t> maybe;
  std::vector<Window> windows;
  static constexpr auto fields() {
    using A = EverythingAttrs;
    return std::tuple(field("flag", &A::flag), field("integer", &A::integer),
                      field("real", &A::real), field("text", &A::text), field("dtype", &A::dtype),
                      field("dim", &A::dim), field("type", &A::type), field("literal", &A::literal),
                      field("mode", &A::mode), field("flags", &A::flags), field("reals", &A::reals),
                      field("maybe", &A::maybe), field("windows", &A::windows));
  }
};

template <class A>
AttrRef parse_attrs(Parser& p) {
  A a;
  parse_fields(p, a);
  return make_attr(std::move(a));
}

inline void take(InferContext& c, std::size_t count) {
  if (c.in.size() != count) c.fail("TL-ARITY-001", "takes another number of operands");
}
inline void infer_unary(InferContext& c) {
  take(c, 1);
  c.out.push_back(c.in[0]);
}
inline void infer_binary(InferContext& c) {
  take(c, 2);
  if (c.in[0].dtype() != c.in[1].dtype()) c.fail("TL-DTYPE-001", "dtypes differ");
  if (c.in[0].rank() != c.in[1].rank()) c.fail("TL-RANK-001", "ranks differ");
  for (int i = 0; i < c.in[0].rank(); ++i) {
    c.require_equal(c.in[0].dim(i), c.in[1].dim(i), "axis " + std::to_string(i));
  }
  c.out.push_back(c.in[0]);
}
inline void infer_less(InferContext& c) {
  infer_binary(c);
  c.out[0] = c.out[0].with_dtype(DType::boolean);
}
inline void infer_split(InferContext& c) {
  take(c, 1);
  c.out.assign(2, c.in[0]);
}
inline void infer_sum(InferContext& c) {
  take(c, 1);
  c.out.push_back(Type::scalar(c.in[0].dtype()));
}
inline void infer_constant(InferContext& c) {
  take(c, 0);
  const HostArray& v = c.as<ConstantAttrs>().value.value;
  const std::vector<Dim> shape(v.extents().begin(), v.extents().end());
  c.out.push_back(Type::get(v.dtype(), shape));
}
inline void infer_shape(InferContext& c) {
  take(c, 0);
  c.out.push_back(Type::get(DType::f32, c.as<ShapeAttrs>().shape));
}
inline void infer_slice(InferContext& c) {
  take(c, 1);
  if (c.in[0].rank() != 1) c.fail("TL-RANK-001", "takes rank 1");
  const Dim size = c.as<DimAttrs>().size;
  c.require_less_equal(size, c.in[0].dim(0), "size");
  c.out.push_back(Type::get(c.in[0].dtype(), {size}));
}
inline void infer_dim_value(InferContext& c) {
  take(c, 0);
  c.out.push_back(Type::scalar(DType::i64));
}
inline void infer_print(InferContext& c) { take(c, 1); }
inline Val simplify_neg(const Call& c) {
  Builder& b = Builder::current();
  return b.op_of(c.in[0]) == c.op ? b.operand_of(c.in[0], 0) : Val{};
}

constexpr OpDef op(const char* name, InferFn infer, Traits traits = {},
                   AttrRef (*parse)(Parser&) = nullptr, SimplifyFn simplify = nullptr) {
  OpDef d{};
  d.name = name;
  d.doc = "";
  d.traits = traits;
  d.parse_attr = parse;
  d.infer = infer;
  d.simplify = simplify;
  return d;
}

inline constinit const OpDef kAdd = op("add", infer_binary, {.commutative = true});
inline constinit const OpDef kSub = op("sub", infer_binary);
inline constinit const OpDef kLess = op("less", infer_less);
inline constinit const OpDef kSin = op("sin", infer_unary);
inline constinit const OpDef kNeg = op("neg", infer_unary, {}, nullptr, simplify_neg);
inline constinit const OpDef kSum = op("sum", infer_sum);
inline constinit const OpDef kSplit = op("split", infer_split);
inline constinit const OpDef kPrint = op("print", infer_print, {.ordered = true});
inline constinit const OpDef kBarrier = op("barrier", infer_unary, {.unique = true});
inline constinit const OpDef kConstant =
    op("constant", infer_constant, {}, parse_attrs<ConstantAttrs>);
inline constinit const OpDef kFill = op("fill", infer_shape, {}, parse_attrs<ShapeAttrs>);
inline constinit const OpDef kSlice = op("slice", infer_slice, {}, parse_attrs<DimAttrs>);
inline constinit const OpDef kDimValue =
    op("dim_value", infer_dim_value, {}, parse_attrs<DimAttrs>);
inline constinit const OpDef kEverything =
    op("everything", infer_unary, {}, parse_attrs<EverythingAttrs>);

inline const OpDef* find(std::string_view name) {
  for (const OpDef* d : {&kAdd, &kSub, &kLess, &kSin, &kNeg, &kSum, &kSplit, &kPrint, &kBarrier,
                         &kConstant, &kFill, &kSlice, &kDimValue, &kEverything}) {
    if (d->name == name) return d;
  }
  return nullptr;
}

// ---- emission into the innermost trace ----

inline Val emit(const OpDef& op, std::initializer_list<Val> in, AttrRef attr = nullptr) {
  return Builder::current().emit(op, std::move(attr), in);
}
inline Val add(Val a, Val b) { return emit(kAdd, {a, b}); }
inline Val sub(Val a, Val b) { return emit(kSub, {a, b}); }
inline Val less(Val a, Val b) { return emit(kLess, {a, b}); }
inline Val sin(Val a) { return emit(kSin, {a}); }
inline Val neg(Val a) { return emit(kNeg, {a}); }
inline Val sum(Val a) { return emit(kSum, {a}); }
inline Val slice(Val a, Dim size) { return emit(kSlice, {a}, make_attr(DimAttrs{size})); }
inline Val fill(std::vector<Dim> shape) {
  return emit(kFill, {}, make_attr(ShapeAttrs{std::move(shape)}));
}
inline Val dim_value(Dim d) { return emit(kDimValue, {}, make_attr(DimAttrs{d})); }
inline Val constant(HostArray value) {
  return emit(kConstant, {}, make_attr(ConstantAttrs{{std::move(value)}}));
}
inline Val scalar(float value) { return constant(HostArray::scalar(value)); }

inline Type f32(std::initializer_list<Dim> shape) { return Type::get(DType::f32, shape); }

}  // namespace tlaloc::ir::test
