#include "tlaloc/lang/stablehlo.h"

#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure_constants.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::core {

std::string emit_stablehlo(const Function& f, const Leaves& args, const StableHloOptions& options,
                           Where where) {
  const OpCall call{"emit_stablehlo", where};
  return with_place(where, [&] {
    const ir::GraphRef g = whole_graph(call, f, args);
    std::vector<HostArray> arrays;
    for (const Ref& x : args.data().values) arrays.push_back(node(x).array());
    const std::vector<std::int64_t> sizes = runtime::bind_arguments(*g, arrays, {});
    return stablehlo::emit(
               *g, sizes,
               {.composites = options.composites, .recorded_trips = options.recorded_trips})
        .text;
  });
}

}  // namespace tlaloc::core
