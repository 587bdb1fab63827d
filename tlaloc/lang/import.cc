#include "tlaloc/lang/import.h"

#include <mutex>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/stablehlo/import.h"

namespace tlaloc::core {

/// With what it was compiled to when it first ran outside of a trace.
struct ImportedFunction {
  std::string name;
  ir::GraphRef graph;
  mutable std::mutex mutex;
  mutable std::shared_ptr<const runtime::Bound> compiled;
};

std::shared_ptr<const ImportedFunction> import_stablehlo(std::string_view text,
                                                         const std::string& name) {
  const stablehlo::ImportedModule m = stablehlo::import_stablehlo(text, name);
  const stablehlo::ImportedFunction& main = m.main();
  auto f = std::make_shared<ImportedFunction>();
  f->name = main.name;
  f->graph = stablehlo::computation(main);
  return f;
}

std::size_t argument_count(const ImportedFunction& f) { return f.graph->param_count(); }
std::size_t result_count(const ImportedFunction& f) { return f.graph->results().size(); }

namespace {

[[noreturn]] void refuse(const ImportedFunction& f, const char* code, const std::string& message,
                         Where where) {
  throw UserError({code, "import_stablehlo", "@" + f.name + " " + message, "", user_place(where)});
}
void check_arguments(const ImportedFunction& f, const std::vector<Ref>& args, Where where) {
  const auto params = f.graph->param_types();
  if (args.size() != params.size()) {
    refuse(
        f, "TL-ARITY-001",
        "takes " + std::to_string(params.size()) + " arguments, not " + std::to_string(args.size()),
        where);
  }
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (!args[k]) refuse(f, "TL-CALL-001", "is called with an empty array", where);
    const ir::Type want = params[k], is = node(args[k]).type;
    const char* code = is.dtype() != want.dtype() ? "TL-DTYPE-001"
                       : is.rank() != want.rank() ? "TL-RANK-001"
                                                  : nullptr;
    for (int i = 0; !code && i < want.rank(); ++i) {
      const bool fixed = want.dim(i).is_constant();
      if (fixed && equal(is.dim(i), want.dim(i)) == ir::Truth::no) code = "TL-SHAPE-002";
    }
    if (!code) continue;
    refuse(f, code,
           "takes " + want.to_string() + " as argument " + std::to_string(k) + ", not " +
               is.to_string(),
           where);
  }
}

std::shared_ptr<const runtime::Bound> compiled(const ImportedFunction& f) {
  if (nan_mode()) return default_backend().compile(f.graph, {.run_once = true})->bind({});
  const std::scoped_lock lock(f.mutex);
  if (!f.compiled) f.compiled = default_backend().compile(f.graph)->bind({});
  return f.compiled;
}

}  // namespace

std::vector<Ref> call_imported(const ImportedFunction& f, const std::vector<Ref>& args,
                               Where where) {
  return with_place(where, [&] {
    check_arguments(f, args, where);
    if (any_traced(args)) {
      const OpCall call{"import_stablehlo", where};
      return apply_all(call, args, {}, [&](std::span<const ir::Val> in) {
        return ir::call_graph({}, f.graph, in);
      });
    }
    std::vector<const HostArray*> inputs;
    for (const Ref& x : args) inputs.push_back(&node(x).array());
    runtime::RunOptions options;
    options.check_nan = nan_mode();
    return as_refs(*f.graph, compiled(f)->run_host(inputs, options), {});
  });
}

Ref only_result(const ImportedFunction& f, const std::vector<Ref>& args, Where where) {
  if (result_count(f) != 1) {
    refuse(f, "TL-ARITY-001",
           "has " + std::to_string(result_count(f)) + " results; results() gives all", where);
  }
  return call_imported(f, args, where)[0];
}

}  // namespace tlaloc::core

namespace tlaloc {

std::vector<Array> Imported::results(const std::vector<Array>& args, Where where) const {
  std::vector<core::Ref> refs;
  for (const Array& a : args) refs.push_back(a.ref());
  std::vector<Array> out;
  for (core::Ref& r : core::call_imported(*function_, refs, where)) out.emplace_back(std::move(r));
  return out;
}

Imported import_stablehlo(std::string_view text, const std::string& name) {
  return Imported(core::import_stablehlo(text, name));
}

}  // namespace tlaloc
