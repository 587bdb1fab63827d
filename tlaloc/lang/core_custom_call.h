// The untyped core, continued: functions of the host that programs call by name.
#pragma once

#include <functional>
#include <string>

#include "tlaloc/lang/trace.h"

namespace tlaloc::core {

/// Registers a function on concrete values under a name, in place of an earlier one. `params` says
/// what it takes: a call with other arguments is UserError TL-DTYPE-001, TL-RANK-001, TL-SHAPE-002.
void register_custom_call(std::string name, Leaves params,
                          std::function<void(const Leaves& in, Leaves& out)> f);
/// Calls it. `results` says what it returns; a size that a type lacks is that of an argument's axis
/// of that name, or, for an axis without a name, of the result's rank. UserError TL-SHAPE-009 when
/// there is none such, TL-CUSTOM-004 (in the run) when nothing has the name, TL-CUSTOM-002 when it
/// returns something else.
Leaves custom_call(const char* name, const Leaves& args, const Leaves& results, Where where);

}  // namespace tlaloc::core
