// What opening a checkpoint consists of.
#pragma once

#include <functional>

#include "tlaloc/llm/checkpoint.h"

namespace tlaloc::llm {

Checkpoint open_folder(const std::string& path, const CheckpointOptions& options);
Checkpoint open_gguf_file(const std::string& path, const CheckpointOptions& options);

/// TL-LLM-003 for a weight that is not in the file, or has another shape there, and for tensors
/// that no weight is of and `ignorable` does not know.
void check_sources(const std::string& path, const WeightsOf<Source>& weights,
                   const io::TensorFile& tensors, bool (*ignorable)(std::string_view name));

/// What they can't be is kept as Checkpoint says.
void read_tokenizer(Checkpoint& c, const std::function<text::Tokenizer()>& read);
void read_chat_template(Checkpoint& c, const std::string& text, const std::string& name);

}  // namespace tlaloc::llm
