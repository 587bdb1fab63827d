// Graphs with sizes within bounds as bounded programs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tlaloc/bounded/manifest.h"
#include "tlaloc/bounded/program.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::bounded {

/// An entry dim of the graph, and the sizes that it may have.
struct BoundRequest {
  ir::Symbol symbol;
  std::int64_t least = 1, most = 1;
  std::vector<std::int64_t> buckets;  ///< empty: default_buckets
};

/// A parameter that callers don't pass: the runner tells by it what counts of an axis. Then the
/// function itself keeps padding of that axis out of its results; else the exported bodies do.
struct ValidRequest {
  std::size_t param = 0;
  Role role = Role::valid_mask;  ///< or valid_length
  ir::Symbol symbol;
};

struct ExportOptions {
  std::vector<BoundRequest> bounds;
  std::vector<ValidRequest> valid;
  runtime::DimValues dims;  ///< the sizes of all other entry dims
  /// By parameter. Missing or empty: the graph's own name of it, or its position.
  std::vector<std::string> names;
  /// By parameter; what it pads data with, see can_pad. Missing: 0.
  std::vector<double> padding;
  /// Parameters that runs may be given for good, such as what a training step updates: each is
  /// paired with the first result of its type that is left, in their order, which takes over its
  /// memory.
  std::vector<std::size_t> donated;
  /// By parameter, arrays whose elements the check draws from; an empty handle: random numbers.
  std::vector<HostArray> samples;
  std::int64_t recorded_trips = 0;  ///< see stablehlo::EmitOptions
  /// By how much of max(1, |expected|) a padded run may be off. 0: by the coarsest element type of
  /// the results, 1e-9, 1e-4 or 2e-2. Integers and bools must be equal.
  double tolerance = 0;
  int random_sizes = 8;  ///< beyond the edges of all buckets
  std::uint64_t seed = 0;
};

struct Exported {
  Manifest manifest;
  std::vector<std::shared_ptr<const std::string>> bodies;
  /// The manifest and the bodies, which appear together or not at all. The folder is made where it
  /// is missing. EnvironmentError TL-FILE-001.
  void write(const std::string& folder) const;
  /// To run without a folder.
  Program program(runtime::Backend& backend) const;
};

/// Errors: UserError TL-BOUNDED-001 where padding would change a result, by what can't leave it
/// out or by the sizes for which a run with padding gives something else, or options that no
/// manifest can say, or a donated parameter that no result is left for; TL-BACKEND-001 for what
/// StableHLO can't say; TL-SHAPE-004 for a size that nothing gives; what runs of g throw.
Exported export_program(const ir::GraphRef& g, const ExportOptions& options);

}  // namespace tlaloc::bounded
