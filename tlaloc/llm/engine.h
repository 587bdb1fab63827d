// Runs a decoder over sequences whose keys and values are in pages of one pool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/lang/core_quantized.h"
#include "tlaloc/llm/model.h"
#include "tlaloc/runtime/backend.h"
#include "tlaloc/text/encoding.h"

namespace tlaloc::llm {

struct EngineOptions {
  std::int64_t context = 0;  ///< positions of a sequence at most; 0: the model's, which is the most
  std::int64_t page = 32;    ///< tokens in a page
  std::int64_t tokens = 0;   ///< that the pool holds, of all sequences; 0: one context
  std::int64_t chunk = 512;  ///< tokens of a step at most: longer ones are run in pieces
  /// How what is multiplied with block-quantized weights enters: as it is, or rounded to eight
  /// bits, which is as fast as memory is.
  QuantActivation activations = QuantActivation::f32;
};

/// Bytes that the keys and values of a token take, of all layers.
std::int64_t token_bytes(const DecoderSpec& spec);

class Engine;

/// Tokens that a model has seen, with the pages of their keys and values, which go back to the
/// engine with it. The engine outlives it.
class Sequence {
 public:
  Sequence();
  Sequence(Sequence&&) noexcept;
  Sequence& operator=(Sequence&&) noexcept;
  ~Sequence();

  /// Number of tokens.
  std::int64_t size() const;
  /// Forgets all but the first `size` tokens.
  void truncate(std::int64_t size);

 private:
  friend class Engine;
  struct State;
  std::unique_ptr<State> state_;
};

/// Not for several threads at once.
class Engine {
 public:
  /// UserError TL-LLM-004 (a context above the model's), TL-LLM-005 (a pool above 2^31 tokens).
  explicit Engine(std::shared_ptr<const Model> model, const EngineOptions& options = {});
  ~Engine();

  const Model& model() const;
  std::int64_t context() const;
  Sequence sequence();

  struct Work {
    Sequence* sequence = nullptr;           ///< of this engine, and of no other work of the run
    std::span<const text::TokenId> tokens;  ///< at least one
    std::int64_t wanted = 1;                ///< the last tokens whose logits are given
  };
  /// Appends the tokens of each to its sequence. The logits behind the wanted tokens of each, in
  /// order: f32 [all wanted, vocabulary]. They don't depend on what else is run with them, nor on
  /// the pieces in which tokens come. UserError TL-LLM-004 (a sequence would be longer than the
  /// context), TL-LLM-005 (no pages left), TL-LLM-006 (an id that the model has no row for),
  /// TL-CANCEL-001; after any of them the sequences are as before, as they are after TL-MEM-001
  /// where the pool can't grow. Whatever else fails, such as memory within a step, takes the keys
  /// and values of all sequences along: they are empty then, and the engine goes on.
  HostArray run(std::span<const Work> works,
                const std::optional<runtime::CancelToken>& cancel = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tlaloc::llm
