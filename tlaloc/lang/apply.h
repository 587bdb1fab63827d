// Runs one operation: recorded when an operand is traced, evaluated at once otherwise.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/lang/eager.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/trace_stack.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::core {

/// The operation as errors name it.
struct OpCall {
  const char* name;
  Where where;
  /// Known where a compiled operation may be used again; then `name` has static storage.
  Variant variant{};
};

/// Emits an operation into the current builder; operands are values of that builder. A reference:
/// the function must outlive it.
template <class R>
class Emitter {
 public:
  template <class F>
    requires(!std::same_as<F, Emitter>)
  Emitter(const F& f)  // NOLINT: what takes an Emitter takes a lambda
      : function_(std::addressof(f)), call_([](const void* function, std::span<const ir::Val> in) {
          return R((*static_cast<const F*>(function))(in));
        }) {}
  R operator()(std::span<const ir::Val> in) const { return call_(function_, in); }
  /// Identifies the function's code.
  const void* site() const { return reinterpret_cast<const void*>(call_); }

 private:
  const void* function_;
  R (*call_)(const void*, std::span<const ir::Val>);
};
using Emit = Emitter<ir::Val>;
using EmitAll = Emitter<ir::Vals>;

bool any_traced(std::span<const Ref> xs);

/// One result, labeled by `axes`. Errors get the operation's name and the user's line.
Ref apply(const OpCall& call, std::span<const Ref> operands, std::vector<AxisLabel> labels,
          Emit emit);
inline Ref apply(const OpCall& call, std::span<const Ref> operands, AxesSpec axes, Emit emit) {
  return apply(call, operands, labels_of(axes), emit);
}
/// Several results; `labels[k]` may be empty.
std::vector<Ref> apply_all(const OpCall& call, std::span<const Ref> operands,
                           std::vector<std::vector<AxisLabel>> labels, EmitAll emit);

/// The origin under which `call` is recorded.
ir::OriginRef origin_of(const OpCall& call);

/// What everything runs on: single operations, transformed and compiled functions.
runtime::Backend& default_backend();

/// Runs a graph there once, in the NaN mode of this thread. `dims` gives entry dims that no
/// argument's shape determines.
runtime::RunResult run_graph(ir::GraphRef g, std::vector<HostArray> args,
                             runtime::DimValues dims = {});

/// The results of g as values; `labels[k]` may be missing or empty.
std::vector<Ref> as_refs(const ir::Graph& g, std::vector<HostArray> arrays,
                         std::span<const std::vector<AxisLabel>> labels);

/// Axis i of a and axis j of b must have one size: UserError `code` with both shapes when they
/// differ, a constraint of the trace when that is not known yet.
void require_same(const OpCall& call, const char* code, const Ref& a, int i, const Ref& b, int j);

}  // namespace tlaloc::core
