// Small functions that the printed code needs beside <cmath>: written out only where they are used.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>

namespace tlaloc::cxx {

enum class Helper : std::uint8_t {
  wrapping_add,
  wrapping_sub,
  wrapping_mul,
  wrapping_neg,
  wrapping_abs,
  divide,
  remainder,
  power,
  integer_power,
  maximum,
  minimum,
  sign,
  logistic,
  log_add_exp,
  clamp_index,
  saturate_cast,
  shift_left,
  shift_right_arithmetic,
  shift_right_logical,
  erf_inv,
  floor_div,
  floor_mod,
  reduce_precision,
  sorted_positions,
  positions_sorted_by,
  cholesky,
  triangular_solve,
  threefry,
};

/// "wrapping_add": what the code calls.
std::string name_of(Helper helper);

/// The helpers that a text needs.
class Needs {
 public:
  void helper(Helper h);
  /// What the helpers are called.
  std::unordered_set<std::string> names() const;
  /// The definitions, in an anonymous namespace; empty if there are none.
  std::string definitions() const;

 private:
  std::set<Helper> helpers_;
};

}  // namespace tlaloc::cxx
