// The content hashes of @main of each module of a file, a line each: import_hashes FILE.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/stablehlo/import.h"

int main(int argc, char** argv) {
  using namespace tlaloc;
  if (argc != 2) return 2;
  std::ifstream in(argv[1]);
  std::stringstream s;
  s << in.rdbuf();
  const std::string text = s.str();
  for (const stablehlo::ModuleText& m : stablehlo::split_modules(text)) {
    try {
      const auto module = stablehlo::import_stablehlo(m.text, argv[1], m.first_line);
      std::printf("%016llx\n",
                  static_cast<unsigned long long>(module.main().graph->content_hash()));
    } catch (const Error& e) {
      std::printf("%s\n", e.what());
    }
  }
}
