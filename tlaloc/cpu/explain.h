// Reports of programs: what their kernels are, where values lie, what runs took.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tlaloc/cpu/program.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::cpu {

/// How a program runs.
struct Running {
  bool compiled = false;
  const char* why_not = "";
  /// By step: whether compiled code tells its time. The others are a part of the code around them.
  std::vector<bool> timed;
};

/// Everything that is known before a run; `dims`: sizes of the entry dims. UserError TL-SIZE-001
/// when they don't fit 64 bits.
runtime::Report explain_program(const Program& p, const Running& how,
                                std::span<const std::int64_t> dims);

/// Adds what runs take. `run` runs the program once; what it is given is null for a run as it is.
/// `first` does the same with new memory. `once`: nothing may run but that.
void explain_runs(runtime::Report& r, const Program& p, bool once,
                  const std::function<void()>& first,
                  const std::function<void(runtime::ProfileSink*)>& run);

}  // namespace tlaloc::cpu
