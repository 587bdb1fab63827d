// One random program through the checks.
#pragma once

#include <cstdint>
#include <string>

#include "tests/transform/checks.h"

namespace tlaloc::testing {

enum class Verdict { agrees, skipped, wrong };
struct RandomResult {
  Verdict verdict = Verdict::agrees;
  std::string policy;
  std::vector<std::string> lines;
};
/// `seed` decides the program and the policy. Programs that are too large or ill conditioned are
/// skipped: code multiplies under lanes and second order where inner loops are recomputed.
/// `evaluate`: see CheckOptions.
RandomResult check_random(std::uint64_t seed, decltype(CheckOptions::evaluate) evaluate = {});

}  // namespace tlaloc::testing
