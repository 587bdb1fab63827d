#include "tlaloc/cpu/compiler.h"

#include <cstdlib>

#include "tlaloc/cpu/codegen_library.h"

namespace tlaloc::cpu {

std::shared_ptr<const LoadedImage> compile_ir(std::string_view ir, const CompileOptions& options) {
  const char* library = std::getenv("TLALOC_CODEGEN_LIBRARY");
  return std::make_shared<const LoadedImage>(
      generate(library == nullptr ? "" : library, ir, options, false).image);
}

}  // namespace tlaloc::cpu
