// LLVM IR text to code that can be called.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tlaloc/cpu/image.h"

namespace tlaloc::cpu {

/// Passes for kernels that are explicit vector code already: they only tidy.
inline constexpr std::string_view kKernelPasses = "early-cse,instcombine";
/// Passes for scalar code with loops and with variables in memory.
inline constexpr std::string_view kScalarPasses = "default<O2>";

struct CompileOptions {
  /// Says in errors what is compiled; does not change the code.
  std::string name = "code";
  /// LLVM's textual pass pipeline; empty for none.
  std::string passes{kKernelPasses};
  /// Effort of code generation, 0 to 3 as in -O0 to -O3.
  int level = 2;
  /// What to compile for, in LLVM's terms ("znver3", "+avx2,-fma"); empty: this machine.
  std::string cpu;
  std::string features;
};

/// The code of one module of LLVM IR text, whose defined functions with external linkage become the
/// entries. The text must need nothing from outside: no function, be it memcpy or one of libm,
/// named or implied by an instruction, is called but through a pointer that the caller passes.
/// Globals are constants. No exception may pass through the code.
///
/// Safe to call from any thread. The environment variable TLALOC_CODEGEN_LIBRARY is the path of the
/// library that compiles, where it is not found by itself.
///
/// InternalError where LLVM refuses the text (with its line) or where the code needs a symbol (with
/// its name). EnvironmentError TL-CODEGEN-001 without the library that compiles; TL-CODEGEN-002 and
/// TL-MEM-001 as LoadedImage.
std::shared_ptr<const LoadedImage> compile_ir(std::string_view ir,
                                              const CompileOptions& options = {});

}  // namespace tlaloc::cpu
