// Ops on constants.
#pragma once

#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

/// What the interpreter computes, for an op with one scalar result.
HostArray evaluate(const ir::Node& n, std::vector<HostArray> args, DType dtype);

}  // namespace tlaloc::cxx
