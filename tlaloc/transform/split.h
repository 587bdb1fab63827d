// Partial evaluation: cuts a graph into a known and an unknown part. Serves linearize (unknown =
// linear in the tangents), remat and hoisting.
#pragma once

#include "tlaloc/transform/context.h"

namespace tlaloc::transform {

/// A value that the unknown part reads from the known one.
struct Residual {
  bool is_param;      ///< a param of the graph itself …
  std::size_t index;  ///< … by its index there; otherwise the index among known's extra results
};

struct Split {
  GraphRef known;    ///< known params -> known results, residuals; binds g's dims, then res_dims
  GraphRef unknown;  ///< residuals, unknown params -> unknown results
  std::vector<Residual> residuals;
  Mask out_unknown;              ///< which results of g the unknown part gives
  std::vector<Symbol> res_dims;  ///< entry dims of `unknown` that the known part binds
};

/// What may be kept, beyond the policy: decided by where the graph stands.
struct SplitPlace {
  /// In a loop body a dim bound per iteration may not leave, except as the lead of an append.
  bool loop_body = false;
  /// Leading params that are loop invariants: keeping them is free.
  std::size_t invariants = 0;
  /// Entry dims of the body that are bound in each iteration.
  std::vector<Symbol> local;
  /// Remat: only what this policy names may be kept ("nothing", "dots", "names:a,b"), and is if it
  /// is read; empty: any.
  std::string remat;
};

/// `unknown`: per param; `force`: results that must come from the unknown part.
const Split& split_graph(Context& ctx, const GraphRef& g, const Mask& unknown, const Policy& policy,
                         const Mask& force, const SplitPlace& place);

/// Splits a node with regions that has an unknown operand: emits a known and an unknown node.
Vals split_branches(Context& ctx, const Node& n, const Vals& x, const Mask& unknown, DimMap& dims,
                    Policy policy);
Vals split_manual(Context& ctx, const Node& n, const Vals& x, const Mask& unknown,
                  const DimMap& dims, const Policy& policy);
Vals split_loop(Context& ctx, const Node& n, const Vals& x, const Mask& unknown, DimMap& dims,
                const Policy& policy);

/// Values of `g` to keep so that the unknown part can be computed: a minimum cut between the params
/// and dear results on one side and what the unknown nodes read on the other. Indexed by ValueId.
struct ResidualQuery {
  const Graph& g;
  const std::vector<bool>& unknown;              ///< values
  const std::vector<ValueId>& needed;            ///< known values that the unknown part reads
  const std::vector<std::uint32_t>& local_dims;  ///< symbol ids that may not leave (sorted)
  /// Symbol ids (sorted) that the unknown part binds anew: what mentions them may not be kept.
  const std::vector<std::uint32_t>& rebound;
  const Policy& policy;
  const SplitPlace& place;
};
std::vector<bool> choose_residuals(const ResidualQuery& query);

}  // namespace tlaloc::transform
