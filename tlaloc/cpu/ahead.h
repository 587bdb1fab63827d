// Programs compiled ahead of time: an object file and a C header, which a program links without
// Tlaloc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cpu {

struct AheadOptions {
  std::string function = "f";     ///< its name in C
  std::string cpu = "x86-64-v2";  ///< one of ahead_cpus()
  /// What the params are called; their labels say it where a name is missing or empty.
  std::vector<std::string> params;
};

struct AheadCode {
  std::vector<std::byte> object;  ///< relocatable ELF, position-independent
  std::string header;
};

/// What can be compiled for, in LLVM's terms.
const std::vector<std::string>& ahead_cpus();

/// The function takes the sizes of the graph's entry dims, its params, room for its results, and
/// scratch memory; the header says how. It keeps nothing between calls, allocates nothing, and
/// needs the C library's mathematical functions only. Errors: UserError TL-AOT-001 for what can't
/// be a part of such code, by the op's name; TL-AOT-002 for a function that has no name in C, or
/// another CPU; EnvironmentError TL-CODEGEN-001 without the library that compiles.
AheadCode compile_ahead(const ir::GraphRef& g, const AheadOptions& options);

}  // namespace tlaloc::cpu
