// What gemm.cc makes products of; internal to cpu. One set per element type and kind of CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/base/dtype.h"

namespace tlaloc::cpu {

/// Kernels for tiles of A with panels of B, by rows of the tile - 1.
template <class T>
struct TileKernels {
  static constexpr int kMaxRows = 16;
  /// c[r][j] = or += the products of a tile and of `panels` panels. Those are `stride` bytes apart
  /// in B, and their results `apart` elements in C.
  using Run = void (*)(std::int64_t depth, const T* a, const std::byte* b, std::int64_t stride,
                       T* c, std::int64_t row, std::int64_t apart, bool add);
  struct Tile {
    Run run = nullptr;
    std::int64_t panels = 1;
  };
  Tile narrow[kMaxRows];  ///< one panel
  Tile wide[kMaxRows];    ///< as many panels as give the CPU enough independent sums
};

/// A is packed to tiles of up to `rows` rows: [k][rows of the tile]. B is packed to panels of
/// `columns` columns: [k][columns], with zeros where there is no column.
template <class T>
struct GemmKernels {
  static constexpr int kMaxRows = TileKernels<T>::kMaxRows;
  std::int64_t rows = 0, columns = 0;
  TileKernels<T> tiles;  ///< with panels of T

  /// c[r][j] = or += the sum over k of a[r * row + k * step] * b[k * b_row + j], where packing
  /// would take longer than it saves. Null where the CPU can't read a part of a vector.
  using Direct = void (*)(std::int64_t depth, const T* a, std::int64_t row, std::int64_t step,
                          const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                          std::int64_t columns, bool add);
  Direct direct[2][kMaxRows] = {};  ///< by vectors that the columns take - 1, and rows - 1

  // For few rows of A, read as [k][rows]: B is read once, where it lies.
  static constexpr int kFewRows = 8;
  /// sums[r][j] = the sum over k of a[k][r] * b[k * step + j].
  using Strip = void (*)(std::int64_t depth, std::int64_t columns, const T* a, const T* b,
                         std::int64_t step, T* sums);
  Strip strips[kFewRows];  ///< by rows - 1
  /// sums[r][j] = the sum over k of a[k][r] * b[k + j * column] for columns / 2 of them.
  using Dots = void (*)(std::int64_t depth, const T* a, const T* b, std::int64_t column, T* sums);
  Dots dots[kFewRows];  ///< by rows - 1

  /// out[k * width + r] = from[r * row + k * step] for k < depth and r < rows; 0 up to `width`.
  using Pack = void (*)(const void* from, std::int64_t row, std::int64_t step, std::int64_t rows,
                        std::int64_t depth, std::int64_t width, T* out);
  Pack pack = nullptr;       ///< from T
  Pack pack_f16 = nullptr;   ///< of float only
  Pack pack_bf16 = nullptr;  ///< of float only
};

/// The set for the CPU this runs on.
template <class T>
const GemmKernels<T>& gemm_kernels();
extern template const GemmKernels<float>& gemm_kernels();
extern template const GemmKernels<double>& gemm_kernels();

}  // namespace tlaloc::cpu
