// Any configuration is either refused, or a decoder whose parts fit each other and whose weights
// have sizes that can be.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/testdata/check_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const boost::json::value value = parse_json(text, "input");
    if (!value.is_object()) return 0;
    llm::check_decoder(llm::read_config(value.get_object(), "input"));
    llm::check_decoder(llm::read_config(value.get_object(), "input", {.context = 100}));
  } catch (const UserError& e) {
    if (e.code().starts_with("TL-LLM-00") || e.code() == "TL-JSON-001") return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  return 0;
}
