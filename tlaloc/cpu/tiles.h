// Kernels on tiles: short runs of elements that stay in the first-level cache. One per operation
// and element type, all precompiled, with the bits of the reference evaluation; but the functions
// of math_ops.h are the back end's own.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/base/dtype.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::cpu {

/// Elements in a tile.
inline constexpr std::int64_t kTile = 512;

/// out[i] = op(in[0][i], …) for i < n. Operands may be `out` itself.
using TileFn = void (*)(void* out, const void* const* in, std::int64_t n, const void* data);

struct TileKernel {
  TileFn run = nullptr;
  const void* data = nullptr;  ///< lives as long as the attributes
};
/// The kernel of an elementwise op; `run` is null where there is none.
TileKernel find_tile(const ir::OpDef& op, const ir::Attr* attr, std::span<const DType> in,
                     DType out);

/// A commutative fold of elements.
struct Fold {
  /// The accumulator's type is the compute type of the element's.
  DType accumulator;
  void (*start)(void* acc, std::int64_t n);
  /// acc[i] = acc[i] . in[i]
  void (*across)(void* acc, const void* in, std::int64_t n);
  /// acc[0] = acc[0] . (in[0] . in[1] …), in an order that only n decides.
  void (*along)(void* acc, const void* in, std::int64_t n);
  /// Rounds accumulators to elements.
  void (*finish)(void* out, const void* acc, std::int64_t n);
};
/// The fold of a reduction op, or null.
const Fold* find_fold(const ir::OpDef& op, DType dtype);

}  // namespace tlaloc::cpu
