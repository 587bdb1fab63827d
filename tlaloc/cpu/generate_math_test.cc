// The functions of generated code, whose bits those of math_kernels.h have too, against the C
// library's in more precision: each 1021st f32, or every one where TLALOC_EXHAUSTIVE is set, which
// also prints the largest errors; samples of f64. For this machine, and samples for one without
// fused multiply-add.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tlaloc/cpu/math_testing.h"
#include "tlaloc/ops/elementwise_special.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using testing::compiled_math;
using testing::kMathLanes;
using testing::MathFunction;

constexpr const char* kMachines[] = {"", "x86-64-v2"};

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// The distance from a number to the next one of its size.
double unit(float x) {
  const std::uint32_t e = std::max((std::bit_cast<std::uint32_t>(x) >> 23) & 0xff, 1U);
  return std::bit_cast<double>(std::uint64_t{e + 1023 - 127 - 23} << 52);
}
long double unit(double x) {
  const int e = x == 0 ? std::numeric_limits<double>::min_exponent - 1
                       : std::max(std::ilogb(x), std::numeric_limits<double>::min_exponent - 1);
  return std::ldexp(1.0L, e - std::numeric_limits<double>::digits + 1);
}

/// Units in the last place of T between a result and the exact value.
template <class T>
double error(T got, Wider<T> want) {
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
  return static_cast<double>(std::abs(static_cast<Wider<T>>(got) - want) / unit(rounded));
}

/// A function and the errors that are promised.
struct Case {
  const ir::OpDef* op;
  float (*library32)(float);
  double (*exact32)(double);
  double bound32;
  double (*library64)(double);
  long double (*exact64)(long double);
  double bound64;
  double low32 = -INFINITY, low64 = -INFINITY;  ///< from where on they hold

  template <class T>
  auto library() const {
    if constexpr (std::is_same_v<T, float>)
      return library32;
    else
      return library64;
  }
  template <class T>
  auto exact() const {
    if constexpr (std::is_same_v<T, float>)
      return exact32;
    else
      return exact64;
  }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.op->name; }

template <class T>
T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

#define TLALOC_FUNCTION(Name, name, bound32, bound64) \
  Case { &ops::rows::Name, std::name, std::name, bound32, std::name, std::name, bound64 }
const Case kCases[] = {
    TLALOC_FUNCTION(Exp, exp, 1.1, 1),
    TLALOC_FUNCTION(Expm1, expm1, 1.5, 1.5),
    TLALOC_FUNCTION(Log, log, 1, 1),
    TLALOC_FUNCTION(Log1p, log1p, 1.5, 1.5),
    TLALOC_FUNCTION(Tanh, tanh, 1.5, 1.5),
    TLALOC_FUNCTION(Sinh, sinh, 2, 2),
    TLALOC_FUNCTION(Cosh, cosh, 1.5, 1.5),
    TLALOC_FUNCTION(Erf, erf, 1.5, 1.5),
    TLALOC_FUNCTION(Erfc, erfc, 1.5, 4),
    TLALOC_FUNCTION(Sin, sin, 1.6, 1),
    TLALOC_FUNCTION(Cos, cos, 1.6, 1),
    TLALOC_FUNCTION(Tan, tan, 1.5, 2.5),
    TLALOC_FUNCTION(Asin, asin, 2, 2),
    TLALOC_FUNCTION(Acos, acos, 2, 2),
    TLALOC_FUNCTION(Atan, atan, 2, 2),
    // The formula 1 / (1 + exp(-x)) itself overflows below the least normal number.
    Case{&ops::rows::Logistic, logistic, logistic, 2.5, logistic, logistic, 2.5, -87, -708},
};
#undef TLALOC_FUNCTION

