// Runs programs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/cpu/native.h"
#include "tlaloc/cpu/program.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::cpu {

/// What one run works with. Frames are used again: their memory stays.
class Frame {
 public:
  explicit Frame(const Program& p);

  std::vector<std::int64_t> slots;
  std::vector<std::byte*> storages;  ///< by StorageId
  /// Memory of dynamic storages, by StorageId.
  struct Dynamic {
    std::shared_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
  };
  std::vector<Dynamic> dynamic;
  std::vector<std::int64_t> capacities;  ///< of dynamic storages, in elements; -1: no memory yet

  // The step that runs.
  std::vector<std::byte*> operands;
  std::vector<std::int64_t> ints;
  std::byte* scratch = nullptr;

  /// Puts planned storages into the arena, for the sizes in `slots`; nothing if those are the sizes
  /// of the run before.
  void plan_memory(const Program& p);
  std::size_t arena_bytes() const { return arena_bytes_; }

 private:
  AlignedMemory scratch_memory_;
  std::optional<AlignedMemory> arena_;
  std::size_t arena_bytes_ = 0, arena_capacity_ = 0;
  std::vector<std::int64_t> planned_for_;  // sizes of the entry dims
  bool planned_ = false;
};

struct RunInputs {
  std::span<const HostArray* const> args;  ///< by param; they fit the program (see bind_arguments)
  /// By param, null where it is not donated: the same arrays, which results may be moved from.
  /// Empty: none.
  std::span<HostArray* const> donated;
  std::span<const std::int64_t> dims;  ///< by entry dim
  const runtime::RunOptions* options = nullptr;
};
struct RunOutputs {
  std::vector<HostArray> results;
  std::vector<std::int64_t> dims;
};
/// `native`: compiled code of the program, which with RunOptions::profile has time stamps; null:
/// the machine runs it.
RunOutputs run_program(const Program& p, Frame& f, const RunInputs& in,
                       const Native* native = nullptr);

}  // namespace tlaloc::cpu
