// Any text is either refused as a template, or renders within the limits or is refused: with a code
// and a place, and twice the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/text/chat_template.h"
#include "tlaloc/text/utf8.h"

namespace {

constexpr char kVariables[] = R"({
  "messages": [{"role": "user", "content": "Hi <é>"}, {"role": "assistant", "content": null,
                "tool_calls": [{"name": "f", "arguments": {"a": [1, 2.5, true]}}]}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})";

std::string outcome(std::string_view source) {
  using namespace tlaloc;
  static const boost::json::object variables = parse_json(kVariables, "variables").as_object();
  text::RenderLimits limits;
  limits.steps = 20000;
  limits.output = 1 << 20;
  limits.memory = 8 << 20;
  try {
    const text::Rendered r = text::ChatTemplate(source, "t").render(variables, limits, std::tm{});
    if (!is_utf8(r.text)) std::abort();
    return r.text;
  } catch (const UserError& e) {
    if (!e.code().starts_with("TL-TEMPLATE-00") || !e.info().place.known()) {
      std::fprintf(stderr, "%s\n", e.what());
      std::abort();
    }
    return e.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  if (outcome(source) != outcome(source)) std::abort();
  return 0;
}
