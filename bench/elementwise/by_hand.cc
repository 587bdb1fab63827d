#include "bench/elementwise/by_hand.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace by_hand {
namespace {

float widened(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }
std::uint16_t narrowed(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>((u >> 16) | 0x40);
  return static_cast<std::uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
float rounded(float x) { return widened(narrowed(x)); }

}  // namespace

void axpy(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5F * x[i] + y[i];
}
void gelu(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = 0.5F * x[i] + 0.5F * y[i] * (1 + std::erf(y[i] * 0.70710678F));
  }
}
void softplus(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5F * x[i] + std::log1p(std::exp(y[i]));
}
void waves(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5F * x[i] + std::sin(y[i]) * std::cos(1.5F * y[i]);
}
void power(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5F * x[i] + std::pow(std::abs(y[i]), 2.4F);
}
void softplus64(double* x, const double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5 * x[i] + std::log1p(std::exp(y[i]));
}
void waves64(double* x, const double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5 * x[i] + std::sin(y[i]) * std::cos(1.5 * y[i]);
}
void relu16(std::uint16_t* x, const std::uint16_t* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float a = widened(x[i]), b = widened(y[i]);
    x[i] = narrowed(std::max(rounded(a * 0.5F) + b, 0.0F));
  }
}
float dot(const float* x, const float* y, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
float most(const float* x, const float* y, std::size_t n) {
  float m = x[0] - y[0];
  for (std::size_t i = 1; i < n; ++i) m = std::max(m, x[i] - y[i]);
  return m;
}

}  // namespace by_hand
