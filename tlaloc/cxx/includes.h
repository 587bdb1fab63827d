// Which headers printed code needs.
#pragma once

#include <string>
#include <string_view>

namespace tlaloc::cxx {

/// "#include <cmath>" lines for every std:: name that stands in the code.
std::string includes_of(std::string_view code);

}  // namespace tlaloc::cxx
