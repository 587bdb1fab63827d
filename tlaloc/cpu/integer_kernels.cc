#include "tlaloc/cpu/integer_kernels.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/integer_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/block_panel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kWords = IntegerKernels::kWords;
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 6 : 4;
/// Measured on Zen 4 (AVX-512: 2 streams read 10 % faster than 4, and 15 % than 1) and Zen 3.
constexpr int streams_of(int rows) {
  if (HWY_TARGET <= HWY_AVX3) return rows <= 2 ? 2 : 1;
  return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

// ---- activations ----

void round_blocks(const float* HWY_RESTRICT x, std::int64_t blocks, std::int64_t r,
                  std::int64_t rows, std::int32_t* HWY_RESTRICT out) {
  constexpr int kSteps = kBlock / static_cast<int>(kLanes);
  const hn::Rebind<std::int8_t, D> bytes;
  for (std::int64_t b = 0; b < blocks; ++b, x += kBlock, out += kWords * rows) {
    V most = hn::Zero(kTag);
    auto finite = hn::Eq(most, most);
    for (int i = 0; i < kSteps; ++i) {
      const V v = hn::Abs(hn::LoadU(kTag, x + i * kLanes));
      finite = hn::And(finite, hn::Le(v, hn::Set(kTag, std::numeric_limits<float>::max())));
      most = hn::Max(v, most);
    }
    const bool all = hn::AllTrue(kTag, finite);
    const float scale = all ? hn::GetLane(hn::MaxOfLanes(kTag, most)) / 127 : NAN;
    HWY_ALIGN std::int8_t q[kBlock] = {};
    std::int32_t sum = 0;
    if (scale > 0) {
      auto sums = hn::Zero(Integers());
      const V half = hn::Set(kTag, 0.5F), one = hn::Set(kTag, 1), d = hn::Set(kTag, scale);
      const V limit = hn::Set(kTag, 127);
      for (int i = 0; i < kSteps; ++i) {
        const V t = hn::Div(hn::LoadU(kTag, x + i * kLanes), d), whole = hn::Trunc(t);
        // Halves away from zero; the difference is exact.
        const V away =
            hn::IfThenElseZero(hn::Ge(hn::Abs(hn::Sub(t, whole)), half), hn::CopySign(one, t));
        const V rounded = hn::Max(hn::Min(hn::Add(whole, away), limit), hn::Neg(limit));
        const auto integer = hn::ConvertTo(Integers(), rounded);
        sums = hn::Add(sums, integer);
        hn::StoreU(hn::DemoteTo(bytes, integer), bytes, q + i * kLanes);
      }
      sum = hn::GetLane(hn::SumOfLanes(Integers(), sums));
    }
    for (int w = 0; w < 8; ++w) std::memcpy(out + w * rows + r, q + 4 * w, 4);
    std::memcpy(out + 8 * rows + r, &scale, 4);
    out[9 * rows + r] = sum;
    const float scaled = scale * static_cast<float>(sum);
    std::memcpy(out + 10 * rows + r, &scaled, 4);
  }
}

// ---- sums of products of integers ----

/// The sums of kR rows with both vectors of a panel, of weights that are larger by kOffset than
/// they should be; `b` is one block of the panel, read in the order of its addresses. kDots: by the
/// processor's dot products of bytes.
template <class Q, int kR, bool kDots, bool kBytes = Q::kLayout.has_bytes>
struct Products;

#if HWY_TARGET <= HWY_AVX2
#if HWY_TARGET <= HWY_AVX3
template <class Q, int kR, bool kBytes>
struct Products<Q, kR, true, kBytes> {
  // Weights are unsigned to the instruction, as activations are signed.
  static constexpr std::int32_t kOffset =
      kBytes ? 128 : static_cast<std::int32_t>(Q::kLayout.offset);
  hn::Vec<Integers> sums[kR][2];
  HWY_INLINE Products(const std::int32_t* a, const std::byte* b) {
    HWY_UNROLL(8) for (int r = 0; r < kR; ++r) sums[r][0] = sums[r][1] = hn::Zero(Integers());
    HWY_UNROLL(4) for (int w = 0; w < 4; ++w) {
      HWY_UNROLL(2) for (int v = 0; v < 2; ++v) {
        if constexpr (kBytes) {
          const auto sign = hn::Set(Words(), 0x80808080);
          add(v, a + 2 * w * kR, hn::Xor(word(b, 2 * w, v), sign));
          add(v, a + (2 * w + 1) * kR, hn::Xor(word(b, 2 * w + 1, v), sign));
        } else {
          const auto low = hn::Set(Words(), 0x0f0f0f0f), both = word(b, w, v);
          add(v, a + w * kR, hn::And(both, low));
          add(v, a + (w + 4) * kR, hn::And(hn::ShiftRight<4>(both), low));
        }
      }
    }
  }
  static HWY_INLINE hn::Vec<Words> word(const std::byte* b, int w, int v) {
    return Q::words(b + Q::kElements + w * 4 * kWidth, v);
  }
  HWY_INLINE void add(int v, const std::int32_t* a, hn::Vec<Words> four) {
    HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
      // Its intrinsic is for functions of another target than all others here.
      asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sums[r][v].raw) : "v"(four.raw), "m"(a[r]));
    }
  }
};

