// How tile kernels are made: those of math_kernels.h, all others from the ops' own reference
// functions; internal to cpu.
#pragma once

#include <array>

#include "tlaloc/cpu/half_kernels.h"
#include "tlaloc/cpu/tiles.h"
#include "tlaloc/ops/kinds.h"

namespace tlaloc::cpu {

/// One kernel per element type; null where the op does not take it.
using TileRow = std::array<TileFn, kDTypeCount>;

/// A table with make.template operator()<T>() for each type that values have.
template <class F>
constexpr TileRow tile_row(F make) {
  TileRow row{};
  auto set = [&]<class... T>(TypeTag<T>...) {
    ((row[static_cast<std::size_t>(dtype_of<T>)] = make.template operator()<T>()), ...);
  };
  set(TypeTag<bool>{}, TypeTag<std::int8_t>{}, TypeTag<std::int16_t>{}, TypeTag<std::int32_t>{},
      TypeTag<std::int64_t>{}, TypeTag<std::uint8_t>{}, TypeTag<std::uint16_t>{},
      TypeTag<std::uint32_t>{}, TypeTag<std::uint64_t>{}, TypeTag<Half>{}, TypeTag<BFloat16>{},
      TypeTag<float>{}, TypeTag<double>{});
  return row;
}

template <class O, class T>
void unary_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = O::template eval<T>(x[i]);
}
template <class O, class T>
void binary_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* z = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) z[i] = O::template eval<T>(x[i], y[i]);
}

template <class T>
inline constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

inline void widen_all(float* y, const Half* x, std::int64_t n) { half_kernels().widen(y, x, n); }
inline void widen_all(float* y, const BFloat16* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
inline void narrow_all(Half* y, const float* x, std::int64_t n) { half_kernels().narrow(y, x, n); }
inline void narrow_all(BFloat16* y, const float* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = BFloat16(x[i]);
}

/// Of short floats: what a float's tile makes of them as floats, rounded if these are floats too.
template <TileFn kFloatTile, std::size_t kOperands, class T, bool kRounds = true>
void short_tile(void* out, const void* const* in, std::int64_t n, const void* data) {
  std::array<std::array<float, kTile>, kOperands> wide;
  std::array<const void*, kOperands> from;
  for (std::size_t k = 0; k < kOperands; ++k) {
    widen_all(wide[k].data(), static_cast<const T*>(in[k]), n);
    from[k] = wide[k].data();
  }
  kFloatTile(kRounds ? wide[0].data() : out, from.data(), n, data);
  if constexpr (kRounds) narrow_all(static_cast<T*>(out), wide[0].data(), n);
}

template <class O>
inline constexpr TileRow kUnaryTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (!ops::EvaluatesUnary<O, ComputeType<T>>) {
    return nullptr;
  } else if constexpr (kIsShortFloat<T>) {
    return short_tile<unary_tile<O, float>, 1, T>;
  } else {
    return unary_tile<O, T>;
  }
});
template <class O>
inline constexpr TileRow kBinaryTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (!ops::EvaluatesBinary<O, ComputeType<T>>) {
    return nullptr;
  } else if constexpr (kIsShortFloat<T>) {
    return short_tile<binary_tile<O, float>, 2, T>;
  } else {
    return binary_tile<O, T>;
  }
});
/// Those of an op whose functions on floats are kernel_tiles.
template <class O>
inline constexpr TileRow kIntegerTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (std::is_integral_v<T> && ops::EvaluatesBinary<O, T>) return binary_tile<O, T>;
  return nullptr;
});

/// The row of an op by its id, or null; one function per source file.
const TileRow* kernel_tiles(const ir::OpDef& op);
const TileRow* unary_tiles(const ir::OpDef& op);
const TileRow* binary_tiles(const ir::OpDef& op);

}  // namespace tlaloc::cpu
