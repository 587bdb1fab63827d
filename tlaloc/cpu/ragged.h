// Small kernels that loops need: checks of ragged lengths, histories in reverse order.
#pragma once

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// Reads lengths (one storage, an integer array) and checks them as scan promises: none is
/// negative, their sum is the number of rows. `data` is a RaggedCheck. Integers: how many lengths,
/// then the rows of each of `xs`.
struct RaggedCheck {
  DType dtype;
  std::vector<std::uint32_t> xs;
};
void check_ragged(const KernelCall& call);

/// Pieces that came last one first, in index order. Storages: pieces, their rows (i64), result.
/// Integers: number of pieces, elements in a row. `data` is the element's DType.
void reverse_pieces(const KernelCall& call);

/// Element `i` of an integer array.
std::int64_t load_integer(const void* data, DType dtype, std::int64_t i);

}  // namespace tlaloc::cpu
