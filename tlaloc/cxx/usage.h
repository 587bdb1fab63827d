// Who reads a value or a size of a graph.
#pragma once

#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

/// True if the size that `s` names is read anywhere but in the node that binds it.
bool reads_symbol(const ir::Graph& g, ir::Symbol s);
bool reads_value(const ir::Graph& g, ir::ValueId v);
/// True if v is only read piece by piece, as ragged xs of scans.
bool only_ragged_reads(const ir::Graph& g, ir::ValueId v);

}  // namespace tlaloc::cxx
