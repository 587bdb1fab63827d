// Tokenizers from the vocabulary that a GGUF file has.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tlaloc/text/tokenizer.h"

namespace tlaloc::text {

/// What tokenizer.ggml.* says; the names are those of the keys.
struct GgufVocabulary {
  std::string model, pre;
  std::span<const std::string> tokens, merges;
  std::span<const std::int32_t> token_type;
  std::optional<TokenId> bos_token_id, eos_token_id;
  bool add_bos_token = false, add_eos_token = false;
};

/// The tokenizer that the makers of the model have: `pre` names how it splits words, which is not
/// in the file. Models of the kind gpt2, split as smollm, gpt-2, llama-bpe or qwen2; UserError
/// TL-TOKENIZER-002 for others, TL-TOKENIZER-001 for what contradicts itself.
Tokenizer gguf_tokenizer(const GgufVocabulary& v);

}  // namespace tlaloc::text
