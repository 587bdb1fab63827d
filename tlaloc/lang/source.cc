#include "tlaloc/lang/source.h"

#include "tlaloc/cxx/print.h"
#include "tlaloc/lang/closure_constants.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::core {

namespace {

cxx::Mode mode_of(SourceMode m) {
  return m == SourceMode::plain    ? cxx::Mode::plain
         : m == SourceMode::tensor ? cxx::Mode::tensor
                                   : cxx::Mode::automatic;
}

/// Elements up to which a captured array is a constant: what a person would write out. Larger ones,
/// such as weights, stay parameters behind the arguments.
constexpr std::int64_t kWrittenOut = 128;

std::string argument_name(const SourceOptions& options, std::size_t k) {
  return k < options.arguments.size() ? options.arguments[k] : "x" + std::to_string(k);
}

/// Which argument each leaf is a member of, and which one the result looks like.
void add_structure(cxx::Options& print, const SourceOptions& options, const Leaves& args,
                   const Leaves& results, const ir::Graph& g) {
  const Leaves::Data& d = args.data();
  const std::size_t n = results.data().values.size();
  for (std::size_t k = 0; k < d.argument_begin.size(); ++k) {
    const auto first = static_cast<std::size_t>(args.argument_begin(static_cast<int>(k)));
    const auto end = static_cast<std::size_t>(args.argument_end(static_cast<int>(k)));
    bool alike = end - first == n;
    for (std::size_t i = first; i < end; ++i) {
      const std::string path = d.path_text(i);
      print.members.push_back({path.empty() ? "" : argument_name(options, k), path});
      alike = alike && !path.empty() && results.data().path_text(i - first) == path &&
              g.type(static_cast<ir::ValueId>(i)) == g.type(g.results()[i - first]);
    }
    if (alike && print.result_like.empty()) print.result_like = argument_name(options, k);
  }
}

}  // namespace

std::string source_text(const Function& f, const Leaves& args, const SourceOptions& options,
                        Where where) {
  const OpCall call{"to_source", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    const Closure c = trace_closure(f, args, signature_of(args));
    const ir::GraphRef graph = transform::dce(with_constants(c, kWrittenOut));
    cxx::Options print;
    print.function = options.function;
    print.mode = mode_of(options.mode);
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
      print.param_names[first] = argument_name(options, k);
    }
    // What f captures comes behind the arguments.
    for (std::size_t i = print.param_names.size(); i < graph->param_count(); ++i) {
      print.param_names.push_back("captured" + std::to_string(i));
    }
    add_structure(print, options, args, c.results, *graph);
    return cxx::print(*graph, print);
  });
}

}  // namespace tlaloc::core
