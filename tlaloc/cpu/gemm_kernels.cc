#include "tlaloc/cpu/gemm_kernels.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/gemm_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A panel of T.
template <class T>
struct Plain {
  static constexpr std::int64_t kBytes = kColumns<T> * static_cast<std::int64_t>(sizeof(T));
  static HWY_INLINE auto load(const std::byte* b, int v) {
    const hn::ScalableTag<T> d;
    return hn::Load(d, reinterpret_cast<const T*>(b) + v * hn::MaxLanes(d));
  }
};

#if HWY_TARGET <= HWY_AVX2
/// A tile of kV vectors of columns or fewer, with A and B where they lie.
template <int kR, int kV, class T>
HWY_NOINLINE void direct(std::int64_t depth, const T* HWY_RESTRICT a, std::int64_t row,
                         std::int64_t step, const T* HWY_RESTRICT b, std::int64_t b_row,
                         T* HWY_RESTRICT c, std::int64_t c_row, std::int64_t columns, bool add) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  using V = hn::Vec<decltype(d)>;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(columns - (kV - 1) * kLanes));
  auto load = [&](const T* from, int v) HWY_ATTR {
    return v + 1 < kV ? hn::LoadU(d, from + v * kLanes)
                      : hn::MaskedLoad(mask, d, from + v * kLanes);
  };
  V sums[kR][kV];
  HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
    HWY_UNROLL(2) for (int v = 0; v < kV; ++v) sums[r][v] = hn::Zero(d);
  }
  // Addresses that are a register and a multiple of `row`, not a register each.
  const T* HWY_RESTRICT third[4] = {a, a + 3 * row, a + 6 * row, a + 9 * row};
  auto multiply = [&](const V* right, std::int64_t next) HWY_ATTR {
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      const auto left = hn::Set(d, third[r / 3][r % 3 * row]);
      HWY_UNROLL(2) for (int v = 0; v < kV; ++v) {
        sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
      }
    }
    HWY_UNROLL(4) for (auto& t : third) t += next;
    b += b_row;
  };
  const bool whole = columns == kV * kLanes;
  std::int64_t k = 0;
  if constexpr (kR == kRows && kV == 2) {  // what most of a product is: with less counting
    if (whole && step == 1) {
      HWY_UNROLL(4) for (; k < depth; ++k) {
        const V right[kV] = {hn::LoadU(d, b), hn::LoadU(d, b + kLanes)};
        multiply(right, 1);
      }
    }
  }
  for (; k < depth; ++k) {
    V right[kV];
    HWY_UNROLL(2) for (int v = 0; v < kV; ++v) right[v] = load(b, v);
    multiply(right, step);
  }
  HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
    HWY_UNROLL(2) for (int v = 0; v < kV; ++v) {
      T* to = c + r * c_row;
      const V sum = add ? hn::Add(load(to, v), sums[r][v]) : sums[r][v];
      // With AVX2 some processors take many cycles to write a part of a vector.
      if (v + 1 < kV || whole) {
        hn::StoreU(sum, d, to + v * kLanes);
      } else {
        hn::BlendedStore(sum, mask, d, to + v * kLanes);
      }
    }
  }
}
#endif

/// sums[r][j] += a[q][r] * b[q * step + j] for kQ rows of B, in order, from column j on, by kV
/// vectors of D: an element of A is loaded once for all of those.
template <int kR, int kQ, int kV, class D, class T>
HWY_INLINE std::int64_t add_rows(D d, std::int64_t j, std::int64_t columns, const T* HWY_RESTRICT a,
                                 const T* HWY_RESTRICT b, std::int64_t step, T* HWY_RESTRICT sums) {
  constexpr int kLanes = hn::MaxLanes(D());
  for (; j + kV * kLanes <= columns; j += kV * kLanes) {
    hn::Vec<D> right[kQ][kV];
    HWY_UNROLL(8) for (int q = 0; q < kQ; ++q) {
      HWY_UNROLL(4) for (int v = 0; v < kV; ++v) {
        right[q][v] = hn::LoadU(d, b + q * step + j + v * kLanes);
      }
    }
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      T* to = sums + r * columns + j;
      hn::Vec<D> sum[kV];
      HWY_UNROLL(4) for (int v = 0; v < kV; ++v) sum[v] = hn::LoadU(d, to + v * kLanes);
      HWY_UNROLL(8) for (int q = 0; q < kQ; ++q) {
        const auto left = hn::Set(d, a[q * kR + r]);
        HWY_UNROLL(4) for (int v = 0; v < kV; ++v) {
          sum[v] = hn::MulAdd(left, right[q][v], sum[v]);
        }
      }
      HWY_UNROLL(4) for (int v = 0; v < kV; ++v) hn::StoreU(sum[v], d, to + v * kLanes);
    }
  }
  return j;
}

