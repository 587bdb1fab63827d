// usage: text_tokenize TOKENIZER < STRINGS > TOKENS
//
// For each string its ids, offsets in characters, and text again. In and out, a number is of 32
// bits, and a string is its length and its bytes. A first number says how many strings there are of
// each text: one, or a pair; or none, for lists of ids of which only the text is given, each a
// string of numbers.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tlaloc/text/tokenizer_json.h"

namespace {

using tlaloc::text::Encoding;

bool read(void* to, std::size_t bytes) { return std::fread(to, 1, bytes, stdin) == bytes; }

bool read(std::string& s) {
  std::uint32_t length;
  if (!read(&length, sizeof length)) return false;
  s.resize(length);
  return read(s.data(), length);
}

template <class T>
void write(const T& value) {
  std::fwrite(&value, sizeof value, 1, stdout);
}

void write(const Encoding& e) {
  write(static_cast<std::uint32_t>(e.size()));
  for (std::size_t i = 0; i < e.size(); ++i) {
    write(e.ids[i]);
    write(e.offsets[i].begin);
    write(e.offsets[i].end);
    write(e.type_ids[i]);
    write(std::uint32_t{e.attention_mask[i]});
    write(std::uint32_t{e.special_tokens_mask[i]});
  }
  write(static_cast<std::uint32_t>(e.overflowing.size()));
  for (const Encoding& o : e.overflowing) write(o);
}

void write(const std::string& s) {
  write(static_cast<std::uint32_t>(s.size()));
  std::fwrite(s.data(), 1, s.size(), stdout);
}

/// With special tokens, without, and both from a stream.
void write_text(const tlaloc::text::Tokenizer& tokenizer,
                const std::vector<tlaloc::text::TokenId>& ids) {
  for (const bool skip : {false, true}) {
    write(tokenizer.decode(ids, skip));
    tlaloc::text::DecodeStream stream(tokenizer, skip);
    std::string streamed;
    for (auto id : ids) streamed += stream.push(id);
    write(streamed + stream.finish());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto tokenizer = tlaloc::text::load_tokenizer(argv[1]);
    std::uint32_t texts;
    if (!read(&texts, sizeof texts)) return 2;
    tlaloc::text::EncodeOptions options;
    options.offsets = tlaloc::text::Offsets::kCharacters;
    std::string first, second;
    while (texts == 0 && read(first)) {
      std::vector<tlaloc::text::TokenId> ids(first.size() / sizeof(tlaloc::text::TokenId));
      if (!ids.empty()) std::memcpy(ids.data(), first.data(), ids.size() * sizeof ids[0]);
      write_text(tokenizer, ids);
    }
    while (texts > 0 && read(first) && (texts == 1 || read(second))) {
      const Encoding e =
          texts == 1 ? tokenizer.encode(first, options) : tokenizer.encode(first, second, options);
      write(e);
      write_text(tokenizer, e.ids);
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
