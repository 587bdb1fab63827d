// A score is one chain of multiply-adds over the width, a result one over the keys in the order of
// their places: bits depend on the query and its sequence, not on the rows computed beside it.
#include "tlaloc/cpu/paged_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/paged_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/math_functions-inl.h"
#include "tlaloc/cpu/math_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kPagedVector>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr VectorMath<D> kMath;
constexpr int kLanes = hn::MaxLanes(D());
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A tile is rows times vectors of sums, which registers hold: 24 of 32, or 12 of 16.
constexpr int kTileRows = 6;
constexpr int vectors_of(int rows) {
  constexpr int kSums = HWY_TARGET <= HWY_AVX3 ? 24 : 12;
  return kSums / rows >= 8 ? 8 : kSums / rows >= 4 ? 4 : 2;
}

/// f(first row, rows as a constant) for tiles of rows, of even heights.
template <class F>
HWY_INLINE void each_tile(std::int64_t rows, const F& f) {
  for (std::int64_t r = 0; r < rows;) {
    const std::int64_t left = rows - r;
    const std::int64_t n = left <= kTileRows      ? left
                           : left < 2 * kTileRows ? (left + 1) / 2
                                                  : kTileRows;
    switch (n) {
      case 1:
        f(r, std::integral_constant<int, 1>());
        break;
      case 2:
        f(r, std::integral_constant<int, 2>());
        break;
      case 3:
        f(r, std::integral_constant<int, 3>());
        break;
      case 4:
        f(r, std::integral_constant<int, 4>());
        break;
      case 5:
        f(r, std::integral_constant<int, 5>());
        break;
      default:
        f(r, std::integral_constant<int, 6>());
    }
    r += n;
  }
}

/// f(the element type, what Highway calls it)
template <class F>
HWY_INLINE void with_type(DType t, const F& f) {
  if (t == DType::f16) {
    f(Half(), hwy::float16_t());
  } else if (t == DType::bf16) {
    f(BFloat16(), hwy::bfloat16_t());
  } else {
    f(float(), float());
  }
}

void fetch(const std::byte* x, std::int64_t bytes) {
  constexpr std::int64_t kLine = 64;
  for (std::int64_t b = 0; b < bytes; b += kLine) __builtin_prefetch(x + b, 0, 2);
}
void widen(DType from, const std::byte* const* rows, std::int64_t low, std::int64_t high,
           std::int64_t n, float* out, std::int64_t row, std::int64_t filled) {
  with_type(from, [&]<class T, class Lane>(T, Lane) HWY_ATTR {
    for (std::int64_t k = low; k < high; ++k) {
      const auto* x = reinterpret_cast<const T*>(rows[k]);
      const auto* lanes = reinterpret_cast<const Lane*>(rows[k]);
      float* to = out + k * row;
      std::int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) {
        if constexpr (std::is_same_v<T, float>) {
          hn::StoreU(hn::LoadU(kTag, x + i), kTag, to + i);
        } else {
          hn::StoreU(hn::PromoteTo(kTag, hn::LoadU(hn::Rebind<Lane, D>(), lanes + i)), kTag,
                     to + i);
        }
      }
      for (; i < n; ++i) to[i] = static_cast<float>(x[i]);
      std::fill(to + n, to + filled, 0.0f);
    }
  });
}

