// Traces that are open on this thread, and how values get into them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/builder.h"
#include "tlaloc/lang/node.h"

namespace tlaloc::core {

/// A concrete value of at most this many elements becomes a constant of a graph that captures it; a
/// larger one becomes a hidden parameter, so that weights are neither copied into graphs nor
/// hashed.
inline constexpr std::int64_t kMaxConstant = 16;

/// What a closed trace read beside its parameters. In the graph's parameter list the declared
/// parameters come first, then `captured`, then `lifted`.
struct Captures {
  std::vector<Ref> captured;  ///< concrete arrays
  ir::Vals lifted;            ///< values of the traces around it
  bool empty() const { return captured.empty() && lifted.empty(); }
};

/// One open trace. Leaving its scope, by an exception too, closes it.
class Trace {
 public:
  explicit Trace(std::string name);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The innermost trace of this thread, or null.
  static Trace* current();

  Ref param(ir::Type type, std::vector<AxisLabel> labels = {}, std::string name = {});
  /// The value of `x` in this trace.
  ir::Val val(const Ref& x);

  struct Closed {
    ir::GraphRef graph;
    Captures captures;
  };
  Closed close(std::span<const Ref> results, std::vector<ir::Label> result_labels = {});

  ir::Builder& builder() { return builder_; }

 private:
  ir::Val capture(const Ref& x);

  Trace* parent_;
  ir::Builder builder_;
  ir::Vals declared_;
  ir::Vals captured_vals_;
  std::vector<Ref> captured_;
  /// By memory, so that handles which share an array are bound once.
  std::unordered_multimap<const void*, std::size_t> by_memory_;
};

/// The value of `x` in the innermost trace; UserError TL-TRACE-003 when its own trace has ended.
ir::Val as_val(const Ref& x);
inline ir::Vals as_vals(std::span<const Ref> xs) {
  ir::Vals out;
  for (const Ref& x : xs) out.push_back(as_val(x));
  return out;
}

/// Label text for graph signatures.
ir::Label label_of(std::string name, std::span<const AxisLabel> labels);

}  // namespace tlaloc::core
