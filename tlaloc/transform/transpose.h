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

/// The same into the current builder, where `nonlinear` stands for the nonlinear params and `entry`
/// gives the graph's entry dims: cotangents of all linear params. `ct`: absent means zero.
Vals transpose_into(Context& ctx, const GraphRef& g, const Mask& linear, const Vals& nonlinear,
                    const DimMap& entry, const Vals& ct);

/// Where a cotangent has to be zero because a select did not take its value: where `pred` is not
/// `taken`. Elementwise rules pass it on; once a product may have made 0 * inf of the zeros, they
/// are put back before anything else sees the cotangent.
struct Guard {
  Val pred;  ///< absent: nowhere
  bool taken = true;
  bool spoiled = false;
};

/// A cotangent under construction: absent, dense, and updates that an accumulator takes in place.
class Cotangent {
 public:
  void add(Val v, const Guard& guard = {});
  void absorb(std::function<Val(Val)> update);
  bool empty() const { return !dense_ && updates_.empty(); }
  /// Dense, of that type.
  Val get(Type type) const;
  /// The guard, and the cotangent without its zeros put back; only where there are no updates.
  bool guarded() const { return guard_.pred && updates_.empty(); }
  const Guard& guard() const { return guard_; }
  Val unguarded() const { return dense_; }

 private:
  Val dense_;
  Guard guard_;
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
void transpose_manual(const TransposeSite& site);

}  // namespace tlaloc::transform
