// Rows of steps that the machine runs where code would be calls; internal to cpu.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tlaloc/cpu/program.h"
#include "tlaloc/cpu/shared_loop.h"

namespace tlaloc::cpu {

struct SharedLoop;

/// What a row of steps needs, in two arrays that are read from end to end. What the steps of a
/// large program are made of lies all over memory, and when their turn comes in the next run, all
/// that was read since has pushed it out of the caches: the machine would wait for it longer than
/// most loops take.
struct DrivenRow {
  enum class Kind : std::uint8_t {
    kernel,         ///< `run` by itself
    shared_loop,    ///< code for ranges of an axis
    whole_loop,     ///< code for all of a loop
    no_size_below,  ///< a check: none of the sizes is below 0
    equal_sizes,    ///< a check
    check           ///< another one
  };
  struct Record {
    const void* run = nullptr;   ///< a kernel's function; a loop's code
    const void* data = nullptr;  ///< a kernel's; a loop's SharedLoop
    std::int64_t few = 0;        ///< elements up to which a shared loop is run as a whole
    std::uint32_t index = 0;     ///< of the step or the check
    std::uint32_t operands = 0;  ///< where they begin
    Kind kind = Kind::kernel;
    std::uint8_t axis = 0;  ///< which of the extents the loop's code counts
    // How many of them are, one behind the other:
    std::uint16_t pairs = 0;      ///< of storages: a loop has nothing to do where both are the same
    std::uint16_t storages = 0;   ///< or kNoStorage where a position begins, at 0
    std::uint16_t slots = 0;      ///< integers
    std::uint16_t functions = 0;  ///< of the library
    std::uint16_t extents = 0;    ///< slots whose product is the number of elements
  };
  static constexpr StorageId kNoStorage = ~StorageId(0);

  std::vector<Record> records;
  std::vector<std::uint32_t> operands;
};

/// The instructions [begin, end) of a program, which are steps and checks. `driven`: by step, which
/// of the loops it is, or -1.
DrivenRow driven_row(const Program& p, std::uint32_t begin, std::uint32_t end,
                     std::span<const SharedLoop> loops, std::span<const std::int32_t> driven);

}  // namespace tlaloc::cpu
