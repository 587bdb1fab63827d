// Gradients of scalar programs, compiled by jit, against gradients written by hand
// (bench/printed/by_hand.h) and compiled by g++ -O3 -march=native. They take turns; processor time
// of one thread.
#include <tlaloc/tlaloc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <tuple>
#include <vector>

#include "bench/printed/by_hand.h"

namespace {

using Real = tl::Scalar<double>;
using Count = tl::Scalar<std::int64_t>;

Real pendulum(Real angle, Real damping, Count steps) {
  using State = std::tuple<Real, Real>;
  const auto [a, v] = tl::fori_loop(
      Count(0), steps,
      [=](Count, const State& s) {
        const auto& [a, v] = s;
        const Real next = v - 0.01 * (9.81 * tl::sin(a) + damping * v);
        return State(a + 0.01 * next, next);
      },
      State(angle, 0.0));
  return a;
}

Real root(Real a) {
  return tl::while_loop([=](Real x) { return tl::abs(x * x - a) > 1e-12; },
                        [=](Real x) { return (x + a / x) / 2; }, a);
}
/// The roots of many numbers: one call has more work than calling costs.
Real roots(Real from, Count n) {
  return tl::fori_loop(
      Count(0), n, [=](Count i, Real sum) { return sum + root(from + tl::cast<double>(i)); },
      Real(0.0));
}
double roots_by_hand(double from, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += by_hand::root_gradient(from + static_cast<double>(i));
  return sum;
}

double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}
/// A value that the compiler knows nothing of.
template <class T>
T opaque(T x) {
  asm volatile("" : "+m"(x));
  return x;
}
template <class F>
double nanoseconds(int calls, const F& f) {
  const double start = now();
  for (int i = 0; i < calls; ++i) opaque(f(i));
  return (now() - start) / calls;
}

template <class Ours, class Hand>
void compare(const char* name, int calls, const Ours& ours, const Hand& hand) {
  const double a = ours(1), b = hand(1);
  if (!(std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b)))) {
    std::fprintf(stderr, "%s: %.17g by jit, %.17g by hand\n", name, a, b);
    std::exit(1);
  }
  constexpr int kSamples = 41;
  std::vector<double> ratios, times;
  for (int k = 0; k < kSamples; ++k) {
    const double t = nanoseconds(calls, ours), h = nanoseconds(calls, hand);
    times.push_back(t);
    ratios.push_back(t / h);
  }
  std::ranges::sort(times);
  std::ranges::sort(ratios);
  std::printf("%-10s %10.0f ns, %.2f of the time by hand (%.2f to %.2f)\n", name,
              times[kSamples / 2], ratios[kSamples / 2], ratios[kSamples / 10],
              ratios[kSamples - 1 - kSamples / 10]);
}

}  // namespace

int main() {
  tl::set_num_threads(1);
  const auto pendulum_gradient = tl::jit(tl::grad(pendulum, tl::argnums<0, 1>));
  compare(
      "pendulum", 20,
      [&](int i) {
        const auto [a, d] = pendulum_gradient(Real(1.0 + 1e-3 * i), Real(0.1), Count(1000));
        return a.item() + d.item();
      },
      [](int i) {
        const auto g = by_hand::pendulum_gradient(1.0 + 1e-3 * i, 0.1, 1000);
        return g.angle + g.damping;
      });
  const auto roots_gradient = tl::jit(tl::grad(roots));
  compare(
      "roots", 20, [&](int i) { return roots_gradient(Real(2.0 + i), Count(200)).item(); },
      [](int i) { return roots_by_hand(2.0 + i, 200); });
}
