// Printing from traced code, each time it runs.
#pragma once

#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/trace.h"

namespace tlaloc {

/// The format of debug_print, with the user's line.
struct PrintFormat {
  PrintFormat(const char* text,
              Where where = Where::current())  // NOLINT(google-explicit-constructor)
      : text(text), where(where) {}
  const char* text;
  Where where;
};

/// Prints when the traced program runs, in program order: debug_print("loss {} at {}", loss, step).
/// Each {} stands for a tensor or a number; {{ and }} are braces. Under vmap all lanes print at
/// once; derivatives do not print again. Error at run time: TL-FORMAT-001 (the
/// format).
template <class... A>
  requires((Value<A> || Number<A>) && ...)
void debug_print(PrintFormat format, const A&... values) {
  const core::Ref refs[]{core::Ref(), detail::operand_ref<A>(values)...};
  core::debug_print(format.text, std::span(refs).subspan(1), format.where);
}

}  // namespace tlaloc
