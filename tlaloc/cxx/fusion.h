// Which arrays are worth a vector of their own; the others are computed where they are read.
#pragma once

#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

enum class Keep : std::uint8_t {
  no,           ///< read by one loop only, element by element: it melts into that loop
  if_computed,  ///< read several times
  always,       ///< read from a vector that is updated in place further on
};
/// By ValueId.
std::vector<Keep> arrays_to_keep(const ir::Graph& g);

}  // namespace tlaloc::cxx
