// Runs one operation: recorded when an operand is traced, evaluated at once otherwise.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/trace_stack.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::core {

/// The operation as errors name it.
struct OpCall {
  const char* name;
  Where where;
};

/// Emits the operation into the current builder; operands are values of that builder.
using Emit = std::function<ir::Val(std::span<const ir::Val>)>;
using EmitAll = std::function<ir::Vals(std::span<const ir::Val>)>;

bool any_traced(std::span<const Ref> xs);

/// One result, labeled by `axes`. Errors get the operation's name and the user's line.
Ref apply(const OpCall& call, std::span<const Ref> operands, std::vector<AxisLabel> labels,
          const Emit& emit);
inline Ref apply(const OpCall& call, std::span<const Ref> operands, AxesSpec axes,
                 const Emit& emit) {
  return apply(call, operands, labels_of(axes), emit);
}
/// Several results; `labels[k]` may be empty.
std::vector<Ref> apply_all(const OpCall& call, std::span<const Ref> operands,
                           std::vector<std::vector<AxisLabel>> labels, const EmitAll& emit);

/// The origin under which `call` is recorded.
ir::OriginRef origin_of(const OpCall& call);

/// What everything runs on: single operations, transformed and compiled functions.
runtime::Backend& default_backend();

/// Runs a graph there once, in the NaN mode of this thread. `dims` gives entry dims that no
/// argument's shape determines.
runtime::RunResult run_graph(ir::GraphRef g, std::vector<HostArray> args,
                             runtime::DimValues dims = {});

/// The results of g as values; `labels[k]` may be missing or empty.
std::vector<Ref> as_refs(const ir::Graph& g, const runtime::RunResult& r,
                         std::vector<std::vector<AxisLabel>> labels);

/// Axis i of a and axis j of b must have one size: UserError `code` with both shapes when they
/// differ, a constraint of the trace when that is not known yet.
void require_same(const OpCall& call, const char* code, const Ref& a, int i, const Ref& b, int j);

}  // namespace tlaloc::core