template <int kR, int kQ, class T>
HWY_INLINE void add_rows(std::int64_t columns, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                         std::int64_t step, T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  std::int64_t j = add_rows<kR, kQ, 2>(d, 0, columns, a, b, step, sums);
  j = add_rows<kR, kQ, 1>(d, j, columns, a, b, step, sums);
  add_rows<kR, kQ, 1>(hn::CappedTag<T, 1>(), j, columns, a, b, step, sums);
}

template <int kR, class T>
HWY_NOINLINE void strip(std::int64_t depth, std::int64_t columns, const T* HWY_RESTRICT a,
                        const T* HWY_RESTRICT b, std::int64_t step, T* HWY_RESTRICT sums) {
  constexpr int kQ = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
  std::fill_n(sums, kR * columns, T(0));
  std::int64_t k = 0;
  for (; k + kQ <= depth; k += kQ) {
    add_rows<kR, kQ>(columns, a + k * kR, b + k * step, step, sums);
  }
  for (; k < depth; ++k) add_rows<kR, 1>(columns, a + k * kR, b + k * step, step, sums);
}

#if HWY_TARGET != HWY_SCALAR
/// Square blocks of 16 bytes, transposed each: 4 x 4 of f32, 2 x 2 of f64.
template <class D, class V>
HWY_INLINE void transpose_in_blocks(D d, V* x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const V low = hn::InterleaveLower(d, x[0], x[1]);
    x[1] = hn::InterleaveUpper(d, x[0], x[1]);
    x[0] = low;
  } else {
    const hn::Repartition<double, D> pairs;
    auto both = [&](V a, V b) HWY_ATTR {
      return std::pair(hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
                       hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)));
    };
    const auto [low01, up01] = both(x[0], x[1]);
    const auto [low23, up23] = both(x[2], x[3]);
    x[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
    x[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
    x[2] = hn::BitCast(d, hn::InterleaveLower(pairs, up01, up23));
    x[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, up01, up23));
  }
}
#endif

/// As many rows as a vector has lanes, transposed: element k of them becomes x[k]. Where there are
/// fewer than that, the last one stands for those behind it.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE void load_transposed(D d, const T* from, std::int64_t row, V* x,
                                std::int64_t rows = hn::MaxLanes(D())) {
  constexpr int kLanes = hn::MaxLanes(D());
  HWY_UNROLL(16) for (int i = 0; i < kLanes; ++i) {
    x[i] = hn::LoadU(d, from + std::min<std::int64_t>(i, rows - 1) * row);
  }
#if HWY_TARGET != HWY_SCALAR
  constexpr int kSide = 16 / sizeof(T), kBlocks = kLanes / kSide;
  if constexpr (kBlocks > 0) {
    HWY_UNROLL(4) for (int i = 0; i < kBlocks; ++i) transpose_in_blocks(d, x + i * kSide);
  }
  // Now the blocks themselves: block b of x[i * kSide + q] goes to block i of x[b * kSide + q].
  if constexpr (kBlocks == 2) {
    HWY_UNROLL(4) for (int q = 0; q < kSide; ++q) {
      const V low = hn::ConcatLowerLower(d, x[kSide + q], x[q]);
      x[kSide + q] = hn::ConcatUpperUpper(d, x[kSide + q], x[q]);
      x[q] = low;
    }
  } else if constexpr (kBlocks == 4) {
    HWY_UNROLL(4) for (int q = 0; q < kSide; ++q) {
      V &x0 = x[q], &x1 = x[kSide + q], &x2 = x[2 * kSide + q], &x3 = x[3 * kSide + q];
      const V low02 = hn::ConcatLowerLower(d, x2, x0), low13 = hn::ConcatLowerLower(d, x3, x1);
      const V up02 = hn::ConcatUpperUpper(d, x2, x0), up13 = hn::ConcatUpperUpper(d, x3, x1);
      x0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low13), low02);
      x1 = hn::OddEvenBlocks(low13, hn::SwapAdjacentBlocks(low02));
      x2 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(up13), up02);
      x3 = hn::OddEvenBlocks(up13, hn::SwapAdjacentBlocks(up02));
    }
  }
