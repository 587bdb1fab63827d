// Graph-to-graph transforms. Every transform maps a closed graph to a closed graph; nesting is by
// staging: an inner transform's result is inlined into the outer trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::transform {

using ir::Graph;
using ir::GraphRef;
/// One flag per param or result.
using Mask = std::vector<bool>;

/// What reverse mode keeps from the forward pass. The default is what users get; tests compare the
/// gradients of all choices with each other.
struct Policy {
  enum class Residuals {
    min_cut,  ///< fewest bytes; cheap elementwise work is computed again
    save,     ///< everything the backward pass reads
  } residuals = Residuals::min_cut;
  /// How a loop inside a loop of unknown length keeps its history.
  enum class Nested {
    automatic,  ///< append for scalar code and in-place array updates, recompute otherwise
    recompute,  ///< run the inner loop again, recording
    append,     ///< flat histories with a list of lengths
  } nested = Nested::automatic;
  bool operator==(const Policy&) const = default;
};

/// While alive in this thread, `Nested::automatic` means recompute: what is differentiated now will
/// be mapped, and lanes rarely agree on the lengths of flat histories.
class MappedScope {
 public:
  MappedScope();
  ~MappedScope();
  MappedScope(const MappedScope&) = delete;
  MappedScope& operator=(const MappedScope&) = delete;
};

/// Whether one is alive in this thread.
bool mapped();

/// While alive in this thread, the verifier runs on every graph that a pass makes, those between
/// two transforms too. For tests.
class VerifiedScope {
 public:
  VerifiedScope();
  ~VerifiedScope();
  VerifiedScope(const VerifiedScope&) = delete;
  VerifiedScope& operator=(const VerifiedScope&) = delete;
};

/// Params and results whose element type carries tangents.
Mask differentiable_params(const Graph& g);
Mask differentiable_results(const Graph& g);

/// (x…, dx… of the active params) -> (y…, dy… of the differentiable results). Zeros are
/// materialized. Forward mode; a while loop needs no extra memory.
GraphRef jvp(const GraphRef& g, const Mask& active);

/// The pieces of reverse mode.
struct Linearized {
  /// x… -> y…, residuals…; its result dims are g's, then the residual dims.
  GraphRef forward;
  /// residuals…, dx… of the active params -> dy… of the differentiable results. Linear in dx.
  GraphRef tangent;
  /// residuals…, ct… of the differentiable results -> ct… of the active params.
  GraphRef cotangent;
  std::size_t residual_count = 0;
  /// Symbols of `tangent` and `cotangent` that forward's extra result dims bind, in their order.
  std::vector<ir::Symbol> residual_dims;
};
/// A residual that is a param of g is a result of `forward` too.
Linearized linearize(const GraphRef& g, const Mask& active, const Policy& policy = {});

/// (x…, ct… of the differentiable results) -> (y…, ct… of the active params).
GraphRef vjp(const GraphRef& g, const Mask& active, const Policy& policy = {});
/// x… -> (y…, gradients of y[0] with respect to the active params). y[0] must be a floating
/// scalar: UserError TL-GRAD-001.
GraphRef value_and_grad(const GraphRef& g, const Mask& active, const Policy& policy = {});

/// Maps g over axis in_axes[k] of each param k (nullopt: shared). Every result gains `lanes` as
/// axis 0. Computed dims become (longest, lengths); padding never reaches a result.
GraphRef vmap(const GraphRef& g, const std::vector<std::optional<int>>& in_axes, ir::Dim lanes);

/// Removes work that no kept result needs, through loop carries and branch results.
GraphRef dce(const GraphRef& g);

/// (linear map) residuals given: transposes a graph that is linear in the marked params.
/// (nonlinear params…, ct…) -> ct… of the linear params. UserError TL-GRAD-002 if it is not linear.
GraphRef linear_transpose(const GraphRef& g, const Mask& linear);

}  // namespace tlaloc::transform
