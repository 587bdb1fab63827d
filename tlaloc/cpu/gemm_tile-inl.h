// Tiles of A times panels of B, whatever those are made of; for kernels, per kind of CPU.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tlaloc/cpu/gemm_kernels.h"

#if defined(TLALOC_CPU_GEMM_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_GEMM_TILE_INL_H
#undef TLALOC_CPU_GEMM_TILE_INL_H
#else
#define TLALOC_CPU_GEMM_TILE_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A panel is two vectors wide. A tile keeps its sums in registers: of 32 vector registers 12 x 2
// are sums, of 16 they are 6 x 2; the others hold two vectors of B and an element of A.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
template <class T>
constexpr std::int64_t kColumns = static_cast<std::int64_t>(2 * hn::MaxLanes(hn::ScalableTag<T>()));

/// Panels side by side: enough chains of multiply-adds to hide an addition's latency, and as many
/// streams of memory as there are registers for.
constexpr int panels_of(int rows) {
  if (HWY_TARGET <= HWY_AVX3) return rows <= 3 ? 4 : rows <= 6 ? 2 : 1;
  return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
}

/// The sums of a tile.
template <class T, int kR, int kP>
struct Sums {
  static constexpr int kV = 2 * kP;
  static constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  using V = hn::Vec<hn::ScalableTag<T>>;
  V sums[kR][kV];

  static HWY_INLINE T* at(T* c, std::int64_t row, std::int64_t apart, int r, int v) {
    return c + r * row + v / 2 * apart + v % 2 * kLanes;
  }
  HWY_INLINE void clear() {
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) sums[r][v] = hn::Zero(hn::ScalableTag<T>());
    }
  }
  /// Where they go, shortly before the end: a tile and a panel may be more than the first-level
  /// cache holds, and what was asked for before them would be gone.
  static HWY_INLINE void prefetch(T* c, std::int64_t row, std::int64_t apart) {
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) hwy::Prefetch(at(c, row, apart, r, v));
    }
  }
  HWY_INLINE void store(T* c, std::int64_t row, std::int64_t apart, bool add) const {
    const hn::ScalableTag<T> d;
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        T* to = at(c, row, apart, r, v);
        hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sums[r][v]) : sums[r][v], d, to);
      }
    }
  }
};

/// Panel: load(b, v) is vector v of one k, which takes kBytes.
template <class Panel, class T>
struct TileOf {
  // Of k: some hundred nanoseconds, which is what memory takes.
  static constexpr std::int64_t kLate = 64;

  template <int kR, int kP>
  static HWY_NOINLINE void run(std::int64_t depth, const T* HWY_RESTRICT a,
                               const std::byte* HWY_RESTRICT b, std::int64_t stride,
                               T* HWY_RESTRICT c, std::int64_t row, std::int64_t apart, bool add) {
    Sums<T, kR, kP> sums;
    sums.clear();
    for (std::int64_t left = depth, some = std::max<std::int64_t>(depth - kLate, 0);; some = left) {
      left -= some;
      // Counting takes every tenth instruction, which a core that another thread keeps busy has no
      // room for: without it the largest tile, which does most of large products, takes 0.93 of the
      // time. The compiler does better at a loop than at its body written four times. Other tiles
      // wait for memory.
      if constexpr (kR == kRows && kP == 1) {
        HWY_UNROLL(4) for (; some > 0; --some, a += kR, b += Panel::kBytes) {
          multiply(sums, a, b, stride);
        }
      } else {
        for (; some > 0; --some, a += kR, b += Panel::kBytes) multiply(sums, a, b, stride);
      }
      if (left == 0) break;
      sums.prefetch(c, row, apart);
    }
    sums.store(c, row, apart, add);
  }
  template <int kR, int kP>
  static HWY_INLINE void multiply(Sums<T, kR, kP>& sums, const T* a, const std::byte* b,
                                  std::int64_t stride) {
    typename Sums<T, kR, kP>::V right[2 * kP];
    HWY_UNROLL(8) for (int v = 0; v < 2 * kP; ++v) {
      right[v] = Panel::load(b + v / 2 * stride, v % 2);
    }
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      const auto left = hn::Set(hn::ScalableTag<T>(), a[r]);
      HWY_UNROLL(8) for (int v = 0; v < 2 * kP; ++v) {
        sums.sums[r][v] = hn::MulAdd(left, right[v], sums.sums[r][v]);
      }
    }
  }
};

/// For all heights of tiles; Run::run<kR, kP> is the kernel of one.
template <class Run, class T>
TileKernels<T> tile_kernels() {
  TileKernels<T> r;
  [&]<int... kI>(std::integer_sequence<int, kI...>) {
    ((r.narrow[kI] = {Run::template run<kI + 1, 1>, 1},
      r.wide[kI] = {Run::template run<kI + 1, panels_of(kI + 1)>, panels_of(kI + 1)}),
     ...);
  }(std::make_integer_sequence<int, kRows>());
  return r;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
