// Text of functions whose variables have names.
#pragma once

#include <string>

#include "tlaloc/cxx/module.h"

namespace tlaloc::cxx {

/// All functions of the module with headers, helpers and records.
std::string render(const Module& module);

}  // namespace tlaloc::cxx
