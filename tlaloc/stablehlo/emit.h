// Graphs as StableHLO modules, as text that StableHLO 1.13.3 and later understand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/ir/sharding.h"
#include "tlaloc/stablehlo/text.h"

namespace tlaloc::stablehlo {

/// The oldest version of StableHLO that understands what is emitted.
inline constexpr char kMinimumVersion[] = "1.13.3";

/// The custom call that stands for one of Tlaloc's own: its attributes `name` and `config` say
/// which.
inline constexpr char kHostCall[] = "tlaloc.host_call";

struct EmitOptions {
  /// Named calls as stablehlo.composite, with what they call as their decomposition. Otherwise as
  /// calls of private functions.
  bool composites = false;
  /// Rows kept for a `while` that records values and has no max_trips of its own; 0: it is refused.
  std::int64_t recorded_trips = 0;
  /// Params whose memory a run may reuse, and those that results must share: (param, result).
  std::vector<std::size_t> donors;
  std::vector<std::pair<std::size_t, std::size_t>> aliases;
  /// For compilers that forget what StableHLO says of indices outside of an array, and read or
  /// write there: every index is within, by what is written around it.
  bool in_bounds = false;
  /// Custom calls as calls of @tlaloc.host_call (kHostCall), for a runtime that has it; otherwise
  /// they are refused, because their code is on the host.
  bool host_calls = false;
  /// For XLA's partitioner, over a mesh: what it gets wrong is said otherwise, and every argument
  /// and result says how it lies, as `Emitted::layouts` does. Without it propagation decides where
  /// the graph says nothing, or leaves dimensions open.
  bool fixed_layouts = false;
};

/// How the arguments and results of a graph lie on a mesh: as the constraint says that alone reads
/// an argument, and the one that makes a result; with `of_manual`, manual computations too. Where
/// there is none, every device has all of it.
struct Layouts {
  std::vector<std::optional<ir::Sharding>> params, results;
};
Layouts layouts_of(const ir::Graph& g, bool of_manual = false);
/// How many devices the largest mesh of a graph and its regions has; 0 where they have none.
std::int64_t mesh_devices(const ir::Graph& g);

struct Emitted {
  /// The size of an axis that only a run finds out: `result` is padded there, and the extra result
  /// `output`, an i64 scalar, says how much of it counts.
  struct Length {
    std::size_t result, axis, output;
  };
  /// One of the graph's result dims.
  struct ResultDim {
    std::int64_t size = 0;              ///< where it was known
    std::optional<std::size_t> output;  ///< where not
  };
  std::string text;                 ///< one module, whose entry is @main
  std::vector<TensorType> params;   ///< quantized ones as bytes
  std::vector<TensorType> results;  ///< the graph's first, then extra ones
  std::size_t result_count = 0;     ///< the graph's
  std::vector<Length> lengths;
  std::vector<ResultDim> result_dims;
  /// An extra result, a bool scalar: some loop did not end within its trips (TL-LOOP-001).
  std::optional<std::size_t> exceeded;
  std::int64_t devices = 1;  ///< replicas that collectives run over
  /// Devices of its meshes; the layouts of all results, extra ones too.
  std::int64_t partitions = 1;
  Layouts layouts;
};

/// The graph for these sizes of its entry dims, in their order. Equal graphs and sizes give equal
/// text. UserError TL-BACKEND-001 for what StableHLO can't say, by the op's name; TL-SHAPE-001,
/// TL-SHAPE-005, TL-SIZE-001 for sizes that the graph does not accept.
Emitted emit(const ir::Graph& g, std::span<const std::int64_t> sizes,
             const EmitOptions& options = {});

/// Refuses what no sizes would make emission of: TL-BACKEND-001.
void check_emittable(const ir::Graph& g, const EmitOptions& options = {});

}  // namespace tlaloc::stablehlo
