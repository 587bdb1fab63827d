#include "tlaloc/llm/convert.h"

#include <algorithm>
#include <cctype>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/progress.h"

namespace tlaloc::command {

void convert(const ConvertArguments& a) {
  llm::ConvertOptions options;
  if (!a.dtype.empty()) {
    std::string name = a.dtype;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    options.storage = io::parse_storage(name);
    if (!options.storage) {
      throw UserError({"TL-CONVERT-002",
                       "tlaloc",
                       "there is no element type '" + a.dtype + "'",
                       "there are f32, f16, bf16, q8_0 and q4_0",
                       {}});
    }
  }
  Progress progress("opening the model");
  options.progress = [&](std::int64_t done, std::int64_t all) {
    progress.set("writing weights", done, all);
  };
  llm::convert(a.in, a.out, options);
}

}  // namespace tlaloc::command
