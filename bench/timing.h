// Processor time of one thread, for the programs that measure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <random>
#include <vector>

namespace bench {

inline double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
inline double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}
struct Interval {
  double median, low, high;
};
/// The median and its 95 % bootstrap interval.
inline Interval interval(const std::vector<double>& v) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> any(0, v.size() - 1);
  std::vector<double> medians(2000), drawn(v.size());
  for (double& m : medians) {
    for (double& x : drawn) x = v[any(random)];
    m = median(drawn);
  }
  std::ranges::sort(medians);
  return {median(v), medians[50], medians[medians.size() - 51]};
}
template <class F>
double time_of(const F& f) {
  const double start = seconds();
  f();
  return seconds() - start;
}

}  // namespace bench
