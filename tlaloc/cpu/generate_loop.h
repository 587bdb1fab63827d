// Loops as LLVM IR.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tlaloc/cpu/generate_ops.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/shared_loop.h"

namespace tlaloc::cpu {

/// What a loop's code reads its surroundings through.
class LoopSource : public FunctionSource {
 public:
  using FunctionSource::FunctionSource;
  /// Integer k of the step: a constant, or an i64.
  virtual IrValue integer(std::size_t k) = 0;
  /// Storage k of the step: a pointer.
  virtual IrValue pointer(std::size_t k) = 0;
};

/// The first operation of a loop that has no code; as many as there are where all have.
std::size_t first_without_code(const Loop& loop);
/// Whether a loop can be written as code.
inline bool can_write(const Loop& loop) { return first_without_code(loop) == loop.ops.size(); }
/// How it may be shared; not where elements depend on their order.
std::optional<SharedAxis> find_shared_axis(LoopSource& source, const Loop& loop);

/// An axis of which the loop runs through `count` indices rather than through all.
struct AxisRange {
  std::size_t axis;
  IrValue count;
};
/// What a loop over a range has instead of the storages' pointers, which say where the range
/// begins: one for each array read, counted position and output, in this order.
IrValue stream_parameter(std::size_t stream);
/// The loop at the current point.
void write_loop(IrWriter& w, LoopSource& source, const Loop& loop,
                const std::optional<AxisRange>& range = {});

}  // namespace tlaloc::cpu
