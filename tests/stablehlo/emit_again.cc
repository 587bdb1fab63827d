// Prints what the modules of a file are emitted as once they have come in: what is not imported as
// an empty module.
//
//   emit_again FILE
#include <fstream>
#include <iostream>
#include <iterator>

#include "tlaloc/base/error.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/import.h"

int main(int argc, char** argv) {
  using namespace tlaloc;
  if (argc != 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  for (const auto& [module, line] : stablehlo::split_modules(text)) {
    std::cout << "// -----\n";
    std::string again = "module {\n}\n";
    try {
      const auto m = stablehlo::import_stablehlo(module, argv[1], line);
      // Open sizes are made numbers by who emits.
      if (!m.functions.empty() && m.main().graph->dims().empty())
        again = stablehlo::emit(*m.main().graph, {}).text;
    } catch (const UserError& e) {
      if (e.code() != "TL-HLO-002") throw;
    }
    std::cout << again;
  }
}
