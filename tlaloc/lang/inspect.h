// Text about traced programs. Includes <string>, so it stays out of the headers that every user
// includes.
#pragma once

#include <string>

#include "tlaloc/lang/trace.h"

namespace tlaloc::core {

/// The function traced on these arguments, as text of the IR: sizes that the types leave open stay
/// symbols.
std::string graph_text(const Function& f, const Leaves& args, Where where);

/// Why a jitted function was traced, each time, and which arrays it captured.
std::string explain(const JitCache& cache);

/// "f32[batch=32, 784]" of a value.
std::string type_text(const Ref& x);
/// The value as numpy would print it; the type and "traced" for a value of a trace.
std::string value_text(const Ref& x);

}  // namespace tlaloc::core
