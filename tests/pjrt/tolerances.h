// How far XLA's CPU may be off beyond what every back end may.
#pragma once

#include <map>
#include <string>

namespace tlaloc::plugins {

/// By op, in units of the last place. XLA computes these in f32 from exponentials and logarithms
/// that are rounded themselves.
inline const std::map<std::string, double> kUlps{{"cbrt", 8}, {"cosh", 8}, {"sinh", 8}};

}  // namespace tlaloc::plugins
