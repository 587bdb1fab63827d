// What a call of a compiled function costs beside its arithmetic: nanoseconds of processor time per
// call, arguments and results included, the best of 21 samples.
#include <tlaloc/tlaloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using Real = tl::Scalar<double>;
constexpr tl::Axis<struct Time> time_axis;
using Series = tl::Tensor<float, time_axis>;

/// As the state of an optimizer: tensors of two kinds.
struct State {
  tl::Tensor<float, 8, 4> w1, w2;
  tl::Tensor<float, 4> b1, b2;
  tl::Scalar<float> rate, loss;
};

double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}
template <class F>
void report(const char* name, F f) {
  constexpr int kCalls = 4000;
  double best = std::numeric_limits<double>::max();
  for (int sample = 0; sample < 21; ++sample) {
    const double start = now();
    for (int i = 0; i < kCalls; ++i) f(i);
    best = std::min(best, (now() - start) / kCalls);
  }
  std::printf("| %s | %.0f |\n", name, best);
}
volatile double sink;

Series series(int n) {
  const std::vector<float> values(static_cast<std::size_t>(n), 1);
  return Series::from(values);
}

}  // namespace

int main() {
  tl::set_num_threads(1);
  std::printf("| call | ns |\n|---|---:|\n");

  const auto one = tl::jit([](Real x) { return x + 1.0; });
  report("f64 -> f64, from a number and to one", [&](int i) { sink = one(Real(1.0 * i)).item(); });
  const Real given = 2.0;
  report("f64 -> f64, from a tensor to a tensor", [&](int) { one(given); });

  const auto five = tl::jit([](Real a, Real b, Real c, Real d, Real e) {
    return std::tuple(a + b, b + c, c + d, d + e, e + a);
  });
  report("5 x f64 -> 5 x f64, from numbers and to one", [&](int i) {
    const auto r = five(Real(1.0 * i), Real(2.0), Real(3.0), Real(4.0), Real(5.0));
    sink = std::get<0>(r).item();
  });

  const auto twice = tl::jit([](Series x) { return x + x; });
  const Series a = series(128), b = series(100);
  report("f32[Time=128] -> f32[Time=128]", [&](int) { sink = twice(a).data()[0]; });
  report("the same with two sizes in turn", [&](int i) { sink = twice(i % 2 ? a : b).data()[0]; });
  const auto scaled = tl::jit([&a](Series x) { return a + x; });
  report("the same with a captured array", [&](int) { sink = scaled(a).data()[0]; });

  const auto step = tl::jit([](State s) {
    return State{s.w1 + s.w2, s.w2 + s.rate, s.b1 + s.b2, s.b2 + s.rate, s.rate, s.loss + s.rate};
  });
  State state{tl::zeros<float, 8, 4>(), tl::zeros<float, 8, 4>(), tl::zeros<float, 4>(),
              tl::zeros<float, 4>(),    tl::Scalar<float>(0),     tl::Scalar<float>(0)};
  report("a struct of 6 tensors -> the same", [&](int) { state = step(state); });
}
