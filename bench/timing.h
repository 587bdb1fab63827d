// Processor time of one thread, for the programs that measure.
#pragma once

#include <algorithm>
#include <ctime>
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
template <class F>
double time_of(const F& f) {
  const double start = seconds();
  f();
  return seconds() - start;
}

}  // namespace bench
