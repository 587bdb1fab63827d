#include "tlaloc/text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tlaloc/text/normalizers.h"
#include "tlaloc/text/word_cache.h"
#include "tlaloc/text/word_merger.h"

namespace tlaloc::text {
namespace {

struct BpeState : ModelState {
  WordCache cache;
  WordTokens tokens;
  WordMerger merger;
  std::size_t bytes() const override { return tokens.bytes() + merger.bytes(); }
};

class Bpe : public Model {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, BpeOptions options, bool byte_level)
      : Model(std::move(vocabulary)), merges_(merges), options_(std::move(options)) {
    const Vocabulary& v = this->vocabulary();
    if (options_.unk_token) unk_ = v.find(*options_.unk_token);
    for (unsigned b = 0; b < 256; ++b) {
      fallback_[b] = options_.byte_fallback ? v.find(fmt::format("<0x{:02X}>", b)) : -1;
    }
    if (byte_level && options_.continuing_subword_prefix.empty() &&
        options_.end_of_word_suffix.empty()) {
      prepare_raw();
    }
  }

  std::unique_ptr<ModelState> make_state() const override { return std::make_unique<BpeState>(); }

  void tokenize(std::string_view text, std::span<const Range> pieces, bool raw, ModelState& state,
                TokenSink& out) const override {
    auto& s = static_cast<BpeState&>(state);
    auto word = [&](std::string_view w, WordTokens& tokens) { encode(w, raw, s, tokens); };
    // The cache is of one of the two kinds of text.
    WordCache* const cache = raw == !bytes_.empty() ? &s.cache : nullptr;
    tokenize_words(text, pieces, cache, s.tokens, out, word);
  }

  bool takes_raw(std::string_view text) const override {
    if (bytes_.empty() || !lacks_some_) return !bytes_.empty();
    for (const char *p = text.data(), *end = p + text.size();; ++p) {
      if (!lacks_ascii_) p = skip_ascii(p, end);
      if (p == end) return true;
      if (bytes_[static_cast<unsigned char>(*p)] < 0) return false;
    }
  }

 private:
  void prepare_raw() {
    bytes_.resize(256);
    for (unsigned b = 0; b < 256; ++b) {
      std::string character;
      append_char(character, byte_to_char(static_cast<unsigned char>(b)));
      bytes_[b] = vocabulary().find(character);
      lacks_some_ |= bytes_[b] < 0;
      lacks_ascii_ |= b < 128 && bytes_[b] < 0;
    }
    if (options_.ignore_merges) index_raw_tokens();
  }

  /// The tokens as raw bytes, for looking up whole words.
  void index_raw_tokens() {
    const Vocabulary& v = vocabulary();
    std::string bytes;
    for (TokenId id = 0; id < v.bound(); ++id) {
      const std::string_view token = v.token(id);
      bytes.clear();
      bool all = !token.empty();
      for (const char *p = token.data(), *end = p + token.size(); p != end && all;) {
        const int b = char_to_byte(next_char(p));
        all = b >= 0;
        bytes += static_cast<char>(b);
      }
      if (all) raw_tokens_.add(bytes, id);
    }
    raw_tokens_.index();
  }

  void encode(std::string_view word, bool raw, BpeState& s, WordTokens& out) const {
    if (options_.ignore_merges) {
      const TokenId id = (raw ? raw_tokens_ : vocabulary()).find(word);
      if (id >= 0) return out.push(id, static_cast<std::uint32_t>(word.size()));
    }
    std::vector<Symbol>& symbols = s.merger.symbols;
    symbols.clear();
    if (raw) {
      symbols.reserve(word.size());
      for (char c : word) add(s, bytes_[static_cast<unsigned char>(c)], 1);
    } else {
      add_chars(word, s);
    }
    s.merger.merge(merges_);
    for (const Symbol& symbol : symbols) {
      if (symbol.length > 0) out.push(symbol.id, symbol.length);
    }
  }

  static void add(BpeState& s, TokenId id, std::uint32_t length) {
    s.merger.symbols.push_back({id, length});
  }

  void add_chars(std::string_view word, BpeState& s) const {
    std::uint32_t unknown = 0;  // bytes of unknown characters that are not added yet
    auto flush = [&] {
      if (unknown > 0) add(s, unk_, unknown);
      unknown = 0;
    };
    std::string buffer;
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t n = length_of(word[i]);
      std::string_view key = word.substr(i, n);
      const bool prefixed = i > 0 && !options_.continuing_subword_prefix.empty();
      const bool suffixed = i + n == word.size() && !options_.end_of_word_suffix.empty();
      if (prefixed || suffixed) {
        buffer.clear();
        if (prefixed) buffer += options_.continuing_subword_prefix;
        buffer += key;
        if (suffixed) buffer += options_.end_of_word_suffix;
        key = buffer;
      }
      i += n;
      const auto length = static_cast<std::uint32_t>(n);
      if (const TokenId id = vocabulary().find(key); id >= 0) {
        flush();
        add(s, id, length);
      } else if (options_.byte_fallback && std::all_of(key.begin(), key.end(), [&](char c) {
                   return fallback_[static_cast<unsigned char>(c)] >= 0;
                 })) {
        for (char c : key) add(s, fallback_[static_cast<unsigned char>(c)], 1);
      } else if (unk_ >= 0) {
        // A character without a token, and without one for what is unknown, is left out.
        if (!options_.fuse_unk) flush();
        unknown += length;
      }
    }
    flush();
  }

  MergeTable merges_;
  BpeOptions options_;
  TokenId unk_ = -1;
  std::array<TokenId, 256> fallback_;
  std::vector<TokenId> bytes_;  // of each byte of raw text; empty where that is never taken
  bool lacks_some_ = false, lacks_ascii_ = false;  // there are bytes without a token
  Vocabulary raw_tokens_;
};

}  // namespace

ModelPtr make_bpe(Vocabulary vocabulary, std::vector<Merge> merges, BpeOptions options,
                  bool byte_level) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(options), byte_level);
}

}  // namespace tlaloc::text
