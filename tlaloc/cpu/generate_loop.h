// Loops as LLVM IR.
#pragma once

#include <cstdint>
#include <string>

#include "tlaloc/cpu/generate_ops.h"
#include "tlaloc/cpu/loop.h"

namespace tlaloc::cpu {

/// What a loop's code reads its surroundings through.
class LoopSource : public FunctionSource {
 public:
  /// Integer k of the step: a constant, or an i64.
  virtual IrValue integer(std::size_t k) = 0;
  /// Storage k of the step: a pointer.
  virtual IrValue pointer(std::size_t k) = 0;
};

/// The first operation of a loop that has no code; as many as there are where all have.
std::size_t first_without_code(const Loop& loop);
/// Whether a loop can be written as code.
inline bool can_write(const Loop& loop) { return first_without_code(loop) == loop.ops.size(); }
/// The loop at the current point.
void write_loop(IrWriter& w, LoopSource& source, const Loop& loop);

}  // namespace tlaloc::cpu