#endif
}

template <int kR, class T>
HWY_NOINLINE void dots(std::int64_t depth, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                       std::int64_t column, T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  using V = hn::Vec<decltype(d)>;
  V sum[kR];
  HWY_UNROLL(8) for (int r = 0; r < kR; ++r) sum[r] = hn::Zero(d);
  std::int64_t k = 0;
  // Where columns are short, the next ones are what comes next in memory, in an order that the
  // processor does not see. Those that follow each other are asked for by their addresses, early
  // and for the second-level cache, which has more requests under way: a line more each time, as
  // columns end between lines.
  constexpr std::int64_t kLine = 64, kNear = 16 * 1024;
  const std::int64_t bytes = depth * kLanes * static_cast<std::int64_t>(sizeof(T));
  const bool stream = column == depth && bytes <= 4 * kNear, ahead = !stream && bytes <= kNear;
  const char* next = reinterpret_cast<const char*>(b) + 2 * bytes;
  for (; k + kLanes <= depth; k += kLanes) {
    if (stream) {
      HWY_UNROLL(17) for (int i = 0; i <= kLanes; ++i) {
        __builtin_prefetch(next + i * kLine, 0, 2);
      }
      next += (kLanes + 1) * kLine;
    }
    if (ahead) {
      HWY_UNROLL(16) for (int i = 0; i < kLanes; ++i) {
        hwy::Prefetch(b + (kLanes + i) * column + k);
      }
    }
    V right[kLanes];
    load_transposed(d, b + k, column, right);
    HWY_UNROLL(16) for (int q = 0; q < kLanes; ++q) {
      HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
        sum[r] = hn::MulAdd(hn::Set(d, a[(k + q) * kR + r]), right[q], sum[r]);
      }
    }
  }
  if (depth - k > 2 && depth >= kLanes) {  // a whole block again, of which the end counts
    V right[kLanes];
    load_transposed(d, b + depth - kLanes, column, right);
    for (std::int64_t q = k - (depth - kLanes); q < kLanes; ++q, ++k) {
      HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
        sum[r] = hn::MulAdd(hn::Set(d, a[k * kR + r]), right[q], sum[r]);
      }
    }
  }
  for (; k < depth; ++k) {
    HWY_ALIGN T some[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) some[i] = b[i * column + k];
    const V right = hn::Load(d, some);
    HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
      sum[r] = hn::MulAdd(hn::Set(d, a[k * kR + r]), right, sum[r]);
    }
  }
  HWY_UNROLL(8) for (int r = 0; r < kR; ++r) hn::StoreU(sum[r], d, sums + r * kLanes);
}

/// From rows that are contiguous along k, by blocks of as many rows as vectors have lanes; from row
/// r on to the first one that is left. None where they are too short for such vectors.
template <class D, class T>
HWY_INLINE std::int64_t pack_transposed(D d, std::int64_t r, const T* from, std::int64_t row,
                                        std::int64_t rows, std::int64_t depth, std::int64_t width,
                                        T* out) {
  constexpr int kLanes = hn::MaxLanes(D());
  if (depth < kLanes) return r;
  for (; r + kLanes <= rows; r += kLanes) {
    const T* source = from + r * row;
    const auto block = [&](std::int64_t k) HWY_ATTR {
      hn::Vec<D> x[kLanes];
      load_transposed(d, source + k, row, x);
      HWY_UNROLL(16) for (int q = 0; q < kLanes; ++q) {
        hn::StoreU(x[q], d, out + (k + q) * width + r);
      }
    };
    std::int64_t k = 0;
    for (; k + kLanes <= depth; k += kLanes) block(k);
    // What is left ends a whole block, whose start is written again.
    if (k < depth) block(depth - kLanes);
  }
  return r;
}

