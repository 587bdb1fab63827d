// The library that compiles LLVM IR text, loaded when it is first needed: LLVM has 129 MB.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/image.h"

namespace tlaloc::cpu {

struct Generated {
  CodeImage image;
  std::string optimized_ir;  ///< with `explain` only, as is `assembly`
  std::string assembly;
  std::vector<std::byte> object;  ///< of generate_object only
};

/// Compiles with the library at `path`; where that is empty, with libtlaloc_codegen.so, which is
/// looked for beside the file that holds this code, where the dynamic loader looks, and where
/// Tlaloc was configured to be installed. Errors as compile_ir().
Generated generate(const std::string& path, std::string_view ir, const CompileOptions& options,
                   bool explain);
/// An object file for a linker: it may need symbols from elsewhere.
std::vector<std::byte> generate_object(const std::string& path, std::string_view ir,
                                       const CompileOptions& options);

}  // namespace tlaloc::cpu
