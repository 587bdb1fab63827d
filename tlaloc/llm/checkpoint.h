// A model on disk: a folder as transformers writes it, or a GGUF file.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/io/tensor_file.h"
#include "tlaloc/llm/spec.h"
#include "tlaloc/llm/weights.h"
#include "tlaloc/text/chat_template.h"
#include "tlaloc/text/tokenizer.h"

namespace tlaloc::llm {

/// A decoder, and where its weights are.
struct Decoder {
  DecoderSpec spec;
  WeightsOf<Source> sources;
};

struct CheckpointOptions {
  /// Positions that will be used, at most; 0: as many as the model has. LongRoPE turns by other
  /// frequencies where more are used than it was first trained with.
  std::int64_t context = 0;
};

/// From config.json as transformers 4 and 5 write it; `name` is what errors call it. UserError
/// TL-LLM-001 for a family or a setting that is not known, by its name and value; TL-LLM-002 for
/// what contradicts itself.
Decoder read_config(const boost::json::object& config, const std::string& name,
                    const CheckpointOptions& options = {});
/// From GGUF metadata; the tensors say what the metadata does not (biases, a head of its own).
/// UserErrors as of read_config, and TL-GGUF-003.
Decoder read_gguf_config(const io::Gguf& file, const std::string& name,
                         const CheckpointOptions& options = {});

/// What a model's makers say of generation.
struct GenerationDefaults {
  std::vector<text::TokenId> end_tokens;  ///< each ends an answer
  std::optional<double> temperature, top_p, min_p, typical_p, repetition_penalty;
  std::optional<std::int64_t> top_k;
};

struct Checkpoint {
  std::string path;
  Decoder decoder;
  io::TensorFile tensors;                    ///< mapped
  std::optional<text::Tokenizer> tokenizer;  ///< where the checkpoint has one
  std::optional<text::ChatTemplate> chat_template;
  /// Why there is none, where the checkpoint has one that can't be used. Who needs no text can use
  /// the model all the same.
  std::optional<UserError> tokenizer_error, chat_template_error;
  boost::json::object template_variables;  ///< bos_token, eos_token, …
  GenerationDefaults generation;
};

/// Reads everything but the weights, which are mapped, and checks that each is there with the shape
/// that it must have, and that none is left over that would matter. UserError TL-LLM-001 to 003
/// (003: a weight that is missing, or of another shape), and what io refuses; what text refuses is
/// kept beside the model.
Checkpoint open_checkpoint(const std::string& path, const CheckpointOptions& options = {});

}  // namespace tlaloc::llm
