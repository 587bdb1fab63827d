// Functions as regions of one node: all get the same operands.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/lang/closure.h"

namespace tlaloc::core {

/// Closures over the same arguments, their captures merged: operands are the arguments' leaves,
/// then every array and outer value that any of them reads.
class MergedRegions {
 public:
  /// `args` in the trace at hand. Borrows the closures.
  MergedRegions(std::span<const Closure> closures, std::span<const Ref> args);

  /// Operands in the trace at hand: arguments, then the extras.
  const ir::Vals& operands() const { return operands_; }
  std::size_t extra_count() const { return extras_.size(); }
  enum class Extras { first, last };
  /// Closure k with its arguments and the extras of all closures as params.
  ir::GraphRef graph(std::size_t k, Extras where) const;
  /// Params of closure k for the extras; new ones where it does not read them.
  std::vector<ir::ParamSpec> extra_params(std::size_t k) const;
  const Closure& closure(std::size_t k) const { return closures_[k]; }
  const ir::Vals& extras() const { return extras_; }

 private:
  std::span<const Closure> closures_;
  ir::Vals operands_, extras_;
  /// Per closure and extra: the closure's param for it, or kNoNode.
  std::vector<std::vector<std::uint32_t>> param_of_extra_;
};

/// `g` with each result's dims written as in `types`; equal sizes that are written differently are
/// required to be equal. UserError `code` when dtype or rank differ; `what` says what must agree.
ir::GraphRef conformed(const OpCall& call, const char* code, const ir::GraphRef& g,
                       std::span<const ir::Type> types,
                       const std::function<std::string(std::size_t)>& what);

/// Results with sizes that only running the function tells can't leave a region or a derivative:
/// UserError TL-TRACE-005.
void require_known_sizes(const OpCall& call, const Closure& c);

/// Emits with `emit` in the trace at hand when `traced`; otherwise in a trace of its own, which it
/// runs. `emit` gets the arguments as values of that trace.
std::vector<Ref> staged(const OpCall& call, std::span<const Ref> args, bool traced,
                        std::vector<std::vector<AxisLabel>> labels,
                        const std::function<ir::Vals(std::span<const Ref>)>& emit);

/// Whether any argument or capture ties the closures to the trace at hand.
bool in_trace(std::span<const Ref> args, std::span<const Closure> closures);

/// Identity on all symbols: regions traced in place use the dims of the trace around them.
inline ir::Region region_of(ir::GraphRef g) { return ir::make_region(std::move(g), {}); }
}  // namespace tlaloc::core
