#include "tlaloc/text/word_models.h"

#include <algorithm>
#include <utility>

#include "tlaloc/text/byte_tree.h"
#include "tlaloc/text/word_cache.h"

namespace tlaloc::text {
namespace {

struct WordState : ModelState {
  WordCache cache;
  WordTokens tokens;
  std::string buffer;
  std::size_t bytes() const override { return tokens.bytes(); }
};

class WordPiece : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options)
      : Model(std::move(vocabulary)), options_(std::move(options)), tree_(this->vocabulary()) {
    const Vocabulary& v = this->vocabulary();
    for (TokenId id = 0; id < v.bound(); ++id) longest_ = std::max(longest_, v.token(id).size());
  }

  std::unique_ptr<ModelState> make_state() const override { return std::make_unique<WordState>(); }

  void tokenize(std::string_view text, std::span<const Range> pieces, bool, ModelState& state,
                TokenSink& out) const override {
    auto& s = static_cast<WordState&>(state);
    tokenize_words(
        text, pieces, &s.cache, s.tokens, out,
        [&](std::string_view word, WordTokens& tokens) { encode(word, s.buffer, tokens); });
  }

 private:
  void encode(std::string_view word, std::string& buffer, WordTokens& out) const {
    const auto chars = static_cast<std::size_t>(
        std::count_if(word.begin(), word.end(), [](char c) { return !is_continuation(c); }));
    const std::string& prefix = options_.continuing_subword_prefix;
    std::size_t start = chars > options_.max_input_chars_per_word ? std::string_view::npos : 0;
    while (start < word.size()) {
      buffer = start > 0 ? prefix : "";
      const std::size_t before = buffer.size();
      buffer += word.substr(start, longest_);
      std::size_t end = before;
      TokenId id = -1;
      tree_.prefixes(buffer, [&](std::size_t length, TokenId found) {
        if (length <= before) return;
        end = length;
        id = found;
      });
      if (id < 0) break;
      out.push(id, static_cast<std::uint32_t>(end - before));
      start += end - before;
    }
    if (start == word.size()) return;
    out.clear();
    out.push(options_.unk, static_cast<std::uint32_t>(word.size()));
  }

  WordPieceOptions options_;
  ByteTree tree_;
  std::size_t longest_ = 0;
};

class WordLevel : public Model {
 public:
  WordLevel(Vocabulary vocabulary, TokenId unk) : Model(std::move(vocabulary)), unk_(unk) {}

  std::unique_ptr<ModelState> make_state() const override { return std::make_unique<ModelState>(); }

  void tokenize(std::string_view text, std::span<const Range> pieces, bool, ModelState&,
                TokenSink& out) const override {
    out.reserve(pieces.size());
    for (const Range r : pieces) {
      const TokenId id = vocabulary().find(text.substr(r.begin, r.end - r.begin));
      out.push(id >= 0 ? id : unk_, r);
    }
  }

 private:
  TokenId unk_;
};

}  // namespace

ModelPtr make_wordpiece(Vocabulary vocabulary, WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
}
ModelPtr make_wordlevel(Vocabulary vocabulary, TokenId unk) {
  return std::make_unique<WordLevel>(std::move(vocabulary), unk);
}

}  // namespace tlaloc::text
