// A model in memory, ready to compute.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/decoder.h"

namespace tlaloc::llm {

/// How weights are held.
enum class WeightPolicy : std::uint8_t {
  stored,  ///< as the file has them, where there are kernels for that; f32 otherwise
  f32,     ///< all in f32
};

struct LoadOptions {
  WeightPolicy weights = WeightPolicy::stored;
  CheckpointOptions checkpoint;
  /// Called now and then with what is done and with bytes done and in all.
  std::function<void(const char* phase, std::int64_t done, std::int64_t all)> progress;
};

struct Model {
  Checkpoint checkpoint;
  Weights weights;
  std::int64_t mapped_bytes = 0;   ///< of weights that are read where the file is mapped
  std::int64_t decoded_bytes = 0;  ///< of weights that were made from others

  const DecoderSpec& spec() const { return checkpoint.decoder.spec; }
};

/// UserErrors of open_checkpoint.
std::shared_ptr<const Model> load(const std::string& path, const LoadOptions& options = {});

}  // namespace tlaloc::llm
