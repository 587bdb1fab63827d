// A checkpoint in another format, or with other elements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tlaloc/io/storage.h"

namespace tlaloc::llm {

struct ConvertOptions {
  /// Of the weights: F32, F16, BF16, and in GGUF Q8_0 and Q4_0. Without it they stay as they are,
  /// but that blocks become F32 in safetensors, which has none. In GGUF vectors are F32 in any
  /// case, and Q4_0 is not for the embedding and the head, which are Q8_0: llama.cpp does the like.
  std::optional<io::Storage> storage;
  std::int64_t max_shard_bytes = 5'000'000'000;  ///< of safetensors
  /// Called now and then with bytes read and in all.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Writes the model at `in`, a folder or a GGUF file, to `out`: a GGUF file if that ends in .gguf,
/// else a folder. What is written means the same, which is checked: reading it back gives the
/// decoder of `in`. UserErrors: those of open_checkpoint; TL-CONVERT-001 for what the other format
/// can't say, TL-CONVERT-002 for elements that it has not. EnvironmentError TL-FILE-001.
void convert(const std::string& in, const std::string& out, const ConvertOptions& options = {});

}  // namespace tlaloc::llm
