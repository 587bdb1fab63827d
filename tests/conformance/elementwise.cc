// Cases of elementwise ops, constants included.
#include <array>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;
using ops::Comparison;

/// `make(params)` over all element types the op accepts: all shapes for the first of each kind,
/// a few for the others.
void over_dtypes(Cases& cases, const Row& row, const std::string& label,
                 const std::function<Vals(const Vals&)>& make) {
  const Cases::Build build = [&](const Vals& p, Sizes&) { return make(p); };
  bool seen_float = false, seen_other = false;
  for (DType t : dtypes()) {
    const std::vector<ir::Type> types(static_cast<std::size_t>(row.operands), ir::Type::scalar(t));
    if (!Cases::accepts(types, build)) continue;
    bool& seen = is_float(t) ? seen_float : seen_other;
    for (const Extents& shape : shapes(seen)) {
      std::vector<HostArray> inputs;
      for (int k = 0; k < row.operands; ++k) inputs.push_back(cases.array(t, shape));
      cases.add(label + shape_label(t, shape), std::move(inputs), build);
    }
    seen = true;
  }
}

void elementwise(Cases& cases, const Row& row) {
  over_dtypes(cases, row, "", [&](const Vals& p) -> Vals {
    return ir::Builder::current().emit_all(*row.op, nullptr, p);
  });
}
void comparisons(Cases& cases, const Row& row) {
  for (auto c : {Comparison::eq, Comparison::ne, Comparison::lt, Comparison::le, Comparison::gt,
                 Comparison::ge}) {
    const std::string label(ops::enum_names(c)[static_cast<std::size_t>(c)]);
    over_dtypes(cases, row, label + "/",
                [&](const Vals& p) -> Vals { return {ops::compare(c, p[0], p[1])}; });
  }
}
void selections(Cases& cases, const Row&) {
  for (DType t : dtypes()) {
    for (const Extents& shape : shapes(t != DType::f32)) {
      cases.add(shape_label(t, shape),
                {cases.array(DType::boolean, shape), cases.array(t, shape), cases.array(t, shape)},
                [](const Vals& p, Sizes&) -> Vals { return {ops::select(p[0], p[1], p[2])}; });
    }
  }
}
void conversions(Cases& cases, const Row&) {
  for (DType from : dtypes()) {
    for (DType to : dtypes()) {
      if (from == to) continue;  // the builder drops it
      for (const Extents& shape : {Extents{}, Extents{0, 3}, Extents{67}}) {
        cases.add(std::string(name(to)) + "/" + shape_label(from, shape),
                  {cases.array(from, shape)},
                  [&](const Vals& p, Sizes&) -> Vals { return {ops::convert(p[0], to)}; });
      }
    }
  }
}

void shifts(Cases& cases, const Row& row) {
  elementwise(cases, row);
  // Random amounts shift everything out: these stay around the width.
  for (DType t : dtypes()) {
    if (!is_integer(t)) continue;
    HostArray amounts(t, {16});
    dispatch(t, [&]<class T>(TypeTag<T>) {
      for (T& a : amounts.as_mutable<T>()) {
        a = static_cast<T>(static_cast<int>(cases.integer(0, bit_width(t) + 2)) - 1);
      }
    });
    cases.add("amounts/" + shape_label(t, {16}), {cases.array(t, {16}), amounts},
              [&](const Vals& p, Sizes&) -> Vals {
                return ir::Builder::current().emit_all(*row.op, nullptr, p);
              });
  }
}
void integer_powers(Cases& cases, const Row& row) {
  for (int n : {-3, -1, 2, 5}) {
    over_dtypes(cases, row, std::to_string(n) + "/",
                [&](const Vals& p) -> Vals { return {ops::integer_pow(p[0], n)}; });
  }
}
void clamps(Cases& cases, const Row& row) {
  over_dtypes(cases, row, "", [](const Vals& p) -> Vals { return {ops::clamp(p[0], p[1], p[2])}; });
  for (DType t : dtypes()) {
    cases.add("scalar bounds/" + shape_label(t, {3, 5}),
              {cases.array(t, {}), cases.array(t, {3, 5}), cases.array(t, {})},
              [](const Vals& p, Sizes&) -> Vals { return {ops::clamp(p[0], p[1], p[2])}; });
  }
}
void precisions(Cases& cases, const Row& row) {
  for (auto [exponent, mantissa] : {std::pair{5, 10}, {8, 7}, {4, 3}, {2, 1}, {11, 3}}) {
    over_dtypes(
        cases, row, std::to_string(exponent) + "." + std::to_string(mantissa) + "/",
        [&](const Vals& p) -> Vals { return {ops::reduce_precision(p[0], exponent, mantissa)}; });
  }
}
void bitcasts(Cases& cases, const Row&) {
  for (DType from : dtypes()) {
    for (DType to : dtypes()) {
      if (from == to || from == DType::boolean || to == DType::boolean) continue;
      const std::int64_t parts = std::max(1, byte_size(to) / byte_size(from));
      const Extents shape = parts == 1 ? Extents{3, 5} : Extents{3, parts};
      cases.add(std::string(name(to)) + "/" + shape_label(from, shape), {cases.array(from, shape)},
                [&](const Vals& p, Sizes&) -> Vals { return {ops::bitcast_convert(p[0], to)}; });
    }
  }
}

