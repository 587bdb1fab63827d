#include "tests/ops/case.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::testing {
namespace {

void unary(Cases& cases, const ir::OpDef& op, std::vector<double> x,
           std::vector<bool> linear = {}) {
  cases.push_back(
      {.name = op.name,
       .args = {vec(std::move(x))},
       .build = [&op](const Vals& p) { return Vals{ir::Builder::current().emit(op, nullptr, p)}; },
       .linear = std::move(linear)});
}
void binary(Cases& cases, const ir::OpDef& op, std::vector<double> x, std::vector<double> y,
            std::vector<bool> linear = {}) {
  cases.push_back(
      {.name = op.name,
       .args = {vec(std::move(x)), vec(std::move(y))},
       .build = [&op](const Vals& p) { return Vals{ir::Builder::current().emit(op, nullptr, p)}; },
       .linear = std::move(linear)});
}
void logic(Cases& cases, const ir::OpDef& op, int operands) {
  cases.push_back({.name = op.name,
                   .args = Arrays(static_cast<std::size_t>(operands), ints({4}, {3, 1, 6, 2})),
                   .build = [&op](const Vals& p) {
                     return Vals{ir::Builder::current().emit(op, nullptr, p)};
                   }});
}

}  // namespace

void elementwise_cases(Cases& cases) {
  namespace rows = ops::rows;
  const std::vector<double> any{-2.3, -0.7, 0.2, 1.9}, positive{0.2, 0.8, 1.3, 4},
      inner{-0.9, -0.3, 0.1, 0.7}, other{1.7, -0.4, -1.1, 0.6};
  for (const ir::OpDef* op :
       {&rows::Abs, &rows::Sign, &rows::Ceil, &rows::Floor, &rows::Round, &rows::RoundEven,
        &rows::Exp, &rows::Expm1, &rows::Cbrt, &rows::Logistic, &rows::Tanh, &rows::Sin, &rows::Cos,
        &rows::Atan, &rows::Sinh, &rows::Cosh, &rows::Asinh, &rows::Erf, &rows::Erfc}) {
    unary(cases, *op, any);
  }
  for (const ir::OpDef* op : {&rows::Log, &rows::Log1p, &rows::Sqrt, &rows::Rsqrt}) {
    unary(cases, *op, positive);
  }
  for (const ir::OpDef* op : {&rows::Tan, &rows::Asin, &rows::Acos, &rows::Atanh, &rows::ErfInv}) {
    unary(cases, *op, inner);
  }
  unary(cases, rows::Acosh, {1.2, 1.7, 3, 40});
  unary(cases, rows::Neg, any, {true});
  unary(cases, rows::OptimizationBarrier, any, {true});
  // Its tangent is zero where differences are not: in sight of a function of integers only.
  cases.push_back({.name = "stop_gradient",
                   .args = {ints({3}, {1, 2, 3})},
                   .build = [](const Vals& p) { return Vals{ops::stop_gradient(p[0])}; }});

  binary(cases, rows::Add, any, other, {true, true});
  binary(cases, rows::Sub, any, other, {true, true});
  binary(cases, rows::Mul, any, other, {true, false});
  binary(cases, rows::Mul, any, other, {false, true});
  cases.back().name = "mul/right";
  binary(cases, rows::Div, any, other, {true, false});
  binary(cases, rows::Max, any, other);
  binary(cases, rows::Min, any, other);
  binary(cases, rows::Rem, {5.3, -5.3, 5.3, -0.4}, {2, 2, -1.5, 3});
  binary(cases, rows::Pow, positive, other);
  binary(cases, rows::Atan2, any, other);

  for (int n : {-2, -1, 2, 3, 7}) {
    cases.push_back({.name = "integer_pow/" + std::to_string(n),
                     .args = {vec(n < 0 ? other : inner)},
                     .build = [n](const Vals& p) { return Vals{ops::integer_pow(p[0], n)}; }});
  }
  auto clamp = [](const Vals& p) { return Vals{ops::clamp(p[0], p[1], p[2])}; };
  cases.push_back(
      {.name = "clamp", .args = {arr({}, {-0.5}), vec(any), arr({}, {1})}, .build = clamp});
  cases.push_back({.name = "clamp/arrays",
                   .args = {vec({-1, -1, 0.3, 3}), vec(any), vec({1, 2, 3, 1})},
                   .build = clamp});
  const HostArray p = bools({4}, {true, false, false, true});
  cases.push_back({.name = "select",
                   .args = {p, vec(any), vec(other)},
                   .build = [](const Vals& v) { return Vals{ops::select(v[0], v[1], v[2])}; },
                   .linear = {false, true, true}});
  // There and back, so that differences are not lost in the rounding.
  cases.push_back({.name = "convert",
                   .args = {ints({3}, {1, -2, 3}), vec({1.5, 2, -3})},
                   .build =
                       [](const Vals& v) {
                         return Vals{ops::convert(v[0], v[1].dtype()) * v[1],
                                     ops::convert(v[1], DType::i32)};
                       },
                   .narrow = false});
  cases.push_back({.name = "convert/f32",
                   .args = {vec({1.5, 2, -3})},
                   .build =
                       [](const Vals& v) {
                         return Vals{ops::convert(ops::convert(v[0], DType::f32), DType::f64)};
                       },
                   .linear = {true},
                   .second = false,
                   .narrow = false,
                   .tolerance = 1e-3});
  cases.push_back({.name = "reduce_precision",
                   .args = {vec(any)},
                   .build = [](const Vals& v) { return Vals{ops::reduce_precision(v[0], 11, 52)}; },
                   .linear = {true}});
  cases.push_back(
      {.name = "bitcast_convert", .args = {ints({2, 2}, {1, 2, 3, 4})}, .build = [](const Vals& v) {
         return Vals{ops::bitcast_convert(v[0], DType::i16),
                     ops::bitcast_convert(v[0], DType::u64)};
       }});
  cases.push_back(
      {.name = "compare and is_finite", .args = {vec(any), vec(other)}, .build = [](const Vals& v) {
         return Vals{v[0] < v[1], ops::is_finite(v[0]), v[0] * v[1]};
       }});
  for (const ir::OpDef* op : {&rows::And, &rows::Or, &rows::Xor, &rows::ShiftLeft,
                              &rows::ShiftRightArithmetic, &rows::ShiftRightLogical}) {
    logic(cases, *op, 2);
  }
  for (const ir::OpDef* op : {&rows::Not, &rows::Popcnt, &rows::Clz}) logic(cases, *op, 1);
}

}  // namespace tlaloc::testing
