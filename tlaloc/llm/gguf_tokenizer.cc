#include "tlaloc/llm/gguf_tokenizer.h"

#include <algorithm>

namespace tlaloc::llm {
namespace {

template <class T>
std::span<const T> list_of(const io::GgufMetadata& m, const char* name) {
  const io::GgufArray* list = m.list(std::string("tokenizer.ggml.") + name);
  const auto* elements = list == nullptr ? nullptr : std::get_if<std::vector<T>>(&list->elements);
  return elements == nullptr ? std::span<const T>() : std::span<const T>(*elements);
}

/// llama.cpp knows Phi-3 by its name, and no key says how its tokens differ.
bool is_phi3(const io::GgufMetadata& m) {
  const std::string* name = m.text("general.name");
  if (name == nullptr) return false;
  std::string lower = *name;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower.find("phi-3") != lower.npos || lower.find("phi3") != lower.npos;
}

}  // namespace

std::optional<text::TokenId> token_id_of(const io::GgufMetadata& m, const std::string& name) {
  const std::optional<std::int64_t> id = m.integer("tokenizer.ggml." + name);
  if (!id || *id < 0 || *id >= text::kMostIds) return std::nullopt;
  return static_cast<text::TokenId>(*id);
}

text::GgufVocabulary gguf_vocabulary_of(const io::GgufMetadata& m) {
  auto text_of = [&](const char* name) {
    const std::string* s = m.text(std::string("tokenizer.ggml.") + name);
    return s == nullptr ? std::string() : *s;
  };
  text::GgufVocabulary v;
  v.model = text_of("model");
  v.pre = text_of("pre");
  v.tokens = list_of<std::string>(m, "tokens");
  v.merges = list_of<std::string>(m, "merges");
  v.scores = list_of<float>(m, "scores");
  v.token_type = list_of<std::int32_t>(m, "token_type");
  v.bos_token_id = token_id_of(m, "bos_token_id");
  v.eos_token_id = token_id_of(m, "eos_token_id");
  v.unknown_token_id = token_id_of(m, "unknown_token_id");
  v.add_bos_token = m.boolean("tokenizer.ggml.add_bos_token");
  v.add_eos_token = m.boolean("tokenizer.ggml.add_eos_token");
  v.add_space_prefix = m.boolean("tokenizer.ggml.add_space_prefix");
  v.special_takes_whitespace = is_phi3(m);
  return v;
}

text::Tokenizer tokenizer_of(const io::GgufMetadata& m) {
  return text::gguf_tokenizer(gguf_vocabulary_of(m));
}

std::vector<text::TokenId> end_tokens_of(const io::GgufMetadata& m) {
  std::vector<text::TokenId> ids;
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    if (const std::optional<text::TokenId> id = token_id_of(m, key)) ids.push_back(*id);
  }
  if (token_id_of(m, "eot_token_id")) return ids;
  const std::span<const std::string> tokens = list_of<std::string>(m, "tokens");
  // By its text, as llama.cpp does, whatever kind of token it is: converters have taken some for
  // words.
  auto ends_turn = [&](text::TokenId id) {
    constexpr std::string_view kEnds[] = {"<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>",
                                          "<end_of_turn>"};
    const auto i = static_cast<std::size_t>(id);
    return i < tokens.size() && std::ranges::find(kEnds, tokens[i]) != std::end(kEnds);
  };
  if (std::ranges::any_of(ids, ends_turn)) return ids;
  const auto count = std::min<std::int64_t>(std::ssize(tokens), text::kMostIds);
  for (text::TokenId id = 0; id < count; ++id) {
    if (ends_turn(id)) ids.push_back(id);
  }
  return ids;
}

bool has_same_tokens(const text::Tokenizer& tokenizer, const io::GgufMetadata& m) {
  const std::span<const std::string> tokens = list_of<std::string>(m, "tokens");
  // Files have more, to fill up the embedding.
  bool any = false;
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), text::kMostIds); ++i) {
    const auto id = static_cast<text::TokenId>(i);
    if (!tokenizer.is_token(id)) continue;
    if (tokenizer.token(id) != tokens[i]) return false;
    any = true;
  }
  return any;
}

}  // namespace tlaloc::llm
