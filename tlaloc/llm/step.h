// The program that an engine runs: tokens of several sequences, wherever their keys and values lie.
// Internal to llm.
#pragma once

#include <cstdint>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/llm/decoder.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::llm {

/// A pool of a layer's keys or values: [pages, page, heads, width].
struct PoolType {
  DType dtype = DType::f32;
  std::int64_t page = 0, heads = 0, width = 0;
  Extents extents(std::int64_t pages) const { return {pages, page, heads, width}; }
};

/// Keys of each layer, then values.
std::vector<PoolType> pool_types(const DecoderSpec& spec, std::int64_t page);

struct StepProgram {
  ir::GraphRef graph;
  std::vector<runtime::Alias> aliases;  ///< each pool is updated in place
  std::vector<PoolType> pools;          ///< as of pool_types
  std::size_t first_weight = 0;         ///< parameters from here on are the weights, in order
};
StepProgram step_program(const DecoderSpec& spec, const Weights& weights, std::int64_t page,
                         ops::Activation activation);

struct StepInputs {
  std::vector<std::int32_t> tokens, positions, sequences, slots;  ///< for each token
  std::vector<std::int32_t> tables;                               ///< for each sequence its pages
  std::vector<std::int32_t> rows;  ///< tokens whose logits are wanted
};
/// The logits, [rows, vocabulary]. `width`: pages in a row of the tables. The pools are replaced;
/// should the run fail, they are gone.
HostArray run_step(const runtime::Bound& step, const StepInputs& in, std::int64_t width,
                   std::vector<runtime::Buffer>& pools);

}  // namespace tlaloc::llm
