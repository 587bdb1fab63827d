// Tiles of A times panels of blocks, whose elements are made where they are used; for kernels, per
// kind of CPU.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tlaloc/cpu/right_kernels.h"

#if defined(TLALOC_CPU_RIGHT_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_RIGHT_TILE_INL_H
#undef TLALOC_CPU_RIGHT_TILE_INL_H
#else
#define TLALOC_CPU_RIGHT_TILE_INL_H
#endif

#include <hwy/highway.h>

#include "tlaloc/cpu/block_panel-inl.h"
#include "tlaloc/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The elements of a panel of blocks.
template <Packing kPacking>
struct Elements : BlockPanel<kPacking> {
  using Panel = BlockPanel<kPacking>;
  using Panel::kElements, Panel::kFifth, Panel::kLayout, Panel::words;

  /// Element 16 kHalf + 4 w + kJ of vector v's blocks, before it is scaled.
  template <int kHalf, int kJ>
  static HWY_INLINE V integer(const std::byte* b, int w, int v) {
    if constexpr (kLayout.has_bytes) {
      const auto four =
          hn::BitCast(Integers(), words(b + kElements + (4 * kHalf + w) * 4 * kWidth, v));
      return hn::ConvertTo(kTag, hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kJ>(four)));
    } else {
      const auto word = words(b + kElements + w * 4 * kWidth, v);
      auto bits = hn::ShiftRight<8 * kJ + 4 * kHalf>(word);
#if HWY_TARGET <= HWY_AVX3
      if constexpr (!kLayout.has_fifth) {  // the instruction reads the lowest four bits
        return V{_mm512_permutexvar_ps(bits.raw, hn::Iota(kTag, -kLayout.offset).raw)};
      }
#endif
      bits = hn::And(bits, hn::Set(Words(), 15));
      if constexpr (kLayout.has_fifth) {
        const auto fifth = hn::ShiftRightSame(words(b + kFifth, v), 16 * kHalf + 4 * w + kJ);
        bits = hn::Or(bits, hn::ShiftLeft<4>(hn::And(fifth, hn::Set(Words(), 1))));
      }
      const V x = hn::ConvertTo(kTag, hn::BitCast(Integers(), bits));
      return kLayout.offset == 0 ? x : hn::Sub(x, hn::Set(kTag, kLayout.offset));
    }
  }
  template <int kHalf, int kJ>
  static HWY_INLINE V element(const std::byte* b, int w, int v, V scale, V least) {
    const V x = hn::Mul(integer<kHalf, kJ>(b, w, v), scale);
    if constexpr (kLayout.has_least) return hn::Add(x, least);
    return x;
  }
};

