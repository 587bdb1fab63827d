#include "tlaloc/cpu/direct_conv_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/direct_conv_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of images are short: longer vectors would leave more of them over.
template <class T>
using Wide = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
using Narrow = hn::CappedTag<T, 16 / sizeof(T)>;
template <class T>
using One = hn::CappedTag<T, 1>;

template <class D>
constexpr std::int64_t lanes_of(D d) {
  return static_cast<std::int64_t>(hn::Lanes(d));
}

/// Elements that are 1 or 2 apart. Of the latter one more is read than is used, behind them, or in
/// front of them for the last ones.
struct Adjacent {
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load(D d, const T* x) {
    return hn::LoadU(d, x);
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load_last(D d, const T* x) {
    return hn::LoadU(d, x);
  }
  static constexpr std::int64_t kStep = 1;
};
struct Alternate {
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load(D d, const T* x) {
    hn::Vec<D> even, odd;
    hn::LoadInterleaved2(d, x, even, odd);
    return even;
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load_last(D d, const T* x) {
    hn::Vec<D> even, odd;
    hn::LoadInterleaved2(d, x - 1, even, odd);
    return odd;
  }
  static constexpr std::int64_t kStep = 2;
};

/// Vectors of positions side by side, but that the last one begins at position `last`.
template <class How, int kVectors, class D, class T>
HWY_INLINE void pixel_block(D d, const T* HWY_RESTRICT x, const T* HWY_RESTRICT w,
                            const ConvTerms& terms, std::int64_t last, T* HWY_RESTRICT y,
                            std::int64_t step) {
  const std::int64_t n = lanes_of(d);
  hn::Vec<D> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (const ConvTerm& row : terms.rows) {
    for (const ConvTerm& tap : terms.taps) {
      const auto factor = hn::Set(d, w[row.w + tap.w]);
      const T* from = x + row.x + tap.x;
      for (int v = 0; v + 1 < kVectors; ++v) {
        sums[v] = hn::MulAdd(How::load(d, from + v * n * How::kStep), factor, sums[v]);
      }
      sums[kVectors - 1] =
          hn::MulAdd(How::load_last(d, from + last * How::kStep), factor, sums[kVectors - 1]);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    T* to = y + (v + 1 < kVectors ? v * n : last) * step;
    if (step == 1) {
      hn::StoreU(sums[v], d, to);
    } else {
      HWY_ALIGN T spread[hn::MaxLanes(d)];
      hn::Store(sums[v], d, spread);
      for (std::int64_t l = 0; l < n; ++l) to[l * step] = spread[l];
    }
  }
}

/// All positions, if they fill a vector. The last one begins earlier where it would be cut off:
/// what it computes again is the same.
template <class How, class D, class T>
HWY_INLINE bool pixel_vectors(D d, const T* x, const T* w, const ConvTerms& terms,
                              const ConvPositions& at, T* y) {
  const std::int64_t n = lanes_of(d);
  // Of alternate elements the only vector would be read from in front of the first one.
  if (at.count < n || (How::kStep > 1 && at.count == n)) return false;
  for (std::int64_t i = 0; i < at.count;) {
    const std::int64_t rest = at.count - i;
    const std::int64_t vectors = std::min<std::int64_t>((rest - 1) / n + 1, 4);
    const std::int64_t last = std::min((vectors - 1) * n, rest - n);
    const T* from = x + i * How::kStep;
    T* to = y + i * at.y;
    switch (vectors) {
      case 1:
        pixel_block<How, 1>(d, from, w, terms, last, to, at.y);
        break;
      case 2:
        pixel_block<How, 2>(d, from, w, terms, last, to, at.y);
        break;
      case 3:
        pixel_block<How, 3>(d, from, w, terms, last, to, at.y);
        break;
      default:
        pixel_block<How, 4>(d, from, w, terms, last, to, at.y);
    }
    i += std::min(vectors * n, rest);
  }
  return true;
}

template <class T>
void pixels(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at, T* y) {
  if (at.x == 1 && (pixel_vectors<Adjacent>(Wide<T>(), x, w, terms, at, y) ||
                    pixel_vectors<Adjacent>(Narrow<T>(), x, w, terms, at, y))) {
    return;
  }
  if (at.x == 2 && (pixel_vectors<Alternate>(Wide<T>(), x, w, terms, at, y) ||
                    pixel_vectors<Alternate>(Narrow<T>(), x, w, terms, at, y))) {
    return;
  }
  for (std::int64_t i = 0; i < at.count; ++i) {
    pixel_block<Adjacent, 1>(One<T>(), x + i * at.x, w, terms, 0, y + i * at.y, at.y);
  }
}

/// f(d, lane) for vectors as long as there are, then for shorter ones.
template <class T, class F>
HWY_INLINE void each_vector(std::int64_t lanes, const F& f) {
  std::int64_t l = 0;
  const auto run = [&](auto d) HWY_ATTR {
    const std::int64_t n = lanes_of(d);
    for (; l + n <= lanes; l += n) f(d, l);
  };
  run(hn::ScalableTag<T>());
  run(Narrow<T>());
  run(One<T>());
}

template <int kCount, class D, class T>
HWY_INLINE void channel_block(D d, const T* HWY_RESTRICT x, const T* HWY_RESTRICT w,
                              const ConvTerms& terms, const ConvPositions& at, T* HWY_RESTRICT y) {
  hn::Vec<D> sums[kCount];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (const ConvTerm& row : terms.rows) {
    for (const ConvTerm& tap : terms.taps) {
      const auto factor = hn::LoadU(d, w + row.w + tap.w);
      const T* from = x + row.x + tap.x;
      for (int i = 0; i < kCount; ++i) {
        sums[i] = hn::MulAdd(hn::LoadU(d, from + i * at.x), factor, sums[i]);
      }
    }
  }
  for (int i = 0; i < kCount; ++i) hn::StoreU(sums[i], d, y + i * at.y);
}

template <class T>
void channels(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at,
              std::int64_t lanes, T* y) {
  // All channels of a few positions, before others drive what they read out of the cache.
  std::int64_t i = 0;
  const auto some = [&](auto count) HWY_ATTR {
    for (; i + count() <= at.count; i += count()) {
      each_vector<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
        channel_block<count()>(d, x + i * at.x + l, w + l, terms, at, y + i * at.y + l);
      });
    }
  };
  some(std::integral_constant<int, 4>());
  some(std::integral_constant<int, 1>());
}

template <int kTaps, class T>
HWY_INLINE void pixel_sums(const T* HWY_RESTRICT x, const T* HWY_RESTRICT w,
                           std::span<const ConvTerm> rows, const ConvTerm* taps,
                           const ConvPositions& at, T* HWY_RESTRICT sums) {
  const Wide<T> d;
  const std::int64_t n = lanes_of(d);
  hn::Vec<Wide<T>> vectors[kTaps];
  T rest[kTaps] = {};
  for (auto& v : vectors) v = hn::Zero(d);
  for (const ConvTerm& row : rows) {
    const T *from = x + row.x, *factors = w + row.w;
    std::int64_t i = 0;
    const auto run = [&](auto how, std::int64_t end) HWY_ATTR {
      for (; i + n <= end; i += n) {
        const auto factor = hn::LoadU(d, factors + i);
        for (int t = 0; t < kTaps; ++t) {
          vectors[t] =
              hn::MulAdd(how.load(d, from + taps[t].x + i * how.kStep), factor, vectors[t]);
        }
      }
    };
    if (at.x == 1) run(Adjacent(), at.count);
    if (at.x == 2) run(Alternate(), at.count - 1);
    for (; i < at.count; ++i) {
      for (int t = 0; t < kTaps; ++t) rest[t] += from[taps[t].x + i * at.x] * factors[i];
    }
  }
  for (int t = 0; t < kTaps; ++t) {
    sums[t] += hn::GetLane(hn::SumOfLanes(d, vectors[t])) + rest[t];
  }
}

template <int kTaps, class D, class T>
HWY_INLINE void channel_sums(D d, const T* HWY_RESTRICT x, const T* HWY_RESTRICT w,
                             std::span<const ConvTerm> rows, const ConvTerm* taps,
                             const ConvPositions& at, T* HWY_RESTRICT sums) {
  hn::Vec<D> vectors[kTaps];
  for (int t = 0; t < kTaps; ++t) vectors[t] = hn::LoadU(d, sums + t * at.y);
  for (const ConvTerm& row : rows) {
    const T *from = x + row.x, *factors = w + row.w;
    for (std::int64_t i = 0; i < at.count; ++i) {
      const auto factor = hn::LoadU(d, factors + i * at.w);
      for (int t = 0; t < kTaps; ++t) {
        vectors[t] = hn::MulAdd(hn::LoadU(d, from + taps[t].x + i * at.x), factor, vectors[t]);
      }
    }
  }
  for (int t = 0; t < kTaps; ++t) hn::StoreU(vectors[t], d, sums + t * at.y);
}

/// f(std::integral_constant<int, count>, first) for groups of up to four taps.
template <class F>
HWY_INLINE void each_four(std::size_t taps, const F& f) {
  std::size_t t = 0;
  for (; t + 4 <= taps; t += 4) f(std::integral_constant<int, 4>(), t);
  switch (taps - t) {
    case 3:
      return f(std::integral_constant<int, 3>(), t);
    case 2:
      return f(std::integral_constant<int, 2>(), t);
    case 1:
      return f(std::integral_constant<int, 1>(), t);
    default:
      return;
  }
}

template <class T>
void all_pixel_sums(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at,
                    T* sums) {
  each_four(terms.taps.size(), [&](auto taps, std::size_t t) HWY_ATTR {
    pixel_sums<taps()>(x, w, terms.rows, terms.taps.data() + t, at, sums + t);
  });
}
template <class T>
void all_channel_sums(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at,
                      std::int64_t lanes, T* sums) {
  each_vector<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
    each_four(terms.taps.size(), [&](auto taps, std::size_t t) HWY_ATTR {
      channel_sums<taps()>(d, x + l, w + l, terms.rows, terms.taps.data() + t, at,
                           sums + static_cast<std::int64_t>(t) * at.y + l);
    });
  });
}

template <class T>
DirectConvKernels<T> make_direct_kernels() {
  return {pixels<T>, channels<T>, all_pixel_sums<T>, all_channel_sums<T>};
}
const DirectConvKernels<float>& direct_f32() {
  static const DirectConvKernels<float> kernels = make_direct_kernels<float>();
  return kernels;
}
const DirectConvKernels<double>& direct_f64() {
  static const DirectConvKernels<double> kernels = make_direct_kernels<double>();
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(direct_f32);
HWY_EXPORT(direct_f64);

template <class T>
const DirectConvKernels<T>& direct_conv_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(direct_f32)();
  } else {
    return HWY_DYNAMIC_DISPATCH(direct_f64)();
  }
}
template const DirectConvKernels<float>& direct_conv_kernels();
template const DirectConvKernels<double>& direct_conv_kernels();

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
