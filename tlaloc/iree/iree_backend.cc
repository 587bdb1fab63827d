#include "tlaloc/iree/iree_backend.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/file_identity.h"
#include "tlaloc/cache/host_cpu.h"
#include "tlaloc/cache/store.h"
#include "tlaloc/iree/compiler.h"
#include "tlaloc/iree/finder.h"
#include "tlaloc/iree/runner.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/calls.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/outcome.h"
#include "tlaloc/stablehlo/per_sizes.h"
#include "tlaloc/transform/one_device.h"

namespace tlaloc::iree {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations

/// What compiles, and where that is kept.
struct Tools {
  explicit Tools(const BackendOptions& o)
      : found(require_iree()),
        compiler(Compiler::load(found.compiler)),
        store(o.cache ? *o.cache : cache::settings_from_environment()) {}

  std::vector<std::byte> compile(std::string_view module) {
    Hasher h;
    h.add("a module of IREE, 1").add(compiler.revision());
    cache::add_file(h, compiler.path());
    h.add(std::as_bytes(std::span(cache::host_cpu())));
    for (const char* flag : default_flags()) h.add(flag);
    const Digest key = h.add(module).finish();
    if (auto bytes = store.find(key)) return std::move(*bytes);
    std::vector<std::byte> bytes = compiler.compile(module);
    store.store(key, bytes);
    return bytes;
  }

  Installation found;
  const Compiler& compiler;
  cache::Store store;
};

/// Its compiler knows no meshes.
ir::GraphRef on_one_device(ir::GraphRef g) {
  ir::GraphRef local = transform::on_one_device(*g);
  return local ? local : g;
}

/// A graph for one list of sizes.
struct Program {
  stablehlo::Emitted emitted;  // without its text
  Module module;
};

struct Compiled {
  Compiled(std::shared_ptr<Tools> t, ir::GraphRef g, const CompileOptions& options,
           stablehlo::EmitOptions e)
      : tools(std::move(t)),
        graph(on_one_device(std::move(g))),
        emission(std::move(e)),
        signature(signature_of(*graph, options)),
        binder(graph) {
    stablehlo::check_emittable(*graph, emission);
    for (const Alias& a : signature.aliases) {
      if (a.must) throw_alias(signature, a, "but a run is a process of its own");
    }
  }

  const Program& program(const std::vector<std::int64_t>& sizes) const {
    return programs.get(sizes, [&] {
      stablehlo::Emitted e = stablehlo::emit(*graph, sizes, emission);
      if (e.devices > 1) {
        throw UserError({"TL-MESH-001",
                         graph->name(),
                         "its collectives run over " + std::to_string(e.devices) +
                             " devices, this back end runs on one",
                         "run the module with plugins::Program::run_on_all, or put them into a "
                         "manual computation",
                         {}});
      }
      const std::vector<std::byte> bytes = tools->compile(e.text);
      e.text = {};
      return std::unique_ptr<const Program>(
          new Program{std::move(e), Module(tools->found.runner, bytes)});
    });
  }

  std::shared_ptr<Tools> tools;
  ir::GraphRef graph;
  stablehlo::EmitOptions emission;
  Signature signature;
  ArgumentBinder binder;
  mutable stablehlo::PerSizes<Program> programs;
};

class IreeBound final : public Bound {
 public:
  IreeBound(std::shared_ptr<const Compiled> c, const std::map<std::size_t, Buffer>& params)
      : compiled_(std::move(c)),
        arrays_(compiled_->graph->param_count()),
        inputs_(unbound_params(compiled_->signature, params)) {
    for (const auto& [k, buffer] : params) {
      arrays_[k] = on_host("iree", buffer, false);
      check_bound(k);
    }
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const OpaqueRun call(compiled_->signature, inputs_, buffers.size(), options, "IREE");
    std::vector<HostArray> args = arrays_;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      args[inputs_[i]] = on_host("iree", buffers[i], call.donates(i));
    }
    buffers.clear();
    std::vector<const HostArray*> pointers;
    for (const HostArray& a : args) pointers.push_back(&a);
    const std::vector<std::int64_t> sizes = compiled_->binder(pointers, options.dims);
    call.poll();
    const Program& program = compiled_->program(sizes);
    const stablehlo::Emitted& e = program.emitted;
    const std::vector<HostArray> out = program.module.run(args, e.results);
    const auto read = [&](std::size_t output, DType) { return out[output]; };
    check_loops_ended(e, read);
    RunResult r;
    for (std::size_t k = 0; k < e.result_count; ++k) {
      r.outputs.emplace_back(stablehlo::without_padding(out[k], result_extents(e, k, read)));
    }
    r.result_dims = stablehlo::result_dims(e, read);
    call.end();
    return r;
  }

 private:
  /// TL-SHAPE-002 for an array that no run could take.
  void check_bound(std::size_t k) const {
    const ir::Type t = compiled_->signature.params[k];
    if (fits_storage(t, arrays_[k])) return;
    throw UserError({"TL-SHAPE-002",
                     compiled_->signature.name,
                     "argument " + std::to_string(k) + " is " +
                         std::string(name(arrays_[k].dtype())) + to_string(arrays_[k].extents()) +
                         ", not " + t.to_string(),
                     "",
                     {}});
  }

  std::shared_ptr<const Compiled> compiled_;
  std::vector<HostArray> arrays_;    // by param; what is not bound stays empty
  std::vector<std::size_t> inputs_;  // params that are not bound
};

class IreeExecutable final : public Executable {
 public:
  explicit IreeExecutable(std::shared_ptr<const Compiled> c) : compiled_(std::move(c)) {}
  const Signature& signature() const override { return compiled_->signature; }
  std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const override {
    return std::make_shared<IreeBound>(compiled_, params);
  }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

class IreeBackend final : public Backend {
 public:
  explicit IreeBackend(const BackendOptions& o) : tools_(std::make_shared<Tools>(o)) {
    emission_.recorded_trips = o.recorded_trips;
    emission_.in_bounds = true;
  }
  std::string_view name() const override { return "iree"; }
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    auto compiled = std::make_shared<const Compiled>(tools_, std::move(graph), options, emission_);
    if (compiled->graph->dims().empty()) compiled->program({});
    return std::make_shared<IreeExecutable>(std::move(compiled));
  }

 private:
  std::shared_ptr<Tools> tools_;
  stablehlo::EmitOptions emission_;
};

}  // namespace

std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options) {
  return std::make_shared<IreeBackend>(options);
}

}  // namespace tlaloc::iree
