// What the parameters of a traced function are called outside of C++.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/lang/leaves.h"

namespace tlaloc::core {

/// "m_w1", "x": the argument where it is named, then the field. Empty where nothing has a name.
std::vector<std::string> param_names(const Leaves& args, const std::vector<std::string>& arguments);

}  // namespace tlaloc::core