void constants(Cases& cases, const Row&) {
  for (DType t : dtypes()) {
    for (const Extents& shape : shapes(t != DType::f32)) {
      const HostArray value = cases.array(t, shape);
      cases.add(shape_label(t, shape), {},
                [&](const Vals&, Sizes&) -> Vals { return {ops::constant(value)}; });
    }
  }
}
void iotas(Cases& cases, const Row&) {
  for (DType t : dtypes()) {
    if (t == DType::boolean) continue;
    for (const Extents& shape : shapes(t != DType::f32)) {
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        cases.add("axis" + std::to_string(axis) + "/" + shape_label(t, shape), {},
                  [&](const Vals&, Sizes& sizes) -> Vals {
                    return {ops::iota(sizes.type(t, shape), axis)};
                  });
      }
    }
  }
}
void dim_values(Cases& cases, const Row&) {
  for (std::int64_t n : {0, 5, 12}) {
    cases.add(std::to_string(n), {cases.array(DType::f32, {n})}, [](const Vals& p, Sizes&) -> Vals {
      const ir::Dim d = p[0].dim(0);
      return {ops::dim_value(d),
              ops::dim_value(d * d + 3),
              ops::dim_value(floordiv(d - 7, 2)),
              ops::dim_value(mod(d, 5)),
              ops::dim_value(max(d - 7, 2)),
              ops::dim_value(min(d, 9))};
    });
  }
}

namespace rows = ops::rows;
// Tolerances: what a good vector library gives; the reference calls <cmath>. sin and cos of huge
// arguments would test the reduction of the argument only.
constexpr std::array kElementwise{
    Row{&rows::Neg, elementwise},
    Row{&rows::Abs, elementwise},
    Row{&rows::Sign, elementwise},
    Row{&rows::Ceil, elementwise},
    Row{&rows::Floor, elementwise},
    Row{&rows::Round, elementwise},
    Row{&rows::RoundEven, elementwise},
    Row{&rows::Exp, elementwise, Values::any, 4},
    Row{&rows::Expm1, elementwise, Values::any, 4},
    Row{&rows::Log, elementwise, Values::any, 4},
    Row{&rows::Log1p, elementwise, Values::any, 4},
    Row{&rows::Sqrt, elementwise},
    Row{&rows::Rsqrt, elementwise, Values::any, 4},
    Row{&rows::Cbrt, elementwise, Values::any, 4},
    Row{&rows::Logistic, elementwise, Values::any, 4},
    Row{&rows::Tanh, elementwise, Values::any, 4},
    Row{&rows::Sin, elementwise, Values::moderate, 4},
    Row{&rows::Cos, elementwise, Values::moderate, 4},
    Row{&rows::Tan, elementwise, Values::moderate, 4},
    Row{&rows::Asin, elementwise, Values::any, 4},
    Row{&rows::Acos, elementwise, Values::any, 4},
    Row{&rows::Atan, elementwise, Values::any, 4},
    Row{&rows::Sinh, elementwise, Values::any, 4},
    Row{&rows::Cosh, elementwise, Values::any, 4},
    Row{&rows::Asinh, elementwise, Values::any, 4},
    Row{&rows::Acosh, elementwise, Values::any, 4},
    Row{&rows::Atanh, elementwise, Values::any, 4},
    Row{&rows::Erf, elementwise, Values::any, 4},
    Row{&rows::Erfc, elementwise, Values::moderate, 16},
    Row{&rows::ErfInv, elementwise, Values::any, 16},
    Row{&rows::IsFinite, elementwise},
    Row{&rows::Popcnt, elementwise},
    Row{&rows::Clz, elementwise},
    Row{&rows::Add, elementwise, Values::any, 0, 2},
    Row{&rows::Sub, elementwise, Values::any, 0, 2},
    Row{&rows::Mul, elementwise, Values::any, 0, 2},
    Row{&rows::Div, elementwise, Values::any, 0, 2},
    Row{&rows::Max, elementwise, Values::any, 0, 2},
    Row{&rows::Min, elementwise, Values::any, 0, 2},
    Row{&rows::And, elementwise, Values::any, 0, 2},
    Row{&rows::Or, elementwise, Values::any, 0, 2},
    Row{&rows::Not, elementwise},
    Row{&rows::Xor, elementwise, Values::any, 0, 2},
    Row{&rows::ShiftLeft, shifts, Values::any, 0, 2},
    Row{&rows::ShiftRightArithmetic, shifts, Values::any, 0, 2},
    Row{&rows::ShiftRightLogical, shifts, Values::any, 0, 2},
    Row{&rows::Rem, elementwise, Values::any, 0, 2},
    Row{&rows::Pow, elementwise, Values::moderate, 4, 2},
    Row{&rows::Atan2, elementwise, Values::any, 4, 2},
    Row{&rows::IntegerPow, integer_powers, Values::moderate, 4},
    Row{&rows::Clamp, clamps, Values::any, 0, 3},
    Row{&rows::ReducePrecision, precisions},
    Row{&rows::BitcastConvert, bitcasts},
    Row{&rows::Compare, comparisons, Values::any, 0, 2},
    Row{&rows::Select, selections},
    Row{&rows::Convert, conversions},
    Row{&rows::OptimizationBarrier, elementwise},
    Row{&rows::StopGradient, elementwise},
};
constexpr std::array kConstants{
    Row{&rows::Constant, constants},
    Row{&rows::Iota, iotas},
    Row{&rows::DimValue, dim_values},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kElementwise; }
std::span<const Row> constant_rows() { return kConstants; }

}  // namespace tlaloc::runtime::conformance
