#include "tlaloc/lang/debug_print.h"

#include "tlaloc/lang/apply.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::core {

void debug_print(const char* format, std::span<const Ref> values, Where where) {
  const OpCall call{"debug_print", where};
  with_place(where, [&] {
    const auto emit = [&](std::span<const ir::Val> in) {
      ops::debug_print(format, in);
      return ir::Vals();
    };
    if (!Trace::current()) {
      apply_all(call, values, {}, emit);
      return;
    }
    // Known values print when the program runs, too.
    const ir::Vals in = as_vals(values);
    const ir::OriginScope origin(origin_of(call));
    emit(in);
  });
}

}  // namespace tlaloc::core
