// Checks of a scalar program: the complex step against every transform and pair of transforms.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"

namespace tlaloc::testing {

struct CheckOptions {
  Policy policy;
  double tolerance = 1e-9;
  bool second = true;  ///< second derivatives: fwd/fwd, fwd/rev, rev/fwd, rev/rev
  bool lanes = true;   ///< vmap, alone and composed with the derivatives
  std::uint64_t seed = 0;
  /// How the derived graphs are run; empty: by the interpreter.
  std::function<Arrays(const GraphRef& g, const Arrays& args)> evaluate = {};
};
struct CheckResult {
  /// Derivatives too large for a comparison to say anything.
  bool ill_conditioned = false;
  /// One line per disagreement: the transform, what it gave, what was wanted.
  std::vector<std::string> disagreements;
};
/// g has one f64 scalar result. An error thrown by a transform is a disagreement too.
CheckResult check(const GraphRef& g, const Arrays& args, const CheckOptions& options);

std::string describe(const Policy& policy);

}  // namespace tlaloc::testing