/// From more than half as many rows as vectors have lanes, which are all of the tile: what comes
/// behind those of one k is written again with the next k.
template <class T>
HWY_INLINE void pack_tile(const T* from, std::int64_t row, std::int64_t rows, std::int64_t depth,
                          T* out) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const auto block = [&](std::int64_t k) HWY_ATTR {
    hn::Vec<decltype(d)> x[kLanes];
    load_transposed(d, from + k, row, x, rows);
    // Rows are too short for the processor to see where they go on: so is the next tile asked for.
    for (std::int64_t i = 0; i < rows; ++i) hwy::Prefetch(from + (rows + i) * row + k);
    HWY_UNROLL(16) for (int q = 0; q + 1 < kLanes; ++q) hn::StoreU(x[q], d, out + (k + q) * rows);
    T* const last = out + (k + kLanes - 1) * rows;
    if (k + kLanes < depth) return hn::StoreU(x[kLanes - 1], d, last);
    HWY_ALIGN T of_last[kLanes];
    hn::Store(x[kLanes - 1], d, of_last);
    std::copy_n(of_last, rows, last);
  };
  std::int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) block(k);
  if (k < depth) block(depth - kLanes);
}

/// From columns that are contiguous along the rows.
template <class T>
HWY_INLINE void pack_copied(const T* from, std::int64_t step, std::int64_t rows, std::int64_t depth,
                            std::int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  // Tiles may be three quarters of a vector high.
  const hn::CappedTag<T, 16 / sizeof(T)> few;
  constexpr std::int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr std::int64_t kFew = hn::MaxLanes(hn::CappedTag<T, 16 / sizeof(T)>());
  if (rows == kColumns<T> && rows == width) {  // a whole panel
    for (std::int64_t k = 0; k < depth; ++k, from += step, out += width) {
      const auto first = hn::LoadU(d, from), second = hn::LoadU(d, from + kLanes);
      hn::StoreU(first, d, out);
      hn::StoreU(second, d, out + kLanes);
      hwy::Prefetch(from + depth * step);
    }
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k, from += step, out += width) {
    std::int64_t r = 0;
    for (; r + kLanes <= rows; r += kLanes) hn::StoreU(hn::LoadU(d, from + r), d, out + r);
    for (; r + kFew <= rows; r += kFew) hn::StoreU(hn::LoadU(few, from + r), few, out + r);
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
    if (step == 1) {
      constexpr std::int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
      if (rows == width && rows < kLanes && 2 * rows > kLanes && depth >= kLanes) {
        return pack_tile(source, row, rows, depth, out);
      }
      std::int64_t r =
          pack_transposed(hn::ScalableTag<T>(), 0, source, row, rows, depth, width, out);
      r = pack_transposed(hn::CappedTag<T, 16 / sizeof(T)>(), r, source, row, rows, depth, width,
                          out);
      pack_transposed(hn::CappedTag<T, 1>(), r, source, row, rows, depth, width, out);
      return;
    }
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
  kernels.columns = kColumns<T>;
  kernels.tiles = tile_kernels<TileOf<Plain<T>, T>, T>();
#if HWY_TARGET <= HWY_AVX2
  [&]<int... kI>(std::integer_sequence<int, kI...>) {
    ((kernels.direct[0][kI] = direct<kI + 1, 1, T>, kernels.direct[1][kI] = direct<kI + 1, 2, T>),
     ...);
  }(std::make_integer_sequence<int, kRows>());
#endif
  [&]<int... kI>(std::integer_sequence<int, kI...>) {
    ((kernels.strips[kI] = strip<kI + 1, T>, kernels.dots[kI] = dots<kI + 1, T>), ...);
  }(std::make_integer_sequence<int, GemmKernels<T>::kFewRows>());
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
