// Control flow from lambdas over handles: traces the regions, turns what they capture into
// explicit operands, and emits the node.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

using Body = std::function<Vals(const Vals&)>;

/// A traced function: closed, with the outer values it captured as its first params.
struct Traced {
  ir::GraphRef graph;
  Vals captured;
};
Traced trace(std::span<const Type> params, const Body& body, const std::string& name = "");
/// Several graphs with one list of captured values in front of their own params.
struct Shared {
  std::vector<ir::GraphRef> graphs;
  Vals captured;
};
Shared share_captures(const std::vector<Traced>& traced);

/// p ? then(args) : other(args); only the taken branch runs. UserError TL-CONTROL-001 when the
/// branches' result types differ.
Vals cond(Val pred, const Vals& args, const Body& then, const Body& other);

struct LoopResult {
  Vals carries;
  Vals ys;    ///< stacked values of each iteration
  Val trips;  ///< while only
};
/// while (condition(carries)) carries = body(carries). The body returns the carries, then any
/// values to record. UserError TL-CONTROL-002 when carry types change.
LoopResult while_loop(const Vals& init, const Body& condition, const Body& body,
                      std::int64_t max_trips = 0);
/// carries = body(carries, x_i) over the leading axis of xs, or `length` times.
LoopResult scan(const Vals& init, const Vals& xs, const Body& body,
                std::optional<Dim> length = std::nullopt, bool reverse = false);
/// for (i = 0; i < count; ++i) carries = body(i, carries), with a count known at run time.
Vals fori_loop(Val count, const Vals& init, const Body& body);

}  // namespace tlaloc::ops
