// The user's line, for errors and for the origin of traced operations.
#pragma once

#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// False for Tlaloc's own sources and headers (its tests, benchmarks and examples count as a
/// user's) and for those of the standard library and the system.
bool is_user_file(std::string_view path);

/// `where` when it lies in user code; unknown otherwise. Operators, and library code that calls
/// named functions, give places that are not the user's.
Place place_of(Where where);

/// The innermost line of user code on this thread's stack, from debug information. Unknown without
/// debug information or libdw, and where code without it lies in between: no line is better than a
/// wrong one. Slow (the first call reads debug information): for errors.
Place find_user_place();
/// False where Tlaloc was built without libdw.
bool can_find_places();

/// `where`, else the stack.
Place user_place(Where where);

/// Runs f; an error that leaves it gets the user's line unless it has a place already.
template <class F>
decltype(auto) with_place(Where where, F&& f) {
  try {
    return f();
  } catch (Error& e) {
    if (!e.info().place.known()) e.add_place(user_place(where));
    throw;
  }
}

}  // namespace tlaloc::core
