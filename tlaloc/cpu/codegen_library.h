// The library that compiles LLVM IR text, loaded when it is first needed: LLVM has 129 MB.
#pragma once

#include <string>
#include <string_view>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/image.h"

namespace tlaloc::cpu {

struct Generated {
  CodeImage image;
  std::string optimized_ir;  ///< with `explain` only, as is `assembly`
  std::string assembly;
};

/// Compiles with the library at `path`; where that is empty, with libtlaloc_codegen.so, which is
/// looked for beside the file that holds this code, where the dynamic loader looks, and where
/// Tlaloc was configured to be installed. Errors as compile_ir().
Generated generate(const std::string& path, std::string_view ir, const CompileOptions& options,
                   bool explain);

}  // namespace tlaloc::cpu
