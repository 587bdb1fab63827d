// The elements of an array as people read them.
#pragma once

#include <string>

#include "tlaloc/base/host_array.h"

namespace tlaloc {

enum class ArrayLayout {
  lines,    ///< as numpy prints: rows on lines of their own, columns aligned, "1." for 1.0
  one_line  ///< for logs: no padding
};
/// Nested lists. Of an array with more than 1000 elements the first and last three of each axis; an
/// array without elements is "[]", with its shape where that says more.
std::string array_text(const HostArray& array, ArrayLayout layout);

}  // namespace tlaloc
