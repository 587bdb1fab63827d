#include "tlaloc/lang/stablehlo.h"

#include <limits>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure_constants.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/transform/dce.h"

namespace tlaloc::core {

std::string emit_stablehlo(const Function& f, const Leaves& args, const StableHloOptions& options,
                           Where where) {
  const OpCall call{"emit_stablehlo", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    const Closure c = trace_closure(f, args, signature_of(args));
    if (!c.captures.lifted.empty()) {
      throw UserError({"TL-BACKEND-001", call.name,
                       "the function reads values of the trace around it", "pass them as arguments",
                       user_place(where)});
    }
    const ir::GraphRef g =
        transform::dce(with_constants(c, std::numeric_limits<std::int64_t>::max()));
    std::vector<HostArray> arrays;
    for (const Ref& x : args.data().values) arrays.push_back(node(x).array);
    const std::vector<std::int64_t> sizes = runtime::bind_arguments(*g, arrays, {});
    return stablehlo::emit(
               *g, sizes,
               {.composites = options.composites, .recorded_trips = options.recorded_trips})
        .text;
  });
}

}  // namespace tlaloc::core
