#include "tlaloc/cpu/ahead.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/ahead_module.h"
#include "tlaloc/cpu/codegen_library.h"
#include "tlaloc/cpu/generate_loop.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {
namespace {

[[noreturn]] void refuse(const Program& p, const std::string& op, const std::string& why,
                         const std::string& hint, const Place& place = {}) {
  const std::string& name = p.graph->name();
  throw UserError({"TL-AOT-001", op, why + (name.empty() ? "" : ", in " + name), hint, place});
}

/// All that code alone can't do.
void require_code(const Program& p, const std::string& cpu) {
  // Conversions would be calls of a compiler's own library.
  const bool halves = cpu != "x86-64" && cpu != "x86-64-v2";
  for (const Step& s : p.steps) {
    const Place place = s.origin ? s.origin->place : Place{};
    if (s.run != run_loop) {
      refuse(p, s.name, "what it runs is a part of Tlaloc, not code that stands alone",
             "compile it with jit, or write it with other operations", place);
    }
    const Loop& loop = *static_cast<const Loop*>(s.data.get());
    const std::size_t at = first_without_code(loop);
    const auto half = std::ranges::find(loop.ops, DType::f16, &Loop::Op::dtype);
    if (!halves && half != loop.ops.end()) {
      refuse(p, s.name, cpu + " has no instructions for f16", "compile for x86-64-v3", place);
    }
    if (at == loop.ops.size()) continue;
    const Loop::Op& op = loop.ops[at];
    refuse(p, op.def ? op.def->name : s.name,
           "there is no code for it on elements of " + std::string(name(op.dtype)),
           "convert to f32 around it", place);
  }
  for (std::size_t k = 0; k < p.results.size(); ++k) {
    if (p.storages[p.results[k].storage].kind != Storage::Kind::dynamic) continue;
    refuse(p, "compile_ahead",
           "result " + std::to_string(k) + " has a size that only the run finds out",
           "return a part of it whose size the arguments give");
  }
  if (!p.result_dims.empty()) {
    refuse(p, "compile_ahead", "it gives back a size that only the run finds out",
           "return numbers and arrays alone");
  }
}

}  // namespace

const std::vector<std::string>& ahead_cpus() {
  static const std::vector<std::string> cpus{
      "native",  "x86-64",  "x86-64-v2",      "x86-64-v3",      "x86-64-v4",
      "haswell", "skylake", "skylake-avx512", "icelake-server", "sapphirerapids",
      "znver1",  "znver2",  "znver3",         "znver4"};
  return cpus;
}

AheadCode compile_ahead(const ir::GraphRef& g, const AheadOptions& options) {
  if (std::ranges::find(ahead_cpus(), options.cpu) == ahead_cpus().end()) {
    std::string known;
    for (const std::string& cpu : ahead_cpus()) known += (known.empty() ? "" : ", ") + cpu;
    throw UserError({"TL-AOT-002",
                     "compile_ahead",
                     "'" + options.cpu + "' is no CPU",
                     "take one of " + known,
                     {}});
  }
  const AheadNames names = ahead_names(*g, options);
  const auto p = plan(g, {.kernels = Kernels::written});
  require_code(*p, options.cpu);
  const bool grows = std::ranges::any_of(
      p->storages, [](const Storage& s) { return s.kind == Storage::Kind::dynamic; });
  CompileOptions compile;
  compile.name = options.function;
  // The program itself becomes a part of the function that C calls.
  compile.passes = "always-inline,globaldce," + std::string(kScalarPasses);
  compile.cpu = options.cpu == "native" ? "" : options.cpu;
  const Settings settings = settings_from_environment();
  AheadCode r;
  r.object = generate_object(settings.codegen_library, ahead_module(*p, names, settings.contract),
                             compile);
  r.header = ahead_header(*g, names, grows);
  return r;
}

}  // namespace tlaloc::cpu
