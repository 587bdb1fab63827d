#include "tlaloc/text/gguf_vocabulary.h"

#include <fmt/format.h>

#include "tlaloc/base/error.h"
#include "tlaloc/text/bpe.h"
#include "tlaloc/text/fields.h"

namespace tlaloc::text {
namespace {

// Kinds of tokens in tokenizer.ggml.token_type.
constexpr std::int32_t kControl = 3, kUserDefined = 4;

void add_words(Pipeline& p, WordPattern words) {
  p.pre_tokenizers.push_back(
      make_split(word_pattern_text(words), Behavior::kIsolated, false, "tokenizer.ggml.pre"));
}

/// How words are split, and whether a whole word that is a token is taken as it is.
bool split_words(Pipeline& p, const std::string& pre) {
  if (pre == "smollm") {
    p.pre_tokenizers.push_back(make_digits(true));
    add_words(p, WordPattern::kGpt2);
    return false;
  }
  if (pre == "gpt-2") {
    add_words(p, WordPattern::kGpt2);
    return false;
  }
  if (pre == "llama-bpe" || pre == "llama3") {
    add_words(p, WordPattern::kLlama3);
    return true;
  }
  if (pre == "qwen2") {
    p.normalizer = make_form(Form::kNfc);
    add_words(p, WordPattern::kQwen2);
    return false;
  }
  throw_unsupported(
      "tokenizer.ggml.pre", fmt::format("'{}'", pre),
      "supported: smollm, gpt-2, llama-bpe, qwen2; or use the model's tokenizer.json");
}

TokenId known(const Vocabulary& v, std::string_view token) {
  const TokenId id = v.find(token);
  if (id < 0) {
    throw_malformed("tokenizer.ggml.merges", fmt::format("'{}' is no token", token));
  }
  return id;
}

PostProcessor::Piece special(std::optional<TokenId> id, const Vocabulary& v, const char* name) {
  if (!id || !v.contains(*id)) {
    throw_malformed(fmt::format("tokenizer.ggml.{}", name), "this is the id of no token");
  }
  return {PostProcessor::Piece::kSpecial, 0, {*id}};
}

}  // namespace

Tokenizer gguf_tokenizer(const GgufVocabulary& g) {
  if (g.model != "gpt2") {
    throw_unsupported("tokenizer.ggml.model", fmt::format("'{}'", g.model),
                      "supported: gpt2; or use the model's tokenizer.json");
  }
  if (g.tokens.size() > static_cast<std::size_t>(kMostIds) ||
      (!g.token_type.empty() && g.token_type.size() != g.tokens.size())) {
    throw_malformed("tokenizer.ggml.tokens", "too many tokens, or not one type for each");
  }
  Pipeline p;
  BpeOptions options;
  options.ignore_merges = split_words(p, g.pre);
  Vocabulary v;
  for (std::size_t i = 0; i < g.tokens.size(); ++i) {
    if (!is_utf8(g.tokens[i])) throw_malformed("tokenizer.ggml.tokens", "a token that is no UTF-8");
    const auto id = static_cast<TokenId>(i);
    v.add(g.tokens[i], id);
    const std::int32_t type = g.token_type.empty() ? 1 : g.token_type[i];
    if (type == kControl || type == kUserDefined) {
      AddedToken t;
      t.id = id;
      t.content = g.tokens[i];
      check_length(t.content, "tokenizer.ggml.tokens");
      t.special = type == kControl;
      p.added_tokens.push_back(std::move(t));
    }
  }
  if (const TokenId twice = v.index(); twice >= 0) {
    throw_malformed("tokenizer.ggml.tokens", fmt::format("'{}' stands twice", v.token(twice)));
  }
  std::vector<Merge> merges;
  merges.reserve(g.merges.size());
  for (const std::string& merge : g.merges) {
    // A space ends the first token, which may start with one.
    const std::size_t space = merge.find(' ', 1);
    if (space == merge.npos) {
      throw_malformed("tokenizer.ggml.merges", fmt::format("'{}' is not two tokens", merge));
    }
    const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
    merges.push_back({known(v, left), known(v, right), known(v, left + right)});
  }
  p.byte_level = make_byte_level_map();
  using Piece = PostProcessor::Piece;
  p.post_processor.single.clear();
  if (g.add_bos_token)
    p.post_processor.single.push_back(special(g.bos_token_id, v, "bos_token_id"));
  p.post_processor.single.push_back({Piece::kFirst, 0, {}});
  if (g.add_eos_token)
    p.post_processor.single.push_back(special(g.eos_token_id, v, "eos_token_id"));
  p.decoder = make_byte_level_decoder();
  p.model = make_bpe(std::move(v), std::move(merges), std::move(options), true);
  return Tokenizer(std::move(p));
}

}  // namespace tlaloc::text
