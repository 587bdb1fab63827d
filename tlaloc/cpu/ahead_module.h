// The parts of a program that is compiled ahead of time. Internal to cpu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlaloc/cpu/ahead.h"
#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// What the function and its parameters are called: C identifiers, no two the same.
struct AheadNames {
  std::string function;
  std::vector<std::string> dims, params, results;
};
/// UserError TL-AOT-002: see compile_ahead.
AheadNames ahead_names(const ir::Graph& g, const AheadOptions& options);
/// The module's text, in LLVM IR. `contract`: as FunctionSource has it.
std::string ahead_module(const Program& p, const AheadNames& names, bool contract);
/// `grows`: what loops keep lies in the scratch memory too.
std::string ahead_header(const ir::Graph& g, const AheadNames& names, bool grows);

/// What a call returns.
enum class AheadStatus : std::uint8_t { ok, scratch_too_small, bad_size, too_many_trips };

}  // namespace tlaloc::cpu
