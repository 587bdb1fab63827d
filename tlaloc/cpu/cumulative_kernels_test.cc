// Every ISA that this machine runs, against the op table's rows on single elements.
#include "tlaloc/cpu/cumulative_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::cpu {
namespace {

std::mt19937 bits(7);

template <class T>
std::vector<T> numbers(std::size_t count) {
  constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(), T{0}, -T{0}};
  std::vector<T> values(count);
  for (T& v : values) v = bits() % 20 == 0 ? kSpecial[bits() % 5] : T(bits() % 1000) / 77 - 5;
  return values;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) ? !std::isnan(b[i]) : std::memcmp(&a[i], &b[i], sizeof(T)) != 0) {
      return false;
    }
  }
  return true;
}

template <class T>
void check(std::int64_t count, std::int64_t lanes, std::int64_t step) {
  const std::vector<T> x = numbers<T>(usize((count - 1) * step + lanes));
  const std::vector<T> start = numbers<T>(usize(lanes));
  constexpr T (*kCombine[])(T, T) = {&ops::Add::eval<T>, &ops::Mul::eval<T>, &ops::Max::eval<T>,
                                     &ops::Min::eval<T>};
  for (std::size_t m = 0; m < 4; ++m) {
    std::vector<T> inclusive = x, exclusive = x, totals = start;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        T& total = totals[usize(l)];
        exclusive[usize(i * step + l)] = total;
        inclusive[usize(i * step + l)] = total = kCombine[m](total, x[usize(i * step + l)]);
      }
    }
    const auto& kernels = cumulative_kernels<T>().rows[m];
    std::vector<T> y = x, ends = start;
    kernels.inclusive(y.data(), y.data(), count, step, lanes, ends.data());
    EXPECT_TRUE(same(y, inclusive) && same(ends, totals)) << "monoid " << m << ", lanes " << lanes;
    ends = start;
    y = x;
    kernels.exclusive(x.data(), y.data(), count, step, lanes, ends.data());
    EXPECT_TRUE(same(y, exclusive) && same(ends, totals)) << "monoid " << m << ", lanes " << lanes;
  }
}

TEST(CumulativeKernels, AgreeWithTheRowsOnEveryIsa) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (int i = 0; i < 100 && !::testing::Test::HasFailure(); ++i) {
      const std::int64_t lanes = 1 + bits() % 70, count = 1 + bits() % 9;
      check<float>(count, lanes, lanes + bits() % 3);
      check<double>(count, lanes, lanes + bits() % 3);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace tlaloc::cpu
