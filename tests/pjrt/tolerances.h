// How far XLA's CPU may be off beyond what every back end may.
#pragma once

#include <map>
#include <string>

namespace tlaloc::plugins {

/// By op, in units of the last place. XLA computes the elementwise ones in f32 with polynomials,
/// and adds up in an order of its own, where much may cancel; a sum of one product has the
/// product's zero.
inline const std::map<std::string, double> kUlps{{"cbrt", 16},           {"cosh", 8},
                                                 {"dot_general", 1},     {"erfc", 72},
                                                 {"quant_matmul", 4096}, {"sinh", 8}};

/// The same for f16 and bf16, of which others are off by one at most.
inline const std::map<std::string, double> kNarrowUlps{{"cbrt", 2}};

}  // namespace tlaloc::plugins
