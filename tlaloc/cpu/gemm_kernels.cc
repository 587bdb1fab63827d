#include "tlaloc/cpu/gemm_kernels.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/gemm_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A panel is two vectors wide. A tile keeps its sums in registers: of 32 vector registers 12 x 2
// are sums, of 16 they are 6 x 2; the others hold two vectors of B and an element of A.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

/// Panels side by side that give at least 8 chains of multiply-adds: as many as it takes to hide
/// an addition's latency of 4 cycles at two a cycle.
constexpr int panels_of(int rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }

template <int kR, int kP, class T>
HWY_NOINLINE void tile(std::int64_t depth, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                       std::int64_t stride, T* HWY_RESTRICT c, std::int64_t row, bool add) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr int kV = 2 * kP;
  hn::Vec<decltype(d)> sums[kR][kV];
  HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
    HWY_UNROLL(8) for (int v = 0; v < kV; ++v) sums[r][v] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> right[kV];
    HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
      right[v] = hn::Load(d, b + (v / 2) * stride + (v % 2) * kLanes);
    }
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      const auto left = hn::Set(d, a[r]);
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
      }
    }
    a += kR;
    b += 2 * kLanes;
  }
  if (add) {
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        T* at = c + r * row + v * kLanes;
        hn::StoreU(hn::Add(hn::LoadU(d, at), sums[r][v]), d, at);
      }
    }
  } else {
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        hn::StoreU(sums[r][v], d, c + r * row + v * kLanes);
      }
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Four rows (two of f64) to columns, as many at once.
template <class T>
HWY_INLINE void transpose_square(const T* from, std::int64_t row, T* to, std::int64_t width) {
  constexpr int kSide = 16 / sizeof(T);
  const hn::FixedTag<T, kSide> d;
  if constexpr (kSide == 2) {
    const auto x = hn::LoadU(d, from), y = hn::LoadU(d, from + row);
    hn::StoreU(hn::InterleaveLower(d, x, y), d, to);
    hn::StoreU(hn::InterleaveUpper(d, x, y), d, to + width);
  } else {
    const auto x0 = hn::LoadU(d, from), x1 = hn::LoadU(d, from + row);
    const auto x2 = hn::LoadU(d, from + 2 * row), x3 = hn::LoadU(d, from + 3 * row);
    const auto low01 = hn::InterleaveLower(d, x0, x1), low23 = hn::InterleaveLower(d, x2, x3);
    const auto up01 = hn::InterleaveUpper(d, x0, x1), up23 = hn::InterleaveUpper(d, x2, x3);
    hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
    hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + width);
    hn::StoreU(hn::ConcatLowerLower(d, up23, up01), d, to + 2 * width);
    hn::StoreU(hn::ConcatUpperUpper(d, up23, up01), d, to + 3 * width);
  }
}

#endif

/// From rows that are contiguous along k.
template <class T>
HWY_INLINE void pack_transposed(const T* from, std::int64_t row, std::int64_t rows,
                                std::int64_t depth, std::int64_t width, T* out) {
  std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t kSide = 16 / sizeof(T);
  for (; r + kSide <= rows; r += kSide) {
    const T* source = from + r * row;
    std::int64_t k = 0;
    for (; k + kSide <= depth; k += kSide) {
      transpose_square(source + k, row, out + k * width + r, width);
    }
    for (; k < depth; ++k) {
      for (std::int64_t i = 0; i < kSide; ++i) out[k * width + r + i] = source[i * row + k];
    }
  }
#endif
  for (; r < rows; ++r) {
    for (std::int64_t k = 0; k < depth; ++k) out[k * width + r] = from[r * row + k];
  }
}

/// From columns that are contiguous along the rows.
template <class T>
HWY_INLINE void pack_copied(const T* from, std::int64_t step, std::int64_t rows, std::int64_t depth,
                            std::int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  for (std::int64_t k = 0; k < depth; ++k, from += step, out += width) {
    std::int64_t r = 0;
    for (; r + kLanes <= rows; r += kLanes) hn::StoreU(hn::LoadU(d, from + r), d, out + r);
    for (; r < rows; ++r) out[r] = from[r];
  }
}

template <class S, class T>
void pack(const void* from, std::int64_t row, std::int64_t step, std::int64_t rows,
          std::int64_t depth, std::int64_t width, T* out) {
  const S* source = static_cast<const S*>(from);
  if (rows < width) std::fill_n(out, depth * width, T(0));
  if constexpr (std::is_same_v<S, T>) {
    if (row == 1) return pack_copied(source, step, rows, depth, width, out);
    if (step == 1) return pack_transposed(source, row, rows, depth, width, out);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t r = 0; r < rows; ++r) {
      out[k * width + r] = static_cast<T>(source[r * row + k * step]);
    }
  }
}

template <class T>
GemmKernels<T> make_kernels() {
  GemmKernels<T> kernels;
  kernels.rows = kRows;
  kernels.columns = static_cast<std::int64_t>(2 * hn::MaxLanes(hn::ScalableTag<T>()));
  [&]<int... kI>(std::integer_sequence<int, kI...>) {
    ((kernels.narrow[kI] = {tile<kI + 1, 1, T>, 1},
      kernels.wide[kI] = {tile<kI + 1, panels_of(kI + 1), T>, panels_of(kI + 1)}),
     ...);
  }(std::make_integer_sequence<int, kRows>());
  kernels.pack = pack<T, T>;
  if constexpr (std::is_same_v<T, float>) {
    kernels.pack_f16 = pack<Half, float>;
    kernels.pack_bf16 = pack<BFloat16, float>;
  }
  return kernels;
}

const GemmKernels<float>& kernels_f32() {
  static const GemmKernels<float> kernels = make_kernels<float>();
  return kernels;
}
const GemmKernels<double>& kernels_f64() {
  static const GemmKernels<double> kernels = make_kernels<double>();
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);

template <class T>
const GemmKernels<T>& gemm_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(kernels_f32)();
  } else {
    return HWY_DYNAMIC_DISPATCH(kernels_f64)();
  }
}
template const GemmKernels<float>& gemm_kernels();
template const GemmKernels<double>& gemm_kernels();

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
