// Object files as shared libraries.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tlaloc::command {

/// Links an object, and the C library's functions that it calls, by the C compiler `cc` of this
/// machine. EnvironmentError TL-AOT-003 with what that says.
std::vector<std::byte> shared_library(std::span<const std::byte> object);

}  // namespace tlaloc::command
