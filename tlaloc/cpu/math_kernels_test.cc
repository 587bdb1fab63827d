// Every function on every ISA that this machine runs, against code compiled for this machine, or
// for one without fused multiply-add where the ISA has none: the same bits, in whole vectors and in
// what is left of an array.
#include "tlaloc/cpu/math_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/math_testing.h"
#include "tlaloc/ops/elementwise_math.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using testing::kMathLanes;

const ir::OpDef* row_of(ops::OpId id) {
  for (const ir::OpDef* op : ops::table()) {
    if (op->id == static_cast<std::uint16_t>(id)) return op;
  }
  return nullptr;
}

template <class T>
struct Numbers {
  std::vector<T> x, y;
};
template <class T>
T special(std::uint64_t bits) {
  using L = std::numeric_limits<T>;
  const T all[] = {T(0),
                   L::denorm_min(),
                   L::min(),
                   L::epsilon(),
                   T(0.5),
                   T(1),
                   T(1.5),
                   T(2),
                   T(3),
                   T(40),
                   T(1e5),
                   T(16777217),
                   L::max() / T(2),
                   L::max(),
                   L::infinity(),
                   L::quiet_NaN()};
  const T x = all[(bits >> 1) % std::size(all)];
  return bits & 1 ? -x : x;
}
/// Bits at random, special numbers and those of everyday size, in pairs of any two kinds; every
/// 4093rd f32.
template <class T>
Numbers<T> numbers(bool pairs) {
  std::mt19937_64 random(5);
  auto draw = [&]() -> T {
    const std::uint64_t bits = random();
    switch (bits % 4) {
      case 0:
        return std::bit_cast<T>(
            static_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(
                random()));
      case 1:
        return special<T>(bits >> 2);
      default:
        return T(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                            bits % 4 == 2 ? -58 : -63));
    }
  };
  Numbers<T> r;
  if (sizeof(T) == 4 && !pairs) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4093) {
      r.x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
  }
  while (r.x.size() < 400000 || r.x.size() % kMathLanes) r.x.push_back(draw());
  while (r.y.size() < r.x.size()) r.y.push_back(draw());
  return r;
}

/// What serves huge arguments.
template <class T>
T (*library_of(ops::OpId op))(T) {
  switch (op) {
    case ops::OpId::Sin:
      return std::sin;
    case ops::OpId::Cos:
      return std::cos;
    case ops::OpId::Tan:
      return std::tan;
    default:
      return nullptr;
  }
}

/// The first place where they differ, or the number of elements; a NaN is like another.
template <class T>
std::size_t difference(const T* a, const T* b, std::size_t n) {
  std::size_t i = 0;
  while (i < n && (std::isnan(a[i]) ? std::isnan(b[i]) : std::memcmp(a + i, b + i, sizeof(T)) == 0))
    ++i;
  return i;
}

void choose(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
bool has_fma(std::int64_t target) { return target == HWY_AVX2 || target == HWY_AVX3; }

template <class T>
void check(std::size_t op) {
  const bool two = takes_two(kMathOps[op]);
  const Numbers<T> in = numbers<T>(two);
  const std::size_t n = in.x.size();
  std::vector<T> with_fma(n), without(n), got(n);
  for (const bool fma : {true, false}) {
    testing::compiled_math(*row_of(kMathOps[op]), dtype_of<T>, fma ? "" : "x86-64-v2")
        ->template function<testing::MathFunction<T>>("f")(
            (fma ? with_fma : without).data(), in.x.data(), in.y.data(),
            static_cast<std::int64_t>(n), library_of<T>(kMathOps[op]));
  }
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(std::string(row_of(kMathOps[op])->name) + " on " + hwy::TargetName(target));
    choose(target);
    const auto run = math_kernels<T>().run[op];
    const auto& want = has_fma(target) ? with_fma : without;
    run(got.data(), in.x.data(), in.y.data(), static_cast<std::int64_t>(n));
    std::size_t at = difference(got.data(), want.data(), n);
    ASSERT_EQ(at, n) << "(" << in.x[at] << ", " << in.y[at] << ") is " << got[at] << ", not "
                     << want[at];
    // Any length, at any place, over an operand.
    for (std::size_t length = 1, from = 0; length < 70; from += length++) {
      std::vector<T> x(in.x.begin() + static_cast<std::ptrdiff_t>(from),
                       in.x.begin() + static_cast<std::ptrdiff_t>(from + length + 1));
      std::vector<T> y(in.y.begin() + static_cast<std::ptrdiff_t>(from),
                       in.y.begin() + static_cast<std::ptrdiff_t>(from + length));
      run(x.data(), x.data(), y.data(), static_cast<std::int64_t>(length));
      at = difference(x.data(), want.data() + from, length);
      ASSERT_EQ(at, length) << "of " << length << " from " << from;
      ASSERT_EQ(difference(&x[length], &in.x[from + length], 1), 1U) << "beyond " << length;
    }
  }
  choose(0);
}

// ---- what the processor has instructions for ----

template <class T>
void check_exact(const ir::OpDef& op, T (*eval)(T)) {
  const Numbers<T> in = numbers<T>(false);
  std::vector<T> want, got(in.x.size());
  for (T x : in.x) want.push_back(eval(x));
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(std::string(op.name) + " on " + hwy::TargetName(target));
    choose(target);
    math_kernels<T>().run[*kernel_index(op)](got.data(), in.x.data(), in.x.data(),
                                             static_cast<std::int64_t>(got.size()));
    const std::size_t at = difference(got.data(), want.data(), got.size());
    ASSERT_EQ(at, got.size()) << in.x[at] << " is " << got[at] << ", not " << want[at];
  }
  choose(0);
}

TEST(MathKernels, RoundAndTakeRootsAsTheRowsDo) {
#define TLALOC_CHECK(Name)                                      \
  check_exact<float>(ops::rows::Name, &ops::Name::eval<float>); \
  check_exact<double>(ops::rows::Name, &ops::Name::eval<double>)
  TLALOC_CHECK(Sqrt);
  TLALOC_CHECK(Rsqrt);
  TLALOC_CHECK(Ceil);
  TLALOC_CHECK(Floor);
  TLALOC_CHECK(Round);
  TLALOC_CHECK(RoundEven);
#undef TLALOC_CHECK
}

class OwnMath : public testing::CodegenTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(OwnMath, HaveTheBitsOfCompiledCodeOnEveryIsa) {
  check<float>(GetParam());
  check<double>(GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, OwnMath, ::testing::Range(std::size_t{0}, kMathOps.size()),
                         [](const auto& info) {
                           return std::string(row_of(kMathOps[info.param])->name);
                         });

}  // namespace
}  // namespace tlaloc::cpu
