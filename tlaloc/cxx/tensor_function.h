// A whole graph as a function over tensors.
#pragma once

#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/print.h"

namespace tlaloc::cxx {

Printed print_tensor(const ir::Graph& g, const std::string& name, const Signature& signature,
                     const Options& options);

}  // namespace tlaloc::cxx
