// Every ISA that this machine runs, on numbers among which NaN, infinities and zeros of both signs
// are frequent, against the op table's rows on single elements.
#include "tlaloc/cpu/window_kernels.h"

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
std::int64_t below(std::int64_t n) {
  return static_cast<std::int64_t>(bits() % static_cast<unsigned>(n));
}

template <class T>
std::vector<T> numbers(std::size_t count) {
  constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            T{0},
                            -T{0},
                            T{1},
                            -T{1}};
  std::vector<T> values(count);
  for (T& v : values) v = below(3) == 0 ? T(below(9)) - 4 : kSpecial[below(7)];
  return values;
}

/// Windows of `lanes` lanes: runs within `extent` elements.
struct Case {
  std::vector<WindowElements::Run> runs;
  std::int64_t step = 0, lanes = 0, extent = 0;
};
Case draw() {
  const std::int64_t lanes = 1 + below(70);
  Case c{.step = lanes * (1 + below(3)), .lanes = lanes};
  std::int64_t at = 0;
  for (std::int64_t r = below(4); r > 0; --r) {
    const auto count = static_cast<std::int32_t>(1 + below(4));
    c.runs.push_back({at, count});
    at += count * c.step + lanes * below(3);
  }
  c.extent = at + c.lanes;
  return c;
}
/// f(offset) for each element of a lane's window.
template <class F>
void each(const Case& c, std::int64_t lane, const F& f) {
  for (const auto& r : c.runs)
    for (std::int32_t k = 0; k < r.count; ++k) f(r.offset + k * c.step + lane);
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
void check_reductions(const Case& c) {
  const auto x = numbers<T>(usize(c.extent));
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kStart[] = {0, 1, -kInfinity, kInfinity};
  constexpr T (*kCombine[])(T, T) = {&ops::Add::eval<T>, &ops::Mul::eval<T>, &ops::Max::eval<T>,
                                     &ops::Min::eval<T>};
  for (std::size_t m = 0; m < 4; ++m) {
    std::vector<T> wanted(usize(c.lanes), kStart[m]), out(wanted.size());
    for (std::int64_t l = 0; l < c.lanes; ++l)
      each(c, l, [&](std::int64_t at) {
        wanted[usize(l)] = kCombine[m](wanted[usize(l)], x[usize(at)]);
      });
    window_kernels<T>().reduce[m](x.data(), {c.runs, c.step}, c.lanes, out.data());
    EXPECT_TRUE(same(out, wanted)) << "monoid " << m << ", lanes " << c.lanes;
  }
}

template <class T>
void check_selections(const Case& c) {
  const auto x = numbers<T>(usize(c.extent)), values = numbers<T>(usize(c.extent));
  for (std::size_t largest = 0; largest < 2; ++largest) {
    std::vector<T> gathered(usize(c.lanes), 0), scattered(usize(c.extent), 0);
    for (std::int64_t l = 0; l < c.lanes; ++l) {
      std::int64_t best = -1;
      each(c, l, [&](std::int64_t at) {
        const T v = x[usize(at)];
        const bool wins =
            best < 0 || std::isnan(v) || (largest ? v > x[usize(best)] : v < x[usize(best)]);
        if (wins) best = at;
      });
      if (best < 0) continue;
      gathered[usize(l)] = values[usize(best)];
      scattered[usize(best)] += values[usize(l)];
    }
    const WindowElements w{c.runs, c.step};
    std::vector<T> out(gathered.size()), sums(scattered.size(), 0);
    window_kernels<T>().gather[largest](values.data(), x.data(), w, c.lanes, out.data());
    EXPECT_TRUE(same(out, gathered)) << "largest " << largest << ", lanes " << c.lanes;
    window_kernels<T>().scatter[largest](values.data(), x.data(), w, c.lanes, sums.data());
    EXPECT_TRUE(same(sums, scattered)) << "largest " << largest << ", lanes " << c.lanes;
  }
}

TEST(WindowKernels, AgreeWithTheRowsOnEveryIsa) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
      const Case c = draw();
      check_reductions<float>(c);
      check_reductions<double>(c);
      check_selections<float>(c);
      check_selections<double>(c);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace tlaloc::cpu
