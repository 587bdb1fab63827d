// What folds start from.
#pragma once

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::cxx {

/// A scalar. UserError TL-CXX-002 for element types that standard C++ lacks.
HostArray identity(DType dtype, ir::Identity which);

}  // namespace tlaloc::cxx