using Raw = __m512i;
HWY_INLINE Raw everywhere(std::int32_t x) { return _mm512_set1_epi32(x); }
HWY_INLINE Raw pairs(Raw w, Raw x) { return _mm512_maddubs_epi16(w, x); }
HWY_INLINE Raw add_pairs(Raw a, Raw b) { return _mm512_add_epi16(a, b); }
HWY_INLINE Raw wide_sums(Raw a) { return _mm512_madd_epi16(a, _mm512_set1_epi16(1)); }
HWY_INLINE Raw add_wide(Raw a, Raw b) { return _mm512_add_epi32(a, b); }
HWY_INLINE Raw absolute(Raw w) { return _mm512_abs_epi8(w); }
HWY_INLINE Raw with_sign(Raw x, Raw w) {
  return _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w), _mm512_setzero_si512(), x);
}
#else
using Raw = __m256i;
HWY_INLINE Raw everywhere(std::int32_t x) { return _mm256_set1_epi32(x); }
HWY_INLINE Raw pairs(Raw w, Raw x) { return _mm256_maddubs_epi16(w, x); }
HWY_INLINE Raw add_pairs(Raw a, Raw b) { return _mm256_add_epi16(a, b); }
HWY_INLINE Raw wide_sums(Raw a) { return _mm256_madd_epi16(a, _mm256_set1_epi16(1)); }
HWY_INLINE Raw add_wide(Raw a, Raw b) { return _mm256_add_epi32(a, b); }
HWY_INLINE Raw absolute(Raw w) { return _mm256_abs_epi8(w); }
HWY_INLINE Raw with_sign(Raw x, Raw w) { return _mm256_sign_epi8(x, w); }
#endif

/// 16 products of 4 bits and 8 bits add up in 16: 8 times 2 x 15 x 127 is below 2^15.
template <class Q, int kR, bool kBytes>
struct Products<Q, kR, false, kBytes> {
  static constexpr auto kOffset = static_cast<std::int32_t>(Q::kLayout.offset);
  hn::Vec<Integers> sums[kR][2];
  HWY_INLINE Products(const std::int32_t* a, const std::byte* b) {
    const auto low = hn::Set(Words(), 0x0f0f0f0f);
    Raw some[kR][2];
    HWY_UNROLL(4) for (int w = 0; w < 4; ++w) {
      HWY_UNROLL(2) for (int v = 0; v < 2; ++v) {
        const auto word = Q::words(b + Q::kElements + w * 4 * kWidth, v);
        const Raw first = hn::And(word, low).raw;
        const Raw second = hn::And(hn::ShiftRight<4>(word), low).raw;
        HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
          const Raw both = add_pairs(pairs(first, everywhere(a[w * kR + r])),
                                     pairs(second, everywhere(a[(w + 4) * kR + r])));
          some[r][v] = w == 0 ? both : add_pairs(some[r][v], both);
        }
      }
    }
    HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
      HWY_UNROLL(2) for (int v = 0; v < 2; ++v) {
        sums[r][v] = hn::Vec<Integers>{wide_sums(some[r][v])};
      }
    }
  }
};
/// Of bytes: two products add up in 16 bits, as 2 x 128 x 127 is below 2^15.
template <class Q, int kR>
struct Products<Q, kR, false, true> {
  static constexpr std::int32_t kOffset = 0;
  hn::Vec<Integers> sums[kR][2];
  HWY_INLINE Products(const std::int32_t* a, const std::byte* b) {
    HWY_UNROLL(8) for (int r = 0; r < kR; ++r) sums[r][0] = sums[r][1] = hn::Zero(Integers());
    HWY_UNROLL(8) for (int w = 0; w < 8; ++w) {
      HWY_UNROLL(2) for (int v = 0; v < 2; ++v) {
        const Raw word = Q::words(b + Q::kElements + w * 4 * kWidth, v).raw;
        const Raw size = absolute(word);
        HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
          const Raw x = with_sign(everywhere(a[w * kR + r]), word);
          sums[r][v].raw = add_wide(sums[r][v].raw, wide_sums(pairs(size, x)));
        }
      }
    }
  }
};
#else
template <class Q, int kR, bool kBytes>
struct Products<Q, kR, false, kBytes> {
  static constexpr auto kOffset = static_cast<std::int32_t>(Q::kLayout.offset);
  hn::Vec<Integers> sums[kR][2];
  HWY_INLINE Products(const std::int32_t* a, const std::byte* b) {
    for (int r = 0; r < kR; ++r) sums[r][0] = sums[r][1] = hn::Zero(Integers());
    for (int k = 0; k < kBlock; ++k) {
      for (int v = 0; v < 2; ++v) {
        const auto right = integer(b + Q::kElements, k, v);
        for (int r = 0; r < kR; ++r) {
          const auto x = static_cast<std::int8_t>(a[k / 4 * kR + r] >> (k % 4 * 8));
          sums[r][v] = hn::Add(sums[r][v], hn::Mul(right, hn::Set(Integers(), std::int32_t(x))));
        }
      }
    }
  }
  static HWY_INLINE hn::Vec<Integers> integer(const std::byte* from, int k, int v) {
    if constexpr (Q::kLayout.has_bytes) {
      const auto word = hn::BitCast(Integers(), Q::words(from + k / 4 * 4 * kWidth, v));
      return hn::ShiftRight<24>(hn::ShiftLeftSame(word, 24 - k % 4 * 8));
    } else {
      const auto word = Q::words(from + k % 16 / 4 * 4 * kWidth, v);
      const auto bits = hn::ShiftRightSame(word, k % 4 * 8 + k / 16 * 4);
      return hn::BitCast(Integers(), hn::And(bits, hn::Set(Words(), 15)));
    }
  }
};
#endif

