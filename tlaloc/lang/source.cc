#include "tlaloc/lang/source.h"

#include "tlaloc/cxx/print.h"
#include "tlaloc/lang/closure.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::core {

std::string source_text(const Function& f, const Leaves& args, const SourceOptions& options,
                        Where where) {
  const OpCall call{"to_source", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    const Closure c = trace_closure(f, args, signature_of(args));
    cxx::Options print;
    print.function = options.function;
    // A field's own path where it has one, the argument's name otherwise.
    const Leaves::Data& d = args.data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(args.size()); ++i) {
      const std::string field = d.path_text(i);
      print.param_names.push_back(field);
    }
    for (std::size_t k = 0; k < d.argument_begin.size(); ++k) {
      // An argument that is one value is named as a whole.
      const auto first = static_cast<std::size_t>(args.argument_begin(static_cast<int>(k)));
      if (args.argument_end(static_cast<int>(k)) <= static_cast<int>(first) ||
          !print.param_names[first].empty()) {
        continue;
      }
      print.param_names[first] =
          k < options.arguments.size() ? options.arguments[k] : "x" + std::to_string(k);
    }
    // What f captures comes behind the arguments.
    for (std::size_t i = print.param_names.size(); i < c.graph->param_count(); ++i) {
      print.param_names.push_back("captured" + std::to_string(i));
    }
    return cxx::print(*transform::dce(c.graph), print);
  });
}

}  // namespace tlaloc::core