/// Calls a compiled function on many numbers and keeps the largest error.
template <class T>
class Errors {
 public:
  Errors(const Case& c, const char* machine)
      : case_(c), image_(compiled_math(*c.op, dtype_of<T>, machine)) {}
  void check(std::vector<T>& x) {
    x.resize((x.size() + kMathLanes - 1) / kMathLanes * kMathLanes);
    z_.resize(x.size());
    image_->template function<MathFunction<T>>("f")(
        z_.data(), x.data(), x.data(), static_cast<std::int64_t>(x.size()), case_.library<T>());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e = error<T>(z_[i], case_.exact<T>()(x[i]));
      if (!(e > largest)) continue;
      if (std::isinf(e)) ADD_FAILURE() << case_.op->name << "(" << x[i] << ") = " << z_[i];
      largest = e;
      where = x[i];
    }
  }
  double largest = 0;
  T where = 0;

 private:
  const Case& case_;
  std::shared_ptr<const LoadedImage> image_;
  std::vector<T> z_;
};

const bool kExhaustive = std::getenv("TLALOC_EXHAUSTIVE") != nullptr;

void report(const Case& c, const char* type, const char* machine, double largest, double where) {
  if (!kExhaustive) return;
  std::printf("%-8s %s %-9s %.3f at %.9g\n", std::string(c.op->name).c_str(), type,
              *machine ? machine : "here", largest, where);
  std::fflush(stdout);
}

void over_floats(const Case& c, const char* machine) {
  const auto low = static_cast<float>(c.low32);
  Errors<float> errors(c, machine);
  std::vector<float> some{0.0F, -0.0F, INFINITY, std::max(-INFINITY, low), NAN, 1.0F, -1.0F};
  const std::uint64_t step = kExhaustive && !*machine ? 1 : 1021;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    some.push_back(x < low ? low : x);
    if (some.size() < 1 << 14) continue;
    errors.check(some);
    some.clear();
  }
  errors.check(some);
  report(c, "f32", machine, errors.largest, errors.where);
  EXPECT_LE(errors.largest, c.bound32) << c.op->name << " at " << errors.where << " " << machine;
}
void over_doubles(const Case& c, const char* machine) {
  std::mt19937_64 random(7);
  std::vector<double> r{0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 5e-324, 709.782712893384};
  while (r.size() < (kExhaustive ? 5000000 : 200000)) {
    r.push_back(std::bit_cast<double>(random()));
    for (int scale : {-53, -58, -62, -64}) {  // up to 1024, 32, 2, 1/2
      r.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), scale));
    }
  }
  // Next to multiples of pi/2.
  for (int n = 1; n < 20000; ++n) r.push_back(n * 1.5707963267948966);
  for (double& x : r) x = x < c.low64 ? c.low64 : x;
  Errors<double> errors(c, machine);
  errors.check(r);
  report(c, "f64", machine, errors.largest, errors.where);
  EXPECT_LE(errors.largest, c.bound64) << c.op->name << " at " << errors.where << " " << machine;
}

class GeneratedMath : public testing::CodegenTest, public ::testing::WithParamInterface<Case> {};

TEST_P(GeneratedMath, F32) {
  for (const char* machine : kMachines) over_floats(GetParam(), machine);
}
TEST_P(GeneratedMath, F64) {
  for (const char* machine : kMachines) over_doubles(GetParam(), machine);
}
INSTANTIATE_TEST_SUITE_P(All, GeneratedMath, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.op->name); });

// ---- functions of two numbers ----

template <class T>
std::vector<T> special_numbers() {
  using L = std::numeric_limits<T>;
  std::vector<T> r;
  for (T x : {T(0), L::denorm_min(), L::min(), L::epsilon(), T(0.5), std::nextafter(T(1), T(0)),
              T(1), std::nextafter(T(1), T(2)), T(1.5), T(2), T(3), T(4), T(1e5), T(16777217),
              T(9007199254740991), L::max() / 2, L::max(), L::infinity()}) {
    r.push_back(x);
    r.push_back(-x);
  }
  r.push_back(L::quiet_NaN());
  return r;
}
/// Bits at random, and numbers of everyday size.
template <class T>
T random_number(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (bits % 4) {
    case 0:
      return std::is_same_v<T, float>
                 ? T(std::bit_cast<float>(static_cast<std::uint32_t>(random())))
                 : T(std::bit_cast<double>(random()));
    case 1:
      return T(static_cast<std::int64_t>(bits >> 2) % 64 - 32);
    case 2:
      return T(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -58));
    default:
      return T(1 + std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -66));
  }
}

