#include "tlaloc/text/gguf_vocabulary.h"

#include <fmt/format.h>

#include "tlaloc/base/error.h"
#include "tlaloc/text/bpe.h"
#include "tlaloc/text/fields.h"
#include "tlaloc/text/gguf_words.h"
#include "tlaloc/text/scored_merges.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

/// How the file says that words are split, in the pipeline.
const GgufWords& split_words(Pipeline& p, const std::string& pre) {
  const GgufWords* const words = gguf_words(pre);
  if (words == nullptr) {
    throw_unsupported(
        "tokenizer.ggml.pre", fmt::format("'{}'", pre),
        fmt::format("supported: {}; or use the model's tokenizer.json", gguf_words_names()));
  }
  if (words->nfc) p.normalizer = make_form(Form::kNfc);
  for (const std::string& pattern : words->patterns) {
    // One number at a time, which the scanner of digits is made for.
    p.pre_tokenizers.push_back(pattern == kOneNumber ? make_digits(true)
                                                     : make_split(pattern, Behavior::kIsolated,
                                                                  false, "tokenizer.ggml.pre"));
  }
  return *words;
}

TokenId known(const Vocabulary& v, std::string_view token) {
  const TokenId id = v.find(token);
  if (id < 0) {
    throw_malformed("tokenizer.ggml.merges", fmt::format("'{}' is no token", token));
  }
  return id;
}

/// Throws where `id` is no token.
TokenId checked(std::optional<TokenId> id, const Vocabulary& v, const char* name) {
  if (!id || !v.contains(*id)) {
    throw_malformed(fmt::format("tokenizer.ggml.{}", name), "this is the id of no token");
  }
  return *id;
}

std::int32_t type_of(const GgufVocabulary& g, std::size_t id) {
  return g.token_type.empty() ? kGgufNormal : g.token_type[id];
}

/// Phi-3's tokens that leave whitespace alone. llama.cpp has them by name too.
bool leaves_whitespace(std::string_view token) {
  return token == "<unk>" || token == "<s>" || token == "<|endoftext|>";
}

/// The tokens, and in `p` those that are looked for before anything else.
Vocabulary read_tokens(const GgufVocabulary& g, Pipeline& p) {
  if (g.tokens.size() > static_cast<std::size_t>(kMostIds) ||
      (!g.token_type.empty() && g.token_type.size() != g.tokens.size())) {
    throw_malformed("tokenizer.ggml.tokens", "too many tokens, or not one type for each");
  }
  Vocabulary v;
  for (std::size_t i = 0; i < g.tokens.size(); ++i) {
    if (!is_utf8(g.tokens[i])) throw_malformed("tokenizer.ggml.tokens", "a token that is no UTF-8");
    const auto id = static_cast<TokenId>(i);
    v.add(g.tokens[i], id);
    const std::int32_t type = type_of(g, i);
    if (type == kGgufUnknown || type == kGgufControl || type == kGgufUserDefined) {
      AddedToken t;
      t.id = id;
      t.content = g.tokens[i];
      check_length(t.content, "tokenizer.ggml.tokens");
      t.special = type != kGgufUserDefined;
      t.rstrip = g.special_takes_whitespace && !leaves_whitespace(t.content);
      p.added_tokens.push_back(std::move(t));
    }
  }
  if (const TokenId twice = v.index(); twice >= 0) {
    throw_malformed("tokenizer.ggml.tokens", fmt::format("'{}' stands twice", v.token(twice)));
  }
  return v;
}

/// The tokens around a text, by the file or what llama.cpp takes where it doesn't say.
void add_ends(const GgufVocabulary& g, const Vocabulary& v, bool bos, std::optional<TokenId> bos_id,
              std::optional<TokenId> eos_id, Pipeline& p) {
  using Piece = PostProcessor::Piece;
  std::vector<Piece>& single = p.post_processor.single;
  single.clear();
  if (g.add_bos_token.value_or(bos)) {
    single.push_back({Piece::kSpecial, 0, {checked(bos_id, v, "bos_token_id")}});
  }
  single.push_back({Piece::kFirst, 0, {}});
  if (g.add_eos_token.value_or(false)) {
    single.push_back({Piece::kSpecial, 0, {checked(eos_id, v, "eos_token_id")}});
  }
}

