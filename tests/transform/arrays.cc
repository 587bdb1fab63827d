#include "tests/transform/arrays.h"

#include <cstring>

namespace tlaloc::testing {

double Noise::normal() {
  double s = 0;
  for (int i = 0; i < 4; ++i) s += uniform();
  return (s - 2) * 1.7320508;  // four uniforms have variance 4/12
}
HostArray Noise::like(const HostArray& a, double scale) {
  HostArray r(DType::f64, a.extents());
  for (double& x : r.as_mutable<double>()) x = normal() * scale;
  return r;
}

HostArray axpy(const HostArray& a, double s, const HostArray& b) {
  HostArray r(DType::f64, a.extents());
  const auto to = r.as_mutable<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = a.as<double>()[i] + s * b.as<double>()[i];
  return r;
}
double inner(const Arrays& a, const Arrays& b) {
  double s = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto x = a[k].as<double>(), y = b.at(k).as<double>();
    for (std::size_t i = 0; i < x.size(); ++i) s += x[i] * y[i];
  }
  return s;
}
Arrays reals_of(const Arrays& args) {
  Arrays r;
  for (const HostArray& a : args) {
    if (a.dtype() == DType::f64) r.push_back(a);
  }
  return r;
}
ComplexArrays step_along(const Arrays& x, const Arrays& u, double scale) {
  ComplexArrays r;
  std::size_t next = 0;
  for (const HostArray& a : x) {
    if (a.dtype() != DType::f64) {
      r.push_back({a, {}});
      continue;
    }
    const HostArray zero(DType::f64, a.extents());
    r.push_back({a, axpy(zero, scale, u.at(next++))});
  }
  return r;
}
HostArray stacked(const Arrays& lanes) {
  Extents e = lanes.at(0).extents();
  e.insert(e.begin(), static_cast<std::int64_t>(lanes.size()));
  HostArray r(lanes[0].dtype(), std::move(e));
  auto* to = static_cast<std::byte*>(r.mutable_data());
  for (const HostArray& a : lanes) {
    if (a.bytes()) std::memcpy(to, a.data(), a.bytes());
    to += a.bytes();
  }
  return r;
}
HostArray lane(const HostArray& a, std::int64_t i) {
  HostArray r(a.dtype(), Extents(a.extents().begin() + 1, a.extents().end()));
  const auto* from =
      static_cast<const std::byte*>(a.data()) + static_cast<std::size_t>(i) * r.bytes();
  if (r.bytes()) std::memcpy(r.mutable_data(), from, r.bytes());
  return r;
}

Arrays operator+(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace tlaloc::testing
