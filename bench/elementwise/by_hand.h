// What the chains of elementwise.cc compute, as one loop each; g++ -O3 -march=native -ffast-math
// makes vector code of them, with libmvec's functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace by_hand {

// x = f(x, y) in place.
void axpy(float* x, const float* y, std::size_t n);
void gelu(float* x, const float* y, std::size_t n);
void softplus(float* x, const float* y, std::size_t n);
void waves(float* x, const float* y, std::size_t n);
void power(float* x, const float* y, std::size_t n);
void softplus64(double* x, const double* y, std::size_t n);
void waves64(double* x, const double* y, std::size_t n);
/// bf16, rounded after each operation.
void relu16(std::uint16_t* x, const std::uint16_t* y, std::size_t n);

float dot(const float* x, const float* y, std::size_t n);
float most(const float* x, const float* y, std::size_t n);

}  // namespace by_hand
