// What is known of a program before its code is written.
#pragma once

#include <cstdint>
#include <vector>

#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

enum class SlotKind : std::uint8_t {
  constant,
  early,    ///< the same in the whole run
  variable  ///< set on the way
};

/// The loop that a step is; null for one that has a kernel.
const Loop* loop_of(const Step& s);

struct ProgramFacts {
  explicit ProgramFacts(const Program& p);

  std::vector<bool> written;    ///< by step: code is written for it
  std::vector<SlotKind> slots;  ///< by slot
  /// By slot: sizes of storages come from it. There an overflow must not go unseen; all other sizes
  /// and positions are within storages.
  std::vector<bool> checked;
  std::vector<bool> local;  ///< by storage: a small array that only written steps touch

  /// Of a step that is a loop: few elements, known now.
  bool is_small(const Step& s) const;

 private:
  void find_slots();
  void find_checked();
  void find_local();
  const Program& p_;
};

}  // namespace tlaloc::cpu
