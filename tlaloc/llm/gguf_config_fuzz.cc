// Any GGUF file is either refused, or a decoder and a tokenizer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/llm/testdata/check_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  auto refused = [](auto read) {
    try {
      read();
    } catch (const UserError& e) {
      for (const char* known : {"TL-LLM-00", "TL-GGUF-00", "TL-TOKENIZER-00"}) {
        if (e.code().starts_with(known)) return true;
      }
      std::fprintf(stderr, "%s\n", e.what());
      std::abort();
    }
    return false;
  };
  io::Gguf file;
  if (refused(
          [&] { file = io::parse_gguf(std::as_bytes(std::span(data, size)), nullptr, "input"); })) {
    return 0;
  }
  refused([&] { llm::check_decoder(llm::read_gguf_config(file, "input")); });
  refused([&] {
    const text::Tokenizer tokenizer = llm::tokenizer_of(file.metadata);
    tokenizer.decode(tokenizer.encode("<s> aab\n b").ids, false);
  });
  return 0;
}
