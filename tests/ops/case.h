// Cases of the derivative checks, shared by all families of ops: something built of ops, and
// arguments for it. See checks.h for what is checked.
#pragma once

#include <string>
#include <vector>

#include "tests/transform/arrays.h"
#include "tlaloc/ops/control.h"

namespace tlaloc::testing {

struct Case {
  std::string name;  ///< "reduce_prod/zeros"
  /// The f64 ones are moved; keep them 0.01 away from kinks and poles, and ties out.
  Arrays args;
  ops::Body build;
  /// Of the params, those that the results are linear in: tests the transpose rule by itself.
  std::vector<bool> linear = {};
  /// Also traced with one symbol for each size other than 1, so no size may be written as a number.
  bool symbolic = true;
  bool second = true;  ///< derivatives of the derivatives
  bool narrow = true;  ///< also in f32 and bf16, roughly
  double tolerance = 1e-7;
  /// Those that are not null: the argument is the bytes of quantized f64 weights. Lanes share it.
  std::vector<const ir::Encoding*> encodings = {};
};
using Cases = std::vector<Case>;

// One function per family, in cases_<family>.cc.
void elementwise_cases(Cases& cases);
void shape_cases(Cases& cases);
void reduction_cases(Cases& cases);
void order_cases(Cases& cases);
void window_cases(Cases& cases);
void index_cases(Cases& cases);
void linalg_cases(Cases& cases);
void system_cases(Cases& cases);
Cases all_cases();

// ---- short forms ----
using ops::operator-;
using ops::operator+;
using ops::operator*;
using ops::operator/;
using ops::operator<;
using ops::operator>;
using ops::Dim;
using ops::Val;
using ops::Vals;
/// f64; one axis unless extents are given.
HostArray vec(std::vector<double> values);
HostArray arr(Extents extents, std::vector<double> values);
/// Distinct values of either sign between 0.1 and 2.02 in magnitude; up to 120 of them are at least
/// 0.03 apart.
HostArray noise(Extents extents, std::uint64_t seed = 1);
HostArray ints(Extents extents, std::vector<std::int64_t> values);
HostArray bools(Extents extents, std::vector<bool> values);
/// The bytes of random blocks with scales near one; `extents` count elements.
HostArray blocks(const ir::Encoding& e, Extents extents, std::uint64_t seed = 1);

}  // namespace tlaloc::testing
