#include "tlaloc/lang/ahead.h"

#include <limits>
#include <span>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/cpu/ahead.h"
#include "tlaloc/lang/closure_constants.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/lang/param_names.h"

namespace tlaloc {
void AheadCode::write(const std::string& object_path, const std::string& header_path) const {
  write_files("compile_ahead",
              {{object_path, object}, {header_path, std::as_bytes(std::span(header))}});
}

namespace core {

AheadCode compile_ahead(const Function& f, const Leaves& args, const AheadOptions& options,
                        Where where) {
  const OpCall call{"compile_ahead", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    if (options.arguments.size() > args.data().argument_begin.size()) {
      throw UserError({"TL-AOT-002", call.name,
                       std::to_string(options.arguments.size()) + " names for " +
                           std::to_string(args.data().argument_begin.size()) + " arguments",
                       "leave the surplus names out", user_place(where)});
    }
    const Closure c = trace_closure(f, args, signature_of(args));
    if (!c.captures.lifted.empty()) {
      throw UserError({"TL-AOT-001", call.name, "the function reads values of the trace around it",
                       "pass them as arguments", user_place(where)});
    }
    cpu::AheadCode code = cpu::compile_ahead(
        transform::dce(with_constants(c, std::numeric_limits<std::int64_t>::max())),
        {.function = options.function,
         .cpu = options.cpu,
         .params = param_names(args, options.arguments)});
    return AheadCode{std::move(code.object), std::move(code.header)};
  });
}

}  // namespace core
}  // namespace tlaloc
