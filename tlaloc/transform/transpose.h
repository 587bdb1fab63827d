// Transposition of a graph that is linear in some of its params.
#pragma once

#include "tlaloc/transform/context.h"

namespace tlaloc::transform {

/// nonlinear params, cotangents of the results with `ct`, accumulators of the linear params with
/// `acc` -> cotangents of the linear params that have one (`out`; all of `force`). An accumulator
/// seeds its param's cotangent, so that updates are absorbed in place. Masks `force`, `acc` and
/// `out` are over the linear params; empty means none. The graph may hold nonlinear nodes: they are
/// emitted first.
const Masked& transpose_graph(Context& ctx, const GraphRef& g, const Mask& linear, const Mask& ct,
                              const Mask& force, const Mask& acc);

/// A cotangent under construction: absent, dense, and updates that an accumulator takes in place.
class Cotangent {
 public:
  void add(Val v);
  void absorb(std::function<Val(Val)> update) { updates_.push_back(std::move(update)); }
  bool empty() const { return !dense_ && updates_.empty(); }
  /// Dense, of that type.
  Val get(Type type) const;

 private:
  Val dense_;
  std::vector<std::function<Val(Val)>> updates_;
};

/// What the transposition of one node sees.
struct TransposeSite {
  Context& ctx;
  const Node& node;
  const Vals& x;  ///< absent where linear
  const std::vector<Type>& operand_types;
  const Mask& linear;  ///< per operand
  const Vals& ct;      ///< per result; absent means zero
  const DimMap& dims;
  /// The cotangent that operand k has already, removed from it, so that a region continues it; or
  /// absent (scalars and operands without one).
  std::function<Val(std::size_t)> take;
  std::function<void(std::size_t, Val)> put;
};
void transpose_region(const TransposeSite& site);

}  // namespace tlaloc::transform
