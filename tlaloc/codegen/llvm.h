// LLVM, driven through its C interface.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/codegen/api.h"

namespace tlaloc::codegen {

struct Compiled {
  std::vector<std::byte> object;  ///< a relocatable ELF object, its code position-independent
  std::string optimized_ir;       ///< with Request::explain only, as is `assembly`
  std::string assembly;
};

/// InternalError with LLVM's message and the line of the text where LLVM refuses it. Safe to call
/// from any thread. LLVM ends the process where it meets a defect of its own.
Compiled compile(const Request& request);

}  // namespace tlaloc::codegen
