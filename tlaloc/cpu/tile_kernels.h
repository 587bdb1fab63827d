// How tile kernels are made: those of math_kernels.h, all others from the ops' own reference
// functions; internal to cpu.
#pragma once

#include <array>

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
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = ops::Storage<T>::store(O::template eval<ComputeType<T>>(ops::Storage<T>::load(x[i])));
  }
}
template <class O, class T>
void binary_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* z = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) {
    z[i] = ops::Storage<T>::store(
        O::template eval<ComputeType<T>>(ops::Storage<T>::load(x[i]), ops::Storage<T>::load(y[i])));
  }
}

template <class O>
inline constexpr TileRow kUnaryTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (ops::EvaluatesUnary<O, ComputeType<T>>) return unary_tile<O, T>;
  return nullptr;
});
template <class O>
inline constexpr TileRow kBinaryTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (ops::EvaluatesBinary<O, ComputeType<T>>) return binary_tile<O, T>;
  return nullptr;
});
/// Those of an op whose functions on floats are math_tiles.
template <class O>
inline constexpr TileRow kIntegerTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (std::is_integral_v<T> && ops::EvaluatesBinary<O, T>) return binary_tile<O, T>;
  return nullptr;
});

/// The row of an op by its id, or null; one function per source file.
const TileRow* math_tiles(const ir::OpDef& op);
const TileRow* unary_tiles(const ir::OpDef& op);
const TileRow* binary_tiles(const ir::OpDef& op);

}  // namespace tlaloc::cpu
