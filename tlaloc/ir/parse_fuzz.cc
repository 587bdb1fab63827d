// Any text is either refused with TL-TEXT-001 or read to a graph that prints and reads back to the
// same. The verifier and the hash must take whatever the parser makes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/testdata/test_ops.h"
#include "tlaloc/ir/verify.h"

namespace {

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  ir::GraphRef g;
  try {
    g = ir::parse_graph(input, ir::test::find);
  } catch (const UserError& e) {
    require(e.code() == "TL-TEXT-001" && e.info().place.line > 0, e.what(), std::string(input));
    return 0;
  }
  const std::string text = g->to_string();
  ir::GraphRef again;
  try {
    again = ir::parse_graph(text, ir::test::find);
  } catch (const UserError& e) {
    require(false, e.what(), text);
  }
  require(same_graph(*g, *again), "the graph read back differs", text);
  require(g->content_hash() == again->content_hash(), "the hash differs", text);
  require(again->to_string() == text, again->to_string().c_str(), text);
  try {
    ir::verify(*g);
  } catch (const InternalError&) {
  }
  return 0;
}
