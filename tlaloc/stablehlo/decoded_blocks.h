// Quantized weights as operations that every device has.
#pragma once

#include "tlaloc/ir/graph.h"

namespace tlaloc::stablehlo {

/// f32 [rows, columns] from bytes [rows, columns / block_elements * block_bytes]: the blocks, as
/// base/block_formats.h has them, taken apart by bit operations.
ir::Val decoded_blocks(ir::Val bytes, const ir::Encoding& encoding);

}  // namespace tlaloc::stablehlo
