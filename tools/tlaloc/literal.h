// Literals of arrays: 1.5, [[1, 2], [3, -inf]], true.
#pragma once

#include <string_view>

#include "tlaloc/base/host_array.h"

namespace tlaloc::command {

/// The array that nested lists say; a number is one without axes. UserError TL-INPUT-001 for what
/// is no list of numbers of that type, or whose rows differ in length.
HostArray parse_literal(std::string_view text, DType dtype);

}  // namespace tlaloc::command
