// Any text is refused with a place, or becomes graphs that the verifier takes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/stablehlo/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Function by function nothing is thrown, but for bytecode, which is no text.
  if (!text.starts_with("ML\xefR")) {
    for (const stablehlo::ImportedFunction& f : stablehlo::import_each_function(text).functions) {
      if (f.graph) {
        ir::verify(*f.graph);
      } else if (f.refusal.empty()) {
        std::abort();
      }
    }
  }
  try {
    const stablehlo::ImportedModule m = stablehlo::import_stablehlo(text);
    for (const stablehlo::ImportedFunction& f : m.functions) ir::verify(*f.graph);
  } catch (const UserError& e) {
    if (e.info().place.known()) return 0;
    std::fprintf(stderr, "no place: %s\n%.*s\n", e.what(), static_cast<int>(size), text.data());
    std::abort();
  }
  return 0;
}