template <class Q, int kR, int kP, bool kDots>
HWY_NOINLINE void run(std::int64_t blocks, const std::int32_t* HWY_RESTRICT a,
                      const std::byte* HWY_RESTRICT b, std::int64_t stride, float* HWY_RESTRICT c,
                      std::int64_t row, std::int64_t apart) {
  Sums<float, kR, kP> sums;
  sums.clear();
  sums.prefetch(c, row, apart);
  constexpr std::int32_t kOffset = Products<Q, kR, kDots>::kOffset;
  for (; blocks > 0; --blocks, a += kWords * kR, b += Q::kBytes) {
    const auto* const scales = reinterpret_cast<const float*>(a + 8 * kR);
    const std::int32_t* const of_rows = a + 9 * kR;
    const auto* const scaled = reinterpret_cast<const float*>(a + 10 * kR);
    HWY_UNROLL(4) for (int p = 0; p < kP; ++p) {
      const std::byte* const from = b + p * stride;
      const Products<Q, kR, kDots> products(a, from);
      HWY_UNROLL(2) for (int v = 0; v < 2; ++v) {
        const V scale = Q::scale(from, v), least = Q::least(from, v);
        HWY_UNROLL(8) for (int r = 0; r < kR; ++r) {
          auto whole = products.sums[r][v];
          if constexpr (kOffset != 0) {
            whole = hn::Sub(whole, hn::Set(Integers(), kOffset * of_rows[r]));
          }
          V& sum = sums.sums[r][2 * p + v];
          sum = hn::Add(
              sum, hn::Mul(hn::ConvertTo(kTag, whole), hn::Mul(scale, hn::Set(kTag, scales[r]))));
          if constexpr (Q::kLayout.has_least) {
            sum = hn::Add(sum, hn::Mul(least, hn::Set(kTag, scaled[r])));
          }
        }
      }
    }
  }
  sums.store(c, row, apart, false);
}

template <Packing kPacking, bool kDots>
const IntegerKernels* kernels_of() {
  using Q = BlockPanel<kPacking>;
  static const IntegerKernels kernels = [] {
    IntegerKernels k;
    k.rows = kTileRows;
    k.columns = kWidth;
    k.round = round_blocks;
    [&]<int... kI>(std::integer_sequence<int, kI...>) {
      ((k.narrow[kI] = {run<Q, kI + 1, 1, kDots>, 1},
        k.wide[kI] = {run<Q, kI + 1, streams_of(kI + 1), kDots>, streams_of(kI + 1)}),
       ...);
    }(std::make_integer_sequence<int, kTileRows>());
    return k;
  }();
  return &kernels;
}

template <Packing kPacking>
const IntegerKernels* kernels_of([[maybe_unused]] bool dots) {
#if HWY_TARGET <= HWY_AVX3
  if (dots) return kernels_of<kPacking, true>();
#endif
  return kernels_of<kPacking, false>();
}

const IntegerKernels* find_integer_kernels(Packing packing, bool dots) {
  if (packing == Packing::q4_0) return kernels_of<Packing::q4_0>(dots);
  if (packing == Packing::q4_1) return kernels_of<Packing::q4_1>(dots);
  if (packing == Packing::q8_0) return kernels_of<Packing::q8_0>(dots);
  if (packing == Packing::q8_32 || packing == Packing::iq4_nl || packing == Packing::iq4_xs) {
    return kernels_of<Packing::q8_32>(dots);
  }
  return nullptr;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(find_integer_kernels);

namespace {

std::atomic<bool> allowed{true};

}  // namespace

bool has_dot_products() {
#ifdef __x86_64__
  static const bool has = __builtin_cpu_supports("avx512vnni") != 0;
  return has;
#else
  return false;
#endif
}

void allow_dot_products(bool are) { allowed = are; }

const IntegerKernels* integer_kernels(Packing packing) {
  return HWY_DYNAMIC_DISPATCH(find_integer_kernels)(packing, allowed && has_dot_products());
}

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