#if HWY_TARGET != HWY_SCALAR
/// Elements i to i + 3 of as many rows as d has lanes; those of rows 4 b + `of` in its block b.
template <class DQ>
HWY_INLINE hn::Vec<DQ> load_quads(DQ d, const std::byte* const* rows, std::int64_t i, int of) {
  constexpr int kRows = hn::MaxLanes(DQ());
  if constexpr (kRows == 4) {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<DQ>*>(rows[of]) + i);
  } else {
    const hn::Half<DQ> half;
    return hn::Combine(d, load_quads(half, rows + kRows / 2, i, of), load_quads(half, rows, i, of));
  }
}
/// The same in f32.
template <class Lane>
HWY_INLINE V load_wide(const std::byte* const* rows, std::int64_t i, int of) {
  if constexpr (std::is_same_v<Lane, float>) {
    return load_quads(kTag, rows, i, of);
  } else {
    const hn::Rebind<std::uint16_t, D> bits;
    return hn::PromoteTo(kTag, hn::BitCast(hn::Rebind<Lane, D>(), load_quads(bits, rows, i, of)));
  }
}
/// Elements i to i + 3 of kLanes rows become rows of `out`.
template <class Lane>
HWY_INLINE void transpose_quads(const std::byte* const* rows, std::int64_t i, float* out) {
  const hn::Repartition<double, D> pairs;
  const auto as_pairs = [&](V x) HWY_ATTR { return hn::BitCast(pairs, x); };
  const V a = load_wide<Lane>(rows, i, 0), b = load_wide<Lane>(rows, i, 1);
  const V c = load_wide<Lane>(rows, i, 2), d = load_wide<Lane>(rows, i, 3);
  const auto ab = as_pairs(hn::InterleaveLower(kTag, a, b));
  const auto cd = as_pairs(hn::InterleaveLower(kTag, c, d));
  const auto ab_high = as_pairs(hn::InterleaveUpper(kTag, a, b));
  const auto cd_high = as_pairs(hn::InterleaveUpper(kTag, c, d));
  const auto store = [&](int line, auto x) HWY_ATTR {
    hn::Store(hn::BitCast(kTag, x), kTag, out + line * kPagedBlock);
  };
  store(0, hn::InterleaveLower(pairs, ab, cd));
  store(1, hn::InterleaveUpper(pairs, ab, cd));
  store(2, hn::InterleaveLower(pairs, ab_high, cd_high));
  store(3, hn::InterleaveUpper(pairs, ab_high, cd_high));
}
#endif
void transpose(DType from, const std::byte* const* rows, std::int64_t low, std::int64_t high,
               std::int64_t width, float* out) {
  with_type(from, [&]<class T, class Lane>(T, Lane) HWY_ATTR {
    for (std::int64_t k = low / kLanes * kLanes; k < high; k += kLanes) {
      std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
      for (; i + 4 <= width; i += 4) {
        transpose_quads<Lane>(rows + k, i, out + i * kPagedBlock + k);
      }
#endif
      for (; i < width; ++i) {
        for (int j = 0; j < kLanes; ++j) {
          out[i * kPagedBlock + k + j] =
              static_cast<float>(reinterpret_cast<const T*>(rows[k + j])[i]);
        }
      }
    }
  });
}

/// Products of rows r to r + kR - 1 with the block's keys from vector `first` to before `last`, kV
/// vectors at a time and what is left by fewer.
template <int kR, int kV>
HWY_INLINE void dots(const PagedBlock& b, const float* const* q, std::int64_t r, std::int64_t first,
                     std::int64_t last) {
  for (; first + kV <= last; first += kV) {
    V sums[kR][kV];
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) sums[k][v] = hn::Zero(kTag);
    }
    const float* HWY_RESTRICT keys = b.keys + first * kLanes;
    for (std::int64_t i = 0; i < b.width; ++i, keys += kPagedBlock) {
      V right[kV];
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) right[v] = hn::Load(kTag, keys + v * kLanes);
      HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
        const V left = hn::Set(kTag, q[r + k][i]);
        HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
          sums[k][v] = hn::MulAdd(left, right[v], sums[k][v]);
        }
      }
    }
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        hn::Store(sums[k][v], kTag, b.scores + (r + k) * kPagedBlock + (first + v) * kLanes);
      }
    }
  }
  if constexpr (kV > 1) dots<kR, kV / 2>(b, q, r, first, last);
}

/// Scores become exp(score - max), where nobody sees them 0; factors bring what was to the new max.
HWY_INLINE void softmax(const PagedBlock& b, const PagedRows& rows) {
  const V scale = hn::Set(kTag, b.scale), cap = hn::Set(kTag, b.soft_cap);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    float* HWY_RESTRICT s = b.scores + r * kPagedBlock;
    const std::int64_t first = rows.low[r] / kLanes * kLanes;
    const std::int64_t last = (rows.high[r] + kLanes - 1) / kLanes * kLanes;
    for (std::int64_t c = first; c < last; c += kLanes) {
      V x = hn::Mul(hn::Load(kTag, s + c), scale);
      if (b.soft_cap > 0) x = hn::Mul(tanh(kMath, hn::Div(x, cap)), cap);
      hn::Store(x, kTag, s + c);
    }
    std::fill(s + first, s + rows.low[r], -kInfinity);
    std::fill(s + rows.high[r], s + last, -kInfinity);
    V best = hn::Load(kTag, s + first);
    for (std::int64_t c = first + kLanes; c < last; c += kLanes) {
      best = hn::Max(best, hn::Load(kTag, s + c));
    }
    b.factors[r] = std::max(rows.max[r], hn::GetLane(hn::MaxOfLanes(kTag, best)));
  }
  for (std::int64_t r = 0; r < rows.count; r += kLanes) {
    HWY_ALIGN float before[kLanes] = {};
    const std::int64_t n = std::min<std::int64_t>(kLanes, rows.count - r);
    std::copy_n(rows.max + r, n, before);
    std::copy_n(b.factors + r, n, rows.max + r);
    const V now = hn::Load(kTag, b.factors + r);
    const V shift = hn::IfThenZeroElse(hn::Eq(now, hn::Set(kTag, -kInfinity)), now);
    hn::Store(exp(kMath, hn::Sub(hn::Load(kTag, before), shift)), kTag, b.factors + r);
  }
  for (std::int64_t r = 0; r < rows.count; ++r) {
    float* HWY_RESTRICT s = b.scores + r * kPagedBlock;
    const V shift = hn::Set(kTag, rows.max[r] == -kInfinity ? 0 : rows.max[r]);
    V sum = hn::Zero(kTag);
    for (std::int64_t c = rows.low[r] / kLanes * kLanes; c < rows.high[r]; c += kLanes) {
      const V e = exp(kMath, hn::Sub(hn::Load(kTag, s + c), shift));
      hn::Store(e, kTag, s + c);
      sum = hn::Add(sum, e);
    }
    rows.sum[r] = rows.sum[r] * b.factors[r] + hn::GetLane(hn::SumOfLanes(kTag, sum));
  }
}