template <class T>
void over_pairs(const ir::OpDef& op, Wider<T> (*exact)(Wider<T>, Wider<T>), double bound,
                const char* machine) {
  std::vector<T> x, y;
  for (T a : special_numbers<T>()) {
    for (T b : special_numbers<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::mt19937_64 random(11);
  while (x.size() < (kExhaustive ? 20000000 : 400000) || x.size() % kMathLanes) {
    x.push_back(random_number<T>(random));
    y.push_back(random_number<T>(random));
  }
  std::vector<T> z(x.size());
  compiled_math(op, dtype_of<T>, machine)
      ->template function<MathFunction<T>>("f")(z.data(), x.data(), y.data(),
                                                static_cast<std::int64_t>(x.size()), nullptr);
  double largest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = error<T>(z[i], exact(x[i], y[i]));
    if (std::isinf(e) && !std::isinf(largest)) {
      ADD_FAILURE() << op.name << "(" << x[i] << ", " << y[i] << ") = " << z[i] << " " << machine;
    }
    if (e > largest) largest = e, at = i;
  }
  if (kExhaustive) {
    std::printf("%-8s %s %-9s %.3f at %.9g, %.9g\n", std::string(op.name).c_str(),
                sizeof(T) == 4 ? "f32" : "f64", *machine ? machine : "here", largest, double(x[at]),
                double(y[at]));
  }
  EXPECT_LE(largest, bound) << op.name << "(" << x[at] << ", " << y[at] << ") " << machine;
}

class GeneratedMathOfOne : public testing::CodegenTest {};

/// Elements by themselves take short ways where vectors take one for all; in their middle and next
/// to their borders.
TEST_F(GeneratedMathOfOne, HasTheBitsOfAVector) {
  std::vector<double> x = special_numbers<double>();
  for (const double border : {0.785398, 0.785399, 0.78539816339744831, 1.5707963267948966, 2.356194,
                              2.3561944901923448, 3.1415926535897931, 1048576.0}) {
    for (double d = 0; d < 1e-3; d = d == 0 ? 0x1p-60 : 2 * d) {
      for (const double v : {border - d, border + d}) x.insert(x.end(), {v, -v});
    }
  }
  std::mt19937_64 random(5);
  while (x.size() < 100000 || x.size() % kMathLanes) {
    x.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -61));
  }
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<double> alone(x.size()), together(x.size());
  for (const char* machine : kMachines) {
    for (const Case& c : kCases) {
      const auto run = [&](int lanes, std::vector<double>& z) {
        compiled_math(*c.op, DType::f64, machine, lanes)
            ->function<MathFunction<double>>("f")(z.data(), x.data(), x.data(), count, c.library64);
      };
      run(1, alone);
      run(kMathLanes, together);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool same =
            std::bit_cast<std::uint64_t>(alone[i]) == std::bit_cast<std::uint64_t>(together[i]) ||
            (std::isnan(alone[i]) && std::isnan(together[i]));
        ASSERT_TRUE(same) << c.op->name << "(" << x[i] << ") " << machine;
      }
    }
  }
}

class GeneratedMathOfTwo : public testing::CodegenTest {};

TEST_F(GeneratedMathOfTwo, Pow) {
  for (const char* machine : kMachines) {
    over_pairs<float>(ops::rows::Pow, std::pow, 1, machine);
    over_pairs<double>(ops::rows::Pow, std::pow, 1, machine);
  }
}
TEST_F(GeneratedMathOfTwo, Atan2) {
  for (const char* machine : kMachines) {
    over_pairs<float>(ops::rows::Atan2, std::atan2, 2.5, machine);
    over_pairs<double>(ops::rows::Atan2, std::atan2, 2.5, machine);
  }
}

}  // namespace
}  // namespace tlaloc::cpu
