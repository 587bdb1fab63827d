// A checkpoint in one GGUF file.
#include <algorithm>
#include <boost/json/string.hpp>
#include <filesystem>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/checkpoint_parts.h"
#include "tlaloc/llm/gguf_keys.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::llm {
namespace {

/// What read_gguf_config has read already.
bool of_rope(std::string_view name) {
  return name == kGgufFrequencyFactors ||
         std::ranges::any_of(kGgufFactorSets,
                             [&](const GgufFactorSet& set) { return name == set.tensor; });
}

/// The file has a tokenizer that can't be used: the tokenizer.json of its makers may lie beside it.
void read_tokenizer_beside(Checkpoint& c, const io::GgufMetadata& m) {
  const auto beside = std::filesystem::path(c.path).parent_path() / "tokenizer.json";
  if (!std::filesystem::exists(beside)) return;
  const UserError own = *c.tokenizer_error;
  c.tokenizer_error.reset();
  read_tokenizer(c, [&] {
    text::Tokenizer tokenizer = text::load_tokenizer(beside.string());
    if (!has_same_tokens(tokenizer, m)) throw UserError(own);
    return tokenizer;
  });
}

GenerationDefaults generation_of(const io::GgufMetadata& m) {
  GenerationDefaults g;
  g.end_tokens = end_tokens_of(m);
  for (const GgufSamplingKey& key : kGgufSampling) {
    g.*key.value = meant_number(m, key.gguf);
  }
  g.top_k = m.integer(kGgufTopK);
  // Who names these samples, as a folder says by do_sample.
  if (!g.temperature && (g.top_p || g.top_k || g.min_p)) g.temperature = 1;
  return g;
}

}  // namespace

Checkpoint open_gguf_file(const std::string& path, const CheckpointOptions& options) {
  io::Gguf file = io::open_gguf(path);
  const io::GgufMetadata& m = file.metadata;
  Checkpoint c;
  c.path = path;
  c.decoder = read_gguf_config(file, path, options);
  check_sources(path, c.decoder.sources, file.tensors, of_rope);
  if (m.text("tokenizer.ggml.model") != nullptr) {
    read_tokenizer(c, [&] { return tokenizer_of(m); });
    if (c.tokenizer_error) read_tokenizer_beside(c, m);
  }
  if (const std::string* text = m.text("tokenizer.chat_template")) {
    read_chat_template(c, *text, path + ": tokenizer.chat_template");
  }
  for (const char* name : {"bos", "eos", "unknown", "padding", "mask", "cls", "seperator"}) {
    const std::optional<text::TokenId> id = token_id_of(m, std::string(name) + "_token_id");
    if (!id || !c.tokenizer || !c.tokenizer->is_token(*id)) continue;
    const std::string_view ours = name == std::string_view("unknown")     ? "unk"
                                  : name == std::string_view("padding")   ? "pad"
                                  : name == std::string_view("seperator") ? "sep"  // as files say
                                                                          : name;
    c.template_variables[std::string(ours) + "_token"] = c.tokenizer->token(*id);
  }
  c.generation = generation_of(m);
  c.tensors = std::move(file.tensors);
  return c;
}

}  // namespace tlaloc::llm
