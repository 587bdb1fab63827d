// The tokenizer that a GGUF file has in its metadata.
#pragma once

#include "tlaloc/io/gguf.h"
#include "tlaloc/text/gguf_vocabulary.h"

namespace tlaloc::llm {

/// What the metadata says of it, which it must outlive. TL-GGUF-003.
text::GgufVocabulary gguf_vocabulary_of(const io::GgufMetadata& metadata);
/// Errors as of text::gguf_tokenizer, and TL-GGUF-003.
text::Tokenizer tokenizer_of(const io::GgufMetadata& metadata);
/// The token of "tokenizer.ggml." and the name; nothing where there is none, or it can't be one.
std::optional<text::TokenId> token_id_of(const io::GgufMetadata& metadata, const std::string& name);
/// Each ends an answer: what the keys say, and in files where that is the end of a text only, what
/// has the text of an end of a turn, whose key is younger than many files.
std::vector<text::TokenId> end_tokens_of(const io::GgufMetadata& metadata);
/// Whether a tokenizer.json that lies beside the file is of its model: it has the same tokens.
bool has_same_tokens(const text::Tokenizer& tokenizer, const io::GgufMetadata& metadata);

}  // namespace tlaloc::llm
