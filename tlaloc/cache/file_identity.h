// Which file something was made by.
#pragma once

#include <string>

#include "tlaloc/base/digest.h"

namespace tlaloc::cache {

/// Path, size and time of change: a compiler that was replaced by another one is another compiler.
void add_file(Hasher& hasher, const std::string& path);

}  // namespace tlaloc::cache