template <class Q>
struct BlockTile {
  template <int kR, int kP>
  static HWY_NOINLINE void run(std::int64_t depth, const float* HWY_RESTRICT a,
                               const std::byte* HWY_RESTRICT b, std::int64_t stride,
                               float* HWY_RESTRICT c, std::int64_t row, std::int64_t apart,
                               bool add) {
    Sums<float, kR, kP> sums;
    sums.clear();
    for (; depth > 0; depth -= kBlock, a += kBlock * kR, b += Q::kBytes) {
      if (depth == kBlock) sums.prefetch(c, row, apart);
      V scale[2 * kP], least[2 * kP];
      numbers<kP>(b, stride, 0, scale, least);
      for (int w = 0; w < 4; ++w) half<0>(sums, a, b, stride, w, scale, least);
      if constexpr (Q::kLayout.parts == 2) numbers<kP>(b, stride, 1, scale, least);
      for (int w = 0; w < 4; ++w) half<1>(sums, a, b, stride, w, scale, least);
    }
    sums.store(c, row, apart, add);
  }
  template <int kP>
  static HWY_INLINE void numbers(const std::byte* b, std::int64_t stride, int part, V* scale,
                                 V* least) {
    HWY_UNROLL(8) for (int v = 0; v < 2 * kP; ++v) {
      scale[v] = Q::scale(b + v / 2 * stride, v % 2, part);
      least[v] = Q::least(b + v / 2 * stride, v % 2, part);
    }
  }
  template <int kHalf, int kR, int kP>
  static HWY_INLINE void half(Sums<float, kR, kP>& sums, const float* a, const std::byte* b,
                              std::int64_t stride, int w, const V* scale, const V* least) {
    a += (16 * kHalf + 4 * w) * kR;
    HWY_UNROLL(8) for (int v = 0; v < 2 * kP; ++v) {
      const std::byte* const from = b + v / 2 * stride;
      one<kHalf, 0>(sums, a, from, w, v, scale[v], least[v]);
      one<kHalf, 1>(sums, a, from, w, v, scale[v], least[v]);
      one<kHalf, 2>(sums, a, from, w, v, scale[v], least[v]);
      one<kHalf, 3>(sums, a, from, w, v, scale[v], least[v]);
    }
  }
  template <int kHalf, int kJ, int kR, int kP>
  static HWY_INLINE void one(Sums<float, kR, kP>& sums, const float* a, const std::byte* b, int w,
                             int v, V scale, V least) {
    const V right = Q::template element<kHalf, kJ>(b, w, v % 2, scale, least);
    HWY_UNROLL(16) for (int r = 0; r < kR; ++r) {
      sums.sums[r][v] = hn::MulAdd(hn::Set(kTag, a[kJ * kR + r]), right, sums.sums[r][v]);
    }
  }
};

template <class Q>
void expand_blocks(const std::byte* b, std::int64_t depth, float* HWY_RESTRICT out) {
  for (; depth > 0; depth -= kBlock, b += Q::kBytes, out += kBlock * kWidth) {
    for (int v = 0; v < 2; ++v) {
      float* const to = out + v * kLanes;
      auto four = [&]<int kHalf>(std::integral_constant<int, kHalf>, int w) HWY_ATTR {
        constexpr int kPart = Q::kLayout.parts == 2 ? kHalf : 0;
        const V scale = Q::scale(b, v, kPart), least = Q::least(b, v, kPart);
        float* const at = to + (16 * kHalf + 4 * w) * kWidth;
        hn::Store(Q::template element<kHalf, 0>(b, w, v, scale, least), kTag, at);
        hn::Store(Q::template element<kHalf, 1>(b, w, v, scale, least), kTag, at + kWidth);
        hn::Store(Q::template element<kHalf, 2>(b, w, v, scale, least), kTag, at + 2 * kWidth);
        hn::Store(Q::template element<kHalf, 3>(b, w, v, scale, least), kTag, at + 3 * kWidth);
      };
      for (int w = 0; w < 4; ++w) four(std::integral_constant<int, 0>(), w);
      for (int w = 0; w < 4; ++w) four(std::integral_constant<int, 1>(), w);
    }
  }
}

template <Packing kPacking>
const RightKernels* block_kernels() {
  using Q = Elements<kPacking>;
  static const RightKernels kernels{tile_kernels<BlockTile<Q>, float>(), kRows, expand_blocks<Q>};
  return &kernels;
}

/// For blocks that were cut: not all tiles, which take the compiler minutes.
template <Packing kPacking>
const RightKernels* few_block_kernels() {
  using Q = Elements<kPacking>;
  static const RightKernels kernels = [] {
    constexpr int kMost = 4;
    RightKernels k{{}, kMost, expand_blocks<Q>};
    [&]<int... kI>(std::integer_sequence<int, kI...>) {
      ((k.tiles.narrow[kI] = {BlockTile<Q>::template run<kI + 1, 1>, 1},
        k.tiles.wide[kI] = {BlockTile<Q>::template run<kI + 1, panels_of(kI + 1)>,
                            panels_of(kI + 1)}),
       ...);
    }(std::make_integer_sequence<int, kMost>());
    return k;
  }();
  return &kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
