// The functions of generated code against the C library's in more precision: every f32 where
// TLALOC_EXHAUSTIVE is set, else each 1021st; samples of f64.
#include "tlaloc/cpu/generate_math.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/testing.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

constexpr int kLanes = 8;

template <class T>
using Function = void(T*, const T*, std::int64_t);

/// y[i] = f(x[i]), by vectors.
std::shared_ptr<const LoadedImage> compiled(const ir::OpDef& op, DType t) {
  IrWriter w;
  const std::string type = ir_vector(ir_type(t), kLanes);
  const IrValue i = w.variable("i64");
  w.line("store i64 0, ptr " + i);
  w.fall_into("head");
  const IrValue now = w.let("load i64, ptr " + i);
  w.branch(w.let("icmp slt i64 " + now + ", %n"), "body", "done");
  w.begin("body");
  const IrValue from = w.let(fmt::format("getelementptr {}, ptr %x, i64 {}", ir_type(t), now));
  const IrValue to = w.let(fmt::format("getelementptr {}, ptr %y, i64 {}", ir_type(t), now));
  const IrValue x = w.let(fmt::format("load {}, ptr {}, align {}", type, from, byte_size(t)));
  const IrValue y = write_math(w, op, x, t, kLanes);
  w.line(fmt::format("store {} {}, ptr {}, align {}", type, y, to, byte_size(t)));
  w.line("store i64 " + w.let(fmt::format("add i64 {}, {}", now, kLanes)) + ", ptr " + i);
  w.jump("head");
  w.begin("done");
  return compile_ir("define void @f(ptr %y, ptr %x, i64 %n) \"no-builtins\" {\nentry:\n" +
                        w.entry() + "  br label %start\nstart:\n" + w.body() + "  ret void\n}\n",
                    {.name = op.name, .passes = std::string(kScalarPasses)});
}

/// Units in the last place of T between a result and the exact value.
template <class T>
double error(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    // One step from the largest number to infinity is one unit.
    if (got == rounded) return 0;
    const T largest = std::copysign(std::numeric_limits<T>::max(), rounded);
    return got == largest || (std::isinf(got) && rounded == std::copysign(largest, got)) ? 1
                                                                                         : INFINITY;
  }
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : INFINITY;
  const int exponent =
      std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::denorm_min() : rounded),
               std::numeric_limits<T>::min_exponent - 1);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1));
}

/// Calls a compiled function on many numbers and keeps the largest error.
template <class T>
class Errors {
 public:
  Errors(const ir::OpDef& op, long double (*exact)(long double))
      : op_(op), exact_(exact), image_(compiled(op, dtype_of<T>)) {}
  void check(std::vector<T> x) {
    x.resize((x.size() + kLanes - 1) / kLanes * kLanes);
    std::vector<T> y(x.size());
    image_->template function<Function<T>>("f")(y.data(), x.data(),
                                                static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e = error(y[i], exact_(x[i]));
      if (e > 4 && largest <= 4) ADD_FAILURE() << op_.name << "(" << x[i] << ") = " << y[i];
      largest = std::max(largest, e);
    }
  }
  double largest = 0;

 private:
  const ir::OpDef& op_;
  long double (*exact_)(long double);
  std::shared_ptr<const LoadedImage> image_;
};

double over_floats(const ir::OpDef& op, long double (*exact)(long double), float low = -INFINITY) {
  Errors<float> errors(op, exact);
  errors.check({0.0F, -0.0F, INFINITY, std::max(-INFINITY, low), NAN, 1.0F, -1.0F});
  const std::uint64_t step = std::getenv("TLALOC_EXHAUSTIVE") ? 1 : 1021;
  std::vector<float> some;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    some.push_back(x < low ? low : x);
    if (some.size() < 1 << 20) continue;
    errors.check(std::move(some));
    some = {};
  }
  errors.check(std::move(some));
  return errors.largest;
}
double over_doubles(const ir::OpDef& op, long double (*exact)(long double),
                    double low = -INFINITY) {
  std::mt19937_64 random(7);
  std::vector<double> r{0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 5e-324, 709.782712893384};
  while (r.size() < 200000) {
    r.push_back(std::bit_cast<double>(random()));
    for (int scale : {-53, -62}) {  // up to 1024, up to 2
      r.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), scale));
    }
  }
  for (double& x : r) x = x < low ? low : x;
  Errors<double> errors(op, exact);
  errors.check(std::move(r));
  return errors.largest;
}

long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_tanh(long double x) { return std::tanh(x); }
long double exact_logistic(long double x) { return 1 / (1 + std::exp(-x)); }

class GeneratedMath : public testing::CodegenTest {};

TEST_F(GeneratedMath, F32) {
  EXPECT_LE(over_floats(ops::rows::Exp, exact_exp), 1.5);
  EXPECT_LE(over_floats(ops::rows::Log, exact_log), 1.5);
  EXPECT_LE(over_floats(ops::rows::Tanh, exact_tanh), 2.5);
}
TEST_F(GeneratedMath, F64) {
  EXPECT_LE(over_doubles(ops::rows::Exp, exact_exp), 1.5);
  EXPECT_LE(over_doubles(ops::rows::Log, exact_log), 1.5);
  EXPECT_LE(over_doubles(ops::rows::Tanh, exact_tanh), 2.5);
}
/// The formula 1 / (1 + exp(-x)) itself overflows below the least normal number.
TEST_F(GeneratedMath, Logistic) {
  EXPECT_LE(over_floats(ops::rows::Logistic, exact_logistic, -87), 2.5);
  EXPECT_LE(over_doubles(ops::rows::Logistic, exact_logistic, -708), 2.5);
}

}  // namespace
}  // namespace tlaloc::cpu
