// Every ISA that this machine runs, on integers, whose sums are exact in any order.
#include "tlaloc/cpu/direct_conv_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tlaloc/base/checked.h"

namespace tlaloc::cpu {
namespace {

std::mt19937 bits(9);
std::int64_t below(std::int64_t n) {
  return static_cast<std::int64_t>(bits() % static_cast<unsigned>(n));
}
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> v(usize(count));
  for (T& x : v) x = T(below(15)) - 7;
  return v;
}
std::vector<ConvTerm> terms(std::int64_t count, std::int64_t x, std::int64_t w) {
  std::vector<ConvTerm> r(usize(count));
  for (ConvTerm& t : r) t = {below(x), below(w)};
  return r;
}

template <class T>
void check_results(std::int64_t lanes) {
  const auto rows = terms(below(4), 50, 20), taps = terms(below(4), 9, 9);
  const ConvPositions at{1 + below(70), lanes > 1 ? 40 : 1 + below(3), 0, lanes + below(2)};
  // Nothing lies in front of the first element that is read, or behind the last one.
  std::int64_t least = 0, most = 0;
  if (!rows.empty() && !taps.empty()) {
    least = 1 << 20;
    for (const ConvTerm& r : rows) {
      for (const ConvTerm& t : taps) {
        least = std::min(least, r.x + t.x);
        most = std::max(most, r.x + t.x);
      }
    }
  }
  const auto x = numbers<T>(most - least + (at.count - 1) * at.x + lanes), w = numbers<T>(80);
  const T* first = x.data() - least;
  std::vector<T> y(usize((at.count - 1) * at.y + lanes), 99), wanted = y;
  for (std::int64_t i = 0; i < at.count; ++i) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      T& sum = wanted[usize(i * at.y + l)] = 0;
      const std::int64_t of_w = lanes > 1 ? l : 0;
      for (const ConvTerm& r : rows) {
        for (const ConvTerm& t : taps) {
          sum += first[r.x + t.x + i * at.x + l] * w[usize(r.w + t.w + of_w)];
        }
      }
    }
  }
  const auto& kernels = direct_conv_kernels<T>();
  lanes > 1 ? kernels.channels(first, w.data(), {rows, taps}, at, lanes, y.data())
            : kernels.pixels(first, w.data(), {rows, taps}, at, y.data());
  EXPECT_EQ(y, wanted) << at.count << " positions " << at.x << " apart, lanes " << lanes;
}

template <class T>
void check_sums(std::int64_t lanes) {
  const auto rows = terms(below(4), 50, 20), taps = terms(below(7), 9, 1);
  const ConvPositions at{1 + below(70), lanes > 1 ? 40 : 1 + below(3), lanes > 1 ? 41 : 1, lanes};
  const auto x = numbers<T>(60 + at.count * 41), w = numbers<T>(20 + at.count * 41 + lanes);
  auto sums = numbers<T>(std::ssize(taps) * lanes), wanted = sums;
  for (std::size_t t = 0; t < taps.size(); ++t) {
    for (const ConvTerm& r : rows) {
      for (std::int64_t i = 0; i < at.count; ++i) {
        for (std::int64_t l = 0; l < lanes; ++l) {
          wanted[t * usize(lanes) + usize(l)] +=
              x[usize(r.x + taps[t].x + i * at.x + l)] * w[usize(r.w + i * at.w + l)];
        }
      }
    }
  }
  const auto& kernels = direct_conv_kernels<T>();
  lanes > 1 ? kernels.channel_sums(x.data(), w.data(), {rows, taps}, at, lanes, sums.data())
            : kernels.pixel_sums(x.data(), w.data(), {rows, taps}, at, sums.data());
  EXPECT_EQ(sums, wanted) << at.count << " positions " << at.x << " apart, lanes " << lanes;
}

TEST(DirectConvKernels, AddUpOnEveryIsa) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
      for (const std::int64_t lanes : {std::int64_t{1}, 2 + below(38)}) {
        check_results<float>(lanes);
        check_results<double>(lanes);
        check_sums<float>(lanes);
        check_sums<double>(lanes);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace tlaloc::cpu
