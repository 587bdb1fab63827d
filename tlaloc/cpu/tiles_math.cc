// Tiles of the functions that have kernels by vectors.
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/math_kernels.h"
#include "tlaloc/cpu/tile_kernels.h"

namespace tlaloc::cpu {
namespace {

template <std::size_t kIndex, class T>
void math_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  constexpr bool kTwo = takes_two(kMathOps[kIndex]);
  auto* z = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[kTwo]);
  if constexpr (std::is_floating_point_v<T>) {
    math_kernels<T>().run[kIndex](z, x, y, n);
  } else {
    // Short floats are computed on as floats.
    using ops::Storage;
    std::array<float, kTile> a, b;
    for (std::int64_t i = 0; i < n; ++i) a[usize(i)] = Storage<T>::load(x[i]);
    for (std::int64_t i = 0; i < n && kTwo; ++i) b[usize(i)] = Storage<T>::load(y[i]);
    math_kernels<float>().run[kIndex](a.data(), a.data(), b.data(), n);
    for (std::int64_t i = 0; i < n; ++i) z[i] = Storage<T>::store(a[usize(i)]);
  }
}

template <std::size_t kIndex>
constexpr TileRow kRow = tile_row([]<class T>() -> TileFn {
  if constexpr (std::is_floating_point_v<ComputeType<T>>) return math_tile<kIndex, T>;
  return nullptr;
});
constexpr auto kRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{kRow<I>...};
}(std::make_index_sequence<kMathOps.size()>());

}  // namespace

const TileRow* math_tiles(const ir::OpDef& op) {
  const auto index = math_index(op);
  return index ? &kRows[*index] : nullptr;
}

}  // namespace tlaloc::cpu
