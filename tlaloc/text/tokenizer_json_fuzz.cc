// Any bytes are refused as a tokenizer, or make one that encodes the bytes themselves: ids are
// tokens, offsets lie in the text, and streaming and batches agree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/text/tokenizer_json.h"
#include "tlaloc/text/utf8.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check(const tlaloc::text::Tokenizer& t, std::string_view text) {
  using namespace tlaloc::text;
  EncodeOptions options;
  options.offsets = Offsets::kBytes;
  const Encoding e = t.encode(text, options);
  const std::string read = replace_ill_formed(text);
  for (const Range r : e.offsets) require(r.begin <= r.end && r.end <= read.size(), "an offset");
  require(e.offsets.size() == e.size() && e.type_ids.size() == e.size(), "lists differ in length");
  options.offsets = Offsets::kNone;
  require(t.encode(text, options).ids == e.ids, "ids depend on offsets");
  const std::string_view texts[] = {text, text};
  require(t.encode_batch(texts, options, 1)[1].ids.size() >= e.size(), "a batch differs");
  require(tlaloc::is_utf8(t.decode(e.ids)), "what is decoded is no UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  // The tokenizer, and behind a zero the text.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const std::string_view json = input.substr(0, zero);
  const std::string_view texts = zero == input.npos ? json : input.substr(zero + 1);
  try {
    const text::Tokenizer t(text::parse_tokenizer(json, "t"));
    check(t, texts);
  } catch (const UserError& e) {
    require(e.code().starts_with("TL-TOKENIZER-00"), e.what());
  }
  return 0;
}
