// The reference interpreter: the oracle for every transform and back end. Simple, dtype-faithful,
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::interp {

using runtime::DimValues;

/// What a run did; for tests of complexity and memory.
struct Stats {
  std::int64_t nodes = 0;     ///< nodes evaluated, in regions too
  std::int64_t work = 0;      ///< elements written; an update in place counts what it replaces
  std::int64_t recorded = 0;  ///< elements stacked or appended by loops
  std::int64_t copies = 0;    ///< in-place updates that had to copy their operand
  std::int64_t bodies = 0;    ///< loop bodies run
};

struct Options {
  DimValues dims;  ///< entry dims that no argument's shape determines
  Stats* stats = nullptr;
  /// Stop at the first NaN or infinity that no operand had: UserError TL-NAN-001 with the op and
  /// the user's line.
  bool check_nan = false;
  /// Polled between nodes; true cancels with UserError TL-CANCEL-001.
  std::function<bool()> cancelled;
  /// Called after each node of the graph itself, not of its regions. Times are since the run began.
  std::function<void(const char* op, std::int64_t start_ns, std::int64_t duration_ns)> profile;
};

struct Outcome {
  std::vector<HostArray> results;
  std::vector<std::int64_t> result_dims;  ///< values of g.result_dims()
};

/// A graph prepared for many runs; see plan.h.
class Program;

/// Evaluates g. Arguments are consumed: an argument that nobody else holds may be updated in place.
/// Errors: UserError TL-ARITY-001, TL-SHAPE-002 (argument does not fit its param), TL-SHAPE-001 (a
/// constraint fails, with both axis names), TL-SHAPE-004 (a size is not determined), TL-SHAPE-005
/// (a size is outside of what its symbol states), TL-SIZE-001 (a negative or absurd size),
/// TL-LOOP-001 (max_trips exceeded); EnvironmentError TL-MEM-001.
Outcome evaluate(const ir::Graph& g, std::vector<HostArray> args, const Options& options = {});
Outcome evaluate(const Program& program, std::vector<HostArray> args, const Options& options = {});
std::vector<HostArray> run(const ir::Graph& g, std::vector<HostArray> args,
                           const Options& options = {});

}  // namespace tlaloc::interp
