#include "tlaloc/ops/elementwise_special.h"

#include <array>

#include "tlaloc/ops/erf_inv_series.h"

namespace tlaloc::ops {
namespace {

/// Horner's rule, highest power first.
template <class T, std::size_t N>
T polynomial(T x, const std::array<T, N>& coefficients) {
  T r = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) r = r * x + coefficients[i];
  return r;
}

}  // namespace

float erf_inv_value(float x) {
  using namespace erf_inv_series;
  if (std::abs(x) == 1) return x * std::numeric_limits<float>::infinity();
  const float w = -std::log1p(-x * x);
  return x * (w < 5 ? polynomial(w - 2.5f, kCentre32) : polynomial(std::sqrt(w) - 3, kTail32));
}
double erf_inv_value(double x) {
  using namespace erf_inv_series;
  if (std::abs(x) == 1) return x * std::numeric_limits<double>::infinity();
  // log1p(-x * x) would lose what x * x rounds away next to 1.
  const double w = -std::log((1 - x) * (1 + x));
  if (w < 6.25) return x * polynomial(w - 3.125, kCentre64);
  if (w < 16) return x * polynomial(std::sqrt(w) - 3.25, kTail64);
  return x * polynomial(std::sqrt(w) - 5, kFarTail64);
}

TLALOC_ROW(Erf);
TLALOC_ROW(Erfc);
TLALOC_ROW(ErfInv);

TLALOC_UNARY(erf, Erf)
TLALOC_UNARY(erfc, Erfc)
TLALOC_UNARY(erf_inv, ErfInv)

}  // namespace tlaloc::ops
