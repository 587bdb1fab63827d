// Products of matrices that lie in memory with any strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/base/dtype.h"
#include "tlaloc/cpu/packed_right.h"

namespace tlaloc::cpu {

/// An element of C is a sum over k in order, in blocks of this many: each block is one chain of
/// multiply-adds that starts at 0, and the blocks' sums are added in order, to what was there if
/// the product is added. So its bits depend on its row of A and its column of B alone: not on m, n,
/// strides, or who computes which part.
/// Multiply-adds round once where the CPU has such an instruction. Integers wrap.
inline constexpr std::int64_t kGemmDepth = 512;

/// Element (i, j) lies `i * row + j * column` elements behind `data`.
struct Matrix {
  const void* data = nullptr;
  std::int64_t row = 0, column = 0;
  Matrix transposed() const { return {data, column, row}; }
};

/// C = A B, or C += A B, with A [m, k] and B [k, n]. A part of C is a Gemm of its own, for another
/// thread say.
struct Gemm {
  DType dtype = DType::f32;  ///< of all three; f16 and bf16 add in f32 and round at the end
  std::int64_t m = 0, n = 0, k = 0;
  Matrix a, b;
  Matrix c;  ///< its data are written
  bool accumulate = false;
  /// B packed, which is not read itself then. The sums have the bits that they have with the
  /// elements of B widened to f32, or decoded.
  PackedRight packed_b = {};
  /// A large product is computed by the gang; else the calling thread computes it.
  bool shared = false;
};

/// Bytes that gemm wants for itself, aligned to 64.
std::size_t gemm_scratch_bytes(DType dtype);
/// How long one thread takes, roughly, on one that does 50 multiply-adds of f32 in a nanosecond.
double gemm_nanoseconds(DType dtype, double m, double n, double k);
/// f16, f32 and so on: any number type, not bool.
void gemm(const Gemm& g, std::byte* scratch);

}  // namespace tlaloc::cpu
