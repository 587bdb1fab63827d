// C++ types of values, and what the printer refuses by name.
#pragma once

#include <string>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

/// "double", "std::int64_t". UserError TL-CXX-002 for f16, bf16 and complex types.
std::string type_name(DType dtype);
/// Scalars by themselves, arrays as vectors, row-major.
std::string type_name(ir::Type type);
std::string vector_of(const std::string& element);

/// The text is about a type: element types that standard C++ lacks, quantized values.
[[noreturn]] void refuse_dtype(DType dtype);
/// No rule prints `op` in this mode.
[[noreturn]] void refuse_op(const ir::OpDef& op, const std::string& reason, const std::string& hint,
                            const ir::Origin& origin);

}  // namespace tlaloc::cxx
