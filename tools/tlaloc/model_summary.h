// What a model's files say about it, whatever their format.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "tlaloc/io/tensor_file.h"

namespace tlaloc::command {

/// Text is UTF-8; bytes of GGUF files that are none are escaped.
struct ModelSummary {
  std::string format;        ///< "GGUF version 3", "safetensors"
  std::string architecture;  ///< empty where the files don't say
  /// Of layers, width, feed_forward, heads, kv_heads, head_size, context and vocabulary those that
  /// the files state. Numbers, or lists where layers differ.
  boost::json::object sizes;
  /// type, pre_tokenizer, tokens, added_tokens, merges; empty where there is none.
  boost::json::object tokenizer;
  std::string chat_template;
  std::string family;              ///< as which it runs; empty where it does not
  std::string refusal;             ///< why not; empty too for files that are not a whole model
  std::int64_t context = 0;        ///< tokens, where it runs
  std::int64_t token_bytes = 0;    ///< of keys and values for each of them
  std::int64_t context_bytes = 0;  ///< of a full context
  /// Errors of tokenizer and template, which then are empty.
  std::vector<std::string> faults;
  /// Of long lists their size and type.
  boost::json::object metadata;
  io::TensorFile tensors;
};

/// Of a GGUF file, whatever its name, a .safetensors file or its index, or a folder with a model in
/// safetensors. config.json and tokenizer.json of the folder are those of a model that is named
/// model… . Throws what reading the tensors and config.json does.
ModelSummary summarize_model(const std::string& path);

}  // namespace tlaloc::command
