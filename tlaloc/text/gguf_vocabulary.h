// Tokenizers from the vocabulary that a GGUF file has.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tlaloc/text/bpe.h"
#include "tlaloc/text/tokenizer.h"

namespace tlaloc::text {

/// Kinds of tokens in tokenizer.ggml.token_type.
enum GgufTokenType : std::int32_t {
  kGgufNormal = 1,
  kGgufUnknown = 2,
  kGgufControl = 3,
  kGgufUserDefined = 4,
  kGgufUnused = 5,
  kGgufByte = 6,
};
/// In front of words of the kind llama.
inline constexpr const char* kGgufSpace = "▁";

/// What tokenizer.ggml.* says; the names are those of the keys.
struct GgufVocabulary {
  std::string model, pre;
  std::span<const std::string> tokens, merges;
  std::span<const float> scores;
  std::span<const std::int32_t> token_type;
  std::optional<TokenId> bos_token_id, eos_token_id, unknown_token_id;
  std::optional<bool> add_bos_token, add_eos_token, add_space_prefix;
  /// Whitespace behind tokens that are no text belongs to them: Phi-3, which no key says.
  bool special_takes_whitespace = false;
};

/// The tokenizer that the makers of the model have. Models of the kind gpt2, split as `pre` names
/// it (gguf_words.h); and of the kind llama, which are SentencePiece's with scores (Llama 2,
/// Mistral, Gemma, Phi-3), not split. UserError TL-TOKENIZER-002 for others, TL-TOKENIZER-001 for
/// what contradicts itself.
Tokenizer gguf_tokenizer(const GgufVocabulary& v);
/// Its parts; the same errors.
Pipeline gguf_pipeline(const GgufVocabulary& v);
/// The merges that the scores of the kind llama stand for; the same errors.
std::vector<Merge> gguf_scored_merges(const GgufVocabulary& v);

}  // namespace tlaloc::text
