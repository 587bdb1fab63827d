// Compiled loops in parts, by the gang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tlaloc/base/dtype.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/tiles.h"

namespace tlaloc::cpu {

/// Parameters of a loop's code beyond which it is not shared.
inline constexpr std::size_t kMaxLoopArgs = 32;
/// Elements of a fold's result up to which blocks of what is folded are parts; of larger results
/// elements are.
inline constexpr std::int64_t kMaxKept = 64;

/// Code for a range of one axis: void(i64 count, args…). Each argument is a pointer or an i64,
/// which are passed alike. It does not throw.
struct LoopCode {
  const void* code;
  std::span<const std::uint64_t> args;   ///< of the range that begins at 0
  std::span<const std::uint64_t> steps;  ///< how much the first of them grow from index to index
  void run(std::int64_t begin, std::int64_t end) const;
};

/// The axis whose ranges are work for several threads.
struct SharedAxis {
  std::size_t axis;          ///< of the loop
  std::int64_t unit;         ///< ranges begin at multiples of it, where vectors begin
  std::int64_t kept;         ///< of a folded axis: the number of results; else 0
  std::int64_t picoseconds;  ///< what an element takes, roughly
};

/// Runs the ranges.
void run_shared(const LoopCode& loop, const Ranges& ranges);
/// The ranges are of a folded axis: `kept` results of each, that the code writes to its argument
/// number `output`, are folded in order. They are of the accumulator's type.
void fold_shared(const LoopCode& loop, const Ranges& ranges, const Fold& fold, std::int64_t kept,
                 std::size_t output);

}  // namespace tlaloc::cpu
