// Tiles of the functions that have kernels by vectors.
#include <utility>

#include "tlaloc/cpu/math_kernels.h"
#include "tlaloc/cpu/tile_kernels.h"

namespace tlaloc::cpu {
namespace {

template <std::size_t kIndex, class T>
void kernel_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  math_kernels<T>().run[kIndex](static_cast<T*>(out), static_cast<const T*>(in[0]),
                                static_cast<const T*>(in[takes_two(kKernelOps[kIndex])]), n);
}

template <std::size_t kIndex>
constexpr TileRow kRow = tile_row([]<class T>() -> TileFn {
  if constexpr (kIsShortFloat<T>) {
    return short_tile<kernel_tile<kIndex, float>, 1 + takes_two(kKernelOps[kIndex]), T>;
  } else if constexpr (std::is_floating_point_v<T>) {
    return kernel_tile<kIndex, T>;
  } else {
    return nullptr;
  }
});
constexpr auto kRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{kRow<I>...};
}(std::make_index_sequence<kKernelOps.size()>());

}  // namespace

const TileRow* kernel_tiles(const ir::OpDef& op) {
  const auto index = kernel_index(op);
  return index ? &kRows[*index] : nullptr;
}

}  // namespace tlaloc::cpu
