// f64 arrays as vectors: noise, inner products, lanes.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/transform/complex_interp.h"
#include "tlaloc/base/host_array.h"

namespace tlaloc::testing {

using Arrays = std::vector<HostArray>;

/// Reproducible in every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : bits_(seed) {}
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n).
  int below(int n) { return static_cast<int>(uniform() * n); }
  /// About normal: mean 0, deviation 1, within ±3.5.
  double normal();
  HostArray like(const HostArray& a, double scale);

 private:
  std::mt19937_64 bits_;
};

/// a + s·b, elementwise.
HostArray axpy(const HostArray& a, double s, const HostArray& b);
/// Sum over all arrays of the inner products; the lists have equal shapes.
double inner(const Arrays& a, const Arrays& b);
/// Those with element type f64.
Arrays reals_of(const Arrays& args);
/// x + i h u, where u moves the f64 arrays of x.
ComplexArrays step_along(const Arrays& x, const Arrays& u, double scale = kStep);
/// Arrays of one shape, along a new leading axis; and back.
HostArray stacked(const Arrays& lanes);
HostArray lane(const HostArray& a, std::int64_t i);

Arrays operator+(Arrays a, const Arrays& b);

}  // namespace tlaloc::testing
