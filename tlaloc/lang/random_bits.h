// Random bits on graph values: JAX's threefry2x32 streams, bit for bit.
#pragma once

#include <span>

#include "tlaloc/lang/random_core.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

/// key: u32[2]. Unsigned integers of `width` bits (8, 16, 32, 64), all independent.
ir::Val random_bits(ir::Val key, int width, std::span<const ir::Dim> shape, random::Stream stream);
/// u32[n, 2]: new keys.
ir::Val split_key(ir::Val key, std::int64_t n, random::Stream stream);
/// u32[2] from a key and a u32 scalar.
ir::Val fold_in_key(ir::Val key, ir::Val data);

}  // namespace tlaloc::core