/// Adds to rows r to r + kR - 1 the values that each of them sees, weighted, in order; columns from
/// c on, kV vectors at a time and what is left by fewer. What a row does not see is not touched: it
/// may be NaN.
template <int kR, int kV>
HWY_INLINE void weigh(const PagedBlock& b, const PagedRows& rows, std::int64_t r, std::int64_t c) {
  // Keys that all see: high and low do not fall.
  const std::int64_t end = rows.high[r], begin = std::min(rows.low[r + kR - 1], end);
  for (; c + kV * kLanes <= b.columns; c += kV * kLanes) {
    V sums[kR][kV];
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      const V factor = hn::Set(kTag, b.factors[r + k]);
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        sums[k][v] =
            hn::Mul(hn::Load(kTag, rows.values + (r + k) * rows.stride + c + v * kLanes), factor);
      }
    }
    const float* HWY_RESTRICT scores = b.scores + r * kPagedBlock;
    const auto alone = [&](int k, std::int64_t from, std::int64_t to) HWY_ATTR {
      for (std::int64_t j = from; j < to; ++j) {
        const V left = hn::Set(kTag, scores[k * kPagedBlock + j]);
        HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
          sums[k][v] = hn::MulAdd(left, hn::LoadU(kTag, b.values[j] + c + v * kLanes), sums[k][v]);
        }
      }
    };
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      alone(k, rows.low[r + k], std::max(rows.low[r + k], begin));
    }
    for (std::int64_t j = begin; j < end; ++j) {
      const float* values = b.values[j] + c;
      V right[kV];
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) right[v] = hn::LoadU(kTag, values + v * kLanes);
      HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
        const V left = hn::Set(kTag, scores[k * kPagedBlock + j]);
        HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
          sums[k][v] = hn::MulAdd(left, right[v], sums[k][v]);
        }
      }
    }
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      alone(k, std::max(rows.low[r + k], end), rows.high[r + k]);
    }
    HWY_UNROLL(8) for (int k = 0; k < kR; ++k) {
      HWY_UNROLL(8) for (int v = 0; v < kV; ++v) {
        hn::Store(sums[k][v], kTag, rows.values + (r + k) * rows.stride + c + v * kLanes);
      }
    }
  }
  if constexpr (kV > 1) weigh<kR, kV / 2>(b, rows, r, c);
}

void add(const PagedBlock& b, const PagedRows& rows) {
  each_tile(rows.count, [&](std::int64_t r, auto n) HWY_ATTR {
    const std::int64_t last = (rows.high[r + n - 1] + kLanes - 1) / kLanes;
    dots<n, vectors_of(n)>(b, rows.q, r, rows.low[r] / kLanes, last);
  });
  softmax(b, rows);
  each_tile(rows.count,
            [&](std::int64_t r, auto n) HWY_ATTR { weigh<n, vectors_of(n)>(b, rows, r, 0); });
}

void merge(const PagedRows& rows, const PagedRows& other, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float now = std::max(rows.max[r], other.max[r]);
    const V shift = hn::Set(kTag, now == -kInfinity ? 0 : now);
    const V before = exp(kMath, hn::Sub(hn::Set(kTag, rows.max[r]), shift));
    const V more = exp(kMath, hn::Sub(hn::Set(kTag, other.max[r]), shift));
    rows.max[r] = now;
    rows.sum[r] = hn::GetLane(
        hn::MulAdd(hn::Set(kTag, other.sum[r]), more, hn::Mul(hn::Set(kTag, rows.sum[r]), before)));
    float* HWY_RESTRICT to = rows.values + r * rows.stride;
    const float* HWY_RESTRICT from = other.values + r * other.stride;
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      hn::Store(hn::MulAdd(hn::Load(kTag, from + c), more, hn::Mul(hn::Load(kTag, to + c), before)),
                kTag, to + c);
    }
  }
}

void finish(const float* values, float sum, std::int64_t n, float* out) {
  const float by = sum == 0 ? 1 : sum;
  for (std::int64_t i = 0; i < n; ++i) out[i] = values[i] / by;
}

const PagedKernels& paged() {
  static constexpr PagedKernels kernels{fetch, widen, transpose, add, merge, finish};
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(paged);
const PagedKernels& paged_kernels() { return HWY_DYNAMIC_DISPATCH(paged)(); }

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
