// What each golden case is in our terms, and how closely it must agree.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/transform/program.h"

namespace tlaloc::testing {

/// Where we differ from JAX by decision (docs/numerics.md): these elements have this value.
struct Own {
  std::string key;  ///< "vjp0"
  std::vector<std::int64_t> at;
  double value = 0;
};

struct GoldenCase {
  /// The graph on params of these types, whose floating ones are `real`.
  using Build = std::function<GraphRef(const std::vector<Type>&)>;
  std::map<DType, Build> build;
  /// Bounds, relative to the array's largest finite element; in `out` to the element itself, unless
  /// it is a sum whose terms cancel.
  double f64 = 1e-12, f32 = 2e-6;
  std::string reason;  ///< why a bound is wider than these
  bool cancels = false;
  std::vector<Own> own;
  /// For elementwise cases: our derivatives are NaN where the value is, whatever JAX's are.
  bool nan_with_value = false;
};

class GoldenCases {
 public:
  /// A function of the ops' vocabulary.
  GoldenCase& add(const std::string& name, Body body);
  /// The same in one real type: a function of the typed API, whose program is traced to text.
  GoldenCase& add(const std::string& name, DType real, std::function<std::string()> program);
  std::map<std::string, GoldenCase>& all() { return cases_; }
  GoldenCase& operator[](const std::string& name) { return cases_.at(name); }

 private:
  std::map<std::string, GoldenCase> cases_;
};

// The families, in cases_*.cc.
void op_goldens(GoldenCases& cases);
void composite_goldens(GoldenCases& cases);

}  // namespace tlaloc::testing
