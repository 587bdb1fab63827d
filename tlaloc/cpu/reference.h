// The op table's own evaluation as a kernel: for ops that have no kernel here yet, and for those
// that call the host (debug_print, custom_call).
#pragma once

#include <unordered_map>
#include <vector>

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// The step's integers: extents of the operands, of the results, then the values of `dims`.
struct Reference {
  struct Array {
    DType dtype;
    std::uint32_t rank;
  };
  const ir::OpDef* op = nullptr;
  ir::AttrRef attr;  ///< in the program's dims
  std::vector<Array> in, out;
  std::unordered_map<std::uint64_t, std::uint32_t> dims;  ///< word -> position behind the extents
};

/// A KernelFn; `data` is a Reference. All arrays are dense.
void run_reference(const KernelCall& call);

}  // namespace tlaloc::cpu
