#include <algorithm>
#include <array>
#include <fstream>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {

void inspect(const InspectArguments& a) {
  // A folder and what can't be read are left to those who say what is wrong with them.
  std::string start(256, '\0');
  std::ifstream file(a.module, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  const bool named_as_model =
      std::ranges::any_of(std::array{".gguf", ".safetensors", ".json"},
                          [&](auto* end) { return a.module.ends_with(end); });
  if (is_bounded(a.module)) {
    inspect_bounded(a);
  } else if (a.module == "-" || (!named_as_model && is_module(start))) {
    inspect_module(a);
  } else {
    inspect_model(a);
  }
}

}  // namespace tlaloc::command
