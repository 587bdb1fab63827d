// A user's function as a closed graph, and calls of graphs made from it.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/lang/signature.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::core {

/// A traced function. The graph's params: the arguments' leaves, captured arrays, values lifted
/// from the traces around it.
struct Closure {
  ir::GraphRef graph;
  Captures captures;
  Signature signature;
  /// The structure of the result; its values are gone.
  Leaves results;
  std::vector<std::vector<AxisLabel>> result_labels;

  std::size_t argument_count() const { return signature.types.size(); }
  std::size_t extra_count() const { return captures.captured.size() + captures.lifted.size(); }
};

/// Runs f on parameters with the signature's types. An error thrown by f closes the trace.
Closure trace_closure(const Function& f, const Leaves& args, Signature signature);

/// Argument leaves that a derivative is taken of: those of `argnums`.
transform::Mask leaves_of(const Leaves& args, std::span<const int> argnums);
/// UserError TL-GRAD-003 where one of the wanted leaves is quantized.
void require_dense(const Leaves& args, const transform::Mask& wanted);

/// Where the symbols of a graph come from at a call: sizes, or dims of the trace around it.
class DimBinding {
 public:
  /// Matches the signature's own symbols with the shapes of the arguments.
  DimBinding(const Signature& signature, std::span<const Ref> args);
  DimBinding() = default;
  void set(ir::Symbol s, ir::Dim d) { map_.set(s, d); }
  const ir::DimMap& map() const { return map_; }
  std::vector<ir::Dim> entry(const ir::Graph& g) const;
  /// Sizes of those entry dims of g that are known numbers.
  runtime::DimValues sizes(const ir::Graph& g) const;

 private:
  ir::DimMap map_;
};

struct CallResult {
  std::vector<Ref> values;
  std::vector<ir::Dim> result_dims;
};
/// Calls a graph: inlines it in the trace at hand when an argument or a capture is traced, runs it
/// otherwise. `labels[k]` names the axes of result k. The captures come after the first
/// `captures_at` arguments, by default after all.
CallResult call_graph(const OpCall& call, const ir::GraphRef& g, std::span<const Ref> args,
                      const Captures& captures, const DimBinding& dims,
                      std::vector<std::vector<AxisLabel>> labels,
                      std::size_t captures_at = static_cast<std::size_t>(-1));

/// The closure itself, or a graph that a transform made of it (same params), on `args`.
std::vector<Ref> call_closure(const OpCall& call, const Closure& c, const ir::GraphRef& g,
                              const Leaves& args, std::vector<std::vector<AxisLabel>> labels);

/// All zeros, of x's type.
Ref zeros_like(const Ref& x);

}  // namespace tlaloc::core
