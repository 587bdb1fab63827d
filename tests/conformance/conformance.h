// One suite for every back end, made from the op table: each op in many element types, ranks and
// sizes, compared with a reference back end. See cases.h for how an op gets its cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tlaloc/runtime/backend.h"

namespace tlaloc::runtime::conformance {

struct Options {
  std::string op;          ///< only the cases of this op; empty: all
  bool exact = false;      ///< no tolerances: for a back end that computes as the reference does
  std::uint64_t seed = 1;  ///< of the inputs
  int max_failures_per_op = 3;  ///< those kept in the report; all are counted
  /// Only the first cases of an op and each n-th one, where compiling takes long.
  int every = 1;
  /// So many cases of an op in one program, for a subject that takes long to compile any.
  int batch = 1;
  /// False for a subject that takes denormal floats for zeros: inputs have none, and where the
  /// reference has one a zero is right too.
  bool denormals = true;
  /// Tolerances instead of those of the cases, by op.
  std::map<std::string, double> ulps;
  std::map<std::string, double> narrow_ulps;  ///< the same for floats of 16 bits
  CompileOptions compile;                     ///< of the subject
};

struct Failure {
  std::string name;     ///< of the case: "add/f32[3, 5]/symbolic/donated"
  std::string message;  ///< what differs, or what was thrown
};

struct OpReport {
  int cases = 0;
  int failed = 0;
  std::int64_t elements = 0;  ///< of results, compared
  int refused = 0;  ///< UserError TL-BACKEND-001 when compiling: the back end says so by name
  /// Cases that exist with constant sizes only, because the op wants constants.
  int constant_only = 0;
  std::vector<Failure> failures;
  std::string refusal;  ///< the first one's text
};

struct Report {
  std::map<std::string, OpReport> ops;
  /// Ops of the table that no generator covers, or whose generator made no case.
  std::vector<std::string> uncovered;
  int cases() const;
  int failed() const;
  int refused() const;
  bool passed() const { return uncovered.empty() && failed() == 0; }
  /// Counts, refusals and failures, one a line; short when all is well.
  std::string text() const;
};

/// Compares `subject` with `reference` on every case. Each case runs plainly, with donated inputs
/// or with a bound argument, in turn; inputs that were not donated must stay as they were. Of a
/// batch that fails each case is run alone, so that failures and refusals are its cases' own.
Report check(Backend& subject, Backend& reference, const Options& options = {});

}  // namespace tlaloc::runtime::conformance