void read_gpt2(const GgufVocabulary& g, Vocabulary v, Pipeline& p) {
  const GgufWords& words = split_words(p, g.pre);
  BpeOptions options;
  options.ignore_merges = words.ignore_merges;
  std::vector<Merge> merges;
  merges.reserve(g.merges.size());
  for (const std::string& merge : g.merges) {
    // A space ends the first token, which may start with one.
    const std::size_t space = merge.find(' ', 1);
    if (space == merge.npos) {
      throw_malformed("tokenizer.ggml.merges", fmt::format("'{}' is not two tokens", merge));
    }
    const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
    merges.push_back({known(v, left), known(v, right), known(v, left + right),
                      static_cast<std::uint32_t>(merges.size())});
  }
  p.byte_level = make_byte_level_map();
  add_ends(g, v, words.bos && g.bos_token_id, g.bos_token_id, g.eos_token_id, p);
  p.decoder = make_byte_level_decoder();
  p.model = make_bpe(std::move(v), std::move(merges), std::move(options), true);
}

std::vector<Merge> scored_merges(const GgufVocabulary& g, const Vocabulary& v) {
  if (g.scores.size() != g.tokens.size()) {
    throw_malformed("tokenizer.ggml.scores", "not one score for each token");
  }
  std::vector<bool> is_text(g.tokens.size());
  for (std::size_t i = 0; i < g.tokens.size(); ++i) {
    const std::int32_t type = type_of(g, i);
    is_text[i] = type != kGgufUnknown && type != kGgufControl && type != kGgufByte;
  }
  return merges_of_scores(v, g.scores, is_text, "tokenizer.ggml.tokens");
}

/// As SentencePiece reads its BPE models: merges are those of scores, and a file may have others.
void read_llama(const GgufVocabulary& g, Vocabulary v, Pipeline& p) {
  const bool prefix = g.add_space_prefix.value_or(true);
  std::vector<NormalizerPtr> normalizers;
  if (prefix) normalizers.push_back(make_prepend(kGgufSpace));
  normalizers.push_back(make_replace(Regex(" ", "tokenizer.ggml.model"), kGgufSpace));
  p.normalizer = make_sequence(std::move(normalizers));
  std::vector<DecoderPtr> decoders;
  decoders.push_back(make_replace_decoder(Regex(kGgufSpace, "tokenizer.ggml.model"), " "));
  decoders.push_back(make_byte_fallback_decoder());
  decoders.push_back(make_fuse_decoder());
  if (prefix) decoders.push_back(make_strip_decoder(U' ', 1, 0));
  p.decoder = make_decoder_sequence(std::move(decoders));

  BpeOptions options;
  options.fuse_unk = true;
  for (std::size_t i = 0; i < g.tokens.size(); ++i) {
    options.byte_fallback |= type_of(g, i) == kGgufByte;
  }
  const TokenId unknown = g.unknown_token_id.value_or(0);
  if (v.contains(unknown)) options.unk_token = v.token(unknown);
  add_ends(g, v, true, g.bos_token_id.value_or(1), g.eos_token_id.value_or(2), p);
  std::vector<Merge> merges = scored_merges(g, v);
  p.model = make_bpe(std::move(v), std::move(merges), std::move(options), false);
}

}  // namespace

Pipeline gguf_pipeline(const GgufVocabulary& g) {
  if (g.model != "gpt2" && g.model != "llama") {
    throw_unsupported("tokenizer.ggml.model", fmt::format("'{}'", g.model),
                      "supported: gpt2, llama; or use the model's tokenizer.json");
  }
  Pipeline p;
  Vocabulary v = read_tokens(g, p);
  g.model == "gpt2" ? read_gpt2(g, std::move(v), p) : read_llama(g, std::move(v), p);
  return p;
}

Tokenizer gguf_tokenizer(const GgufVocabulary& g) { return Tokenizer(gguf_pipeline(g)); }

std::vector<Merge> gguf_scored_merges(const GgufVocabulary& g) {
  Pipeline p;
  return scored_merges(g, read_tokens(g, p));
}

}  // namespace tlaloc::text
