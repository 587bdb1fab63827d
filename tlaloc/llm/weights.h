// The weights of a decoder, as a tree over any kind of leaf: arrays to compute with, places in a
// checkpoint, gradients. Linear weights are [out, in], as checkpoints have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tlaloc::llm {

template <class Leaf>
struct LinearOf {
  Leaf weight;
  std::optional<Leaf> bias;
};

template <class Leaf>
struct AttentionOf {
  LinearOf<Leaf> query, key, value, output;
  std::optional<Leaf> query_norm, key_norm;
  std::optional<LinearOf<Leaf>> gate;
};

template <class Leaf>
struct MlpOf {
  LinearOf<Leaf> gate, up, down;
};

template <class Leaf>
struct LayerOf {
  std::optional<Leaf> attention_norm, attention_output_norm, mlp_norm, mlp_output_norm;
  AttentionOf<Leaf> attention;
  MlpOf<Leaf> mlp;
};

template <class Leaf>
struct WeightsOf {
  Leaf embedding;  ///< [vocabulary, width]
  std::vector<LayerOf<Leaf>> layers;
  Leaf norm;
  std::optional<Leaf> head;  ///< [vocabulary, width]; absent where the embedding serves (tied)
};

/// Where a weight lies in a checkpoint: rows of a tensor, all of them for most. Fused projections
/// are several sources of one tensor.
struct Source {
  std::string tensor;
  std::vector<std::int64_t> shape;  ///< that the weight must have
  std::int64_t first_row = 0;
  std::int64_t tensor_rows = 0;  ///< that the tensor must have; 0: as many as the weight

  friend bool operator==(const Source&, const Source&) = default;
};

}  // namespace tlaloc::llm
