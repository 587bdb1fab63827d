// Imported modules as functions.
#include "tlaloc/lang/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/stablehlo.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::import_test {
namespace {

using ::testing::HasSubstr;

/// The sum of w * sin(x), for any number of them.
constexpr char kLoss[] = R"(
func.func @main(%w: tensor<?xf64>, %x: tensor<?xf64>) -> tensor<f64> {
  %0 = stablehlo.sine %x : tensor<?xf64>
  %1 = stablehlo.multiply %w, %0 : tensor<?xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf64>, tensor<f64>) -> tensor<f64>
  return %2 : tensor<f64>
})";

Array array(std::initializer_list<double> values) {
  return Array::from<double>(std::span(values.begin(), values.size()),
                             {static_cast<std::int64_t>(values.size())});
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Import, RunsAtOnce) {
  const auto f = import_stablehlo(kLoss);
  EXPECT_EQ(f.argument_count(), 2u);
  const double want = 2 * std::sin(1.) + 3 * std::sin(0.5);
  EXPECT_DOUBLE_EQ(f(array({2, 3}), array({1, 0.5})).item(), want);
  EXPECT_DOUBLE_EQ(f.results({array({2, 3}), array({1, 0.5})}).at(0).item(), want);
  // With other sizes, and typed tensors.
  const auto v = Tensor<double, any>::from({4.});
  EXPECT_DOUBLE_EQ(f(v, v).item(), 4 * std::sin(4.));
}

TEST(Import, ChecksAreNoResults) {
  const auto f = import_stablehlo(R"(
func.func @main(%x: tensor<f64>) -> tensor<f64> {
  %y = stablehlo.add %x, %x : tensor<f64>
  check.expect_eq_const %y, dense<2.0> : tensor<f64>
  return %y : tensor<f64>
})");
  EXPECT_EQ(f.result_count(), 1u);
  const Array x = array({1.5})[0];
  EXPECT_EQ(f(x).item(), 3);
  EXPECT_EQ(f.results({x}).size(), 1u);
}

TEST(Import, TakesPartInTransforms) {
  const auto f = import_stablehlo(kLoss);
  const Array w = array({2, 3}), x = array({1, 0.5});
  const Array dw = grad(f)(w, x);
  EXPECT_DOUBLE_EQ(dw[1].item(), std::sin(0.5));
  const auto [both_w, both_x] = grad(f, argnums<0, 1>)(w, x);
  EXPECT_DOUBLE_EQ(both_w[0].item(), std::sin(1.));
  EXPECT_DOUBLE_EQ(both_x[0].item(), 2 * std::cos(1.));
  const auto dx = grad([&](Array x, Array w) { return f(w, x * x); });
  EXPECT_DOUBLE_EQ(dx(x, w)[1].item(), 3 * std::cos(0.25) * 2 * 0.5);
  EXPECT_DOUBLE_EQ(jit(grad(f))(w, x)[0].item(), std::sin(1.));
  const Array rows = Array::from<double>(std::vector<double>{1, 2, 3, 4}, {2, 2});
  const Array lanes = vmap<0>(f)(rows, rows);
  EXPECT_DOUBLE_EQ(lanes[1].item(), 3 * std::sin(3.) + 4 * std::sin(4.));
  // What was imported leaves again.
  EXPECT_THAT(emit_stablehlo(grad(f))(w, x), HasSubstr("stablehlo.sine"));
}

TEST(Import, ErrorsNameTheFunctionAndTheLine) {
  const auto f = import_stablehlo(kLoss, "loss.mlir");
  const Array x = array({1, 2});
  EXPECT_THAT(error_of([&] { f(x); }),
              HasSubstr("TL-ARITY-001: import_stablehlo: @main takes 2 arguments, not 1"));
  EXPECT_THAT(error_of([&] { f(x, Tensor<float, any>::from({1.f})); }), HasSubstr("TL-DTYPE-001"));
  EXPECT_THAT(error_of([&] { f(x, x[0]); }), HasSubstr("TL-RANK-001"));
  EXPECT_THAT(error_of([&] { f(x, array({1, 2, 3})); }), HasSubstr("TL-SHAPE-001"));
  EXPECT_THAT(error_of([&] { f.results({x, Array()}); }), HasSubstr("TL-CALL-001"));
  EXPECT_THAT(error_of([] { import_stablehlo("func.func @f(%x", "bad.mlir"); }),
              HasSubstr("bad.mlir:1:16: TL-HLO-001"));
  const auto two = import_stablehlo(
      "func.func @f(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {\n"
      "  return %x, %x : tensor<2xf64>, tensor<2xf64>\n}");
  EXPECT_EQ(two.results({x}).size(), 2u);
  EXPECT_THAT(error_of([&] { two(x); }), HasSubstr("TL-ARITY-001"));
  EXPECT_THAT(error_of([&] { two(array({1})); }), HasSubstr("2 results"));
  EXPECT_THAT(error_of([&] { two.results({array({1})}); }), HasSubstr("TL-SHAPE-002"));
}

}  // namespace
}  // namespace tlaloc::import_test
