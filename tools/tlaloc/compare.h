// Results against what they should be.
#pragma once

#include <optional>
#include <string>

#include "tlaloc/base/host_array.h"
#include "tlaloc/stablehlo/import.h"

namespace tlaloc::command {

/// What differs; nothing where the arrays have one type and shape, and each element fulfils
/// |got - expected| <= tolerance * max(1, |expected|). Any NaN equals any NaN and an infinity
/// itself; integers and bools are equal or not.
std::optional<std::string> difference(const HostArray& got, const HostArray& expected,
                                      double tolerance);

/// What the check finds wrong, or nothing.
std::optional<std::string> failure(const stablehlo::Check& check, const HostArray& got,
                                   const HostArray& expected);

}  // namespace tlaloc::command
