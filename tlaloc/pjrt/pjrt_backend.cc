#include "tlaloc/pjrt/pjrt_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/graph_program.h"
#include "tlaloc/pjrt/host_calls.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/calls.h"
#include "tlaloc/runtime/prologue.h"
#include "tlaloc/transform/one_device.h"

namespace tlaloc::plugins {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations

/// An array for what looks at types only.
HostArray outline(const Buffer& b) {
  static const std::int64_t nothing[2] = {};
  return HostArray::external(b.dtype(), b.extents(), nothing, nullptr);
}

struct Compiled {
  Compiled(const Client& c, std::shared_ptr<ProgramCache> programs, ir::GraphRef g,
           const CompileOptions& options, stablehlo::EmitOptions emit)
      : client(c),
        cache(std::move(programs)),
        signature(signature_of(*g, options)),
        emission(std::move(emit)),
        binder(g),
        program(c, *cache, g, emission_for(*g, options)) {
    if (!program.is_over_mesh()) return;
    for (const Alias& a : signature.aliases) {
      if (a.must) throw_alias(signature, a, "but it lies on several devices");
    }
  }
  /// Every argument may be given up, as each run decides.
  stablehlo::EmitOptions emission_for(const ir::Graph& graph, const CompileOptions& options) const {
    stablehlo::EmitOptions e = emission;
    if (stablehlo::mesh_devices(graph) > 1) return e;  // memory of several devices is not given up
    for (std::size_t k = 0; k < signature.params.size(); ++k) e.donors.push_back(k);
    for (const Alias& a : options.aliases) e.aliases.emplace_back(a.param, a.result);
    return e;
  }

  const Client& client;
  std::shared_ptr<ProgramCache> cache;
  Signature signature;
  stablehlo::EmitOptions emission;
  ArgumentBinder binder;
  GraphProgram program;
};

std::shared_ptr<const DeviceArray> on_device(const Client& client, const Buffer& b) {
  check_owner(client, b);
  auto array = std::dynamic_pointer_cast<const DeviceArray>(b.memory());
  return array ? array : client.upload(b.to_host());  // it lies on several devices
}
Buffer uploaded(const Client& client, HostArray array) {
  const DType dtype = array.dtype();
  const Extents extents = array.extents();
  auto there = client.upload(std::move(array));
  Event ready = there->ready();
  return Buffer::on_device(std::move(there), dtype, extents, std::move(ready));
}
/// To keep as long as it is needed.
std::shared_ptr<const DeviceArray> shared(const Client& client, const Buffer& b) {
  if (b.device().is_host()) return client.upload(b.to_host());
  return on_device(client, b);
}

/// A handle of its own, so that nobody else can give the memory away.
Buffer own(const Client& client, const Buffer& b) {
  if (b.device().is_host()) return Buffer(b.to_host());
  check_owner(client, b);
  return Buffer::on_device(b.memory(), b.dtype(), b.extents(), b.ready());
}

std::string text(const Uploaded& u) {
  return fmt::format("{} bytes used where they lie, {} copied", u.in_place, u.copied);
}

/// One argument of a run.
struct Argument {
  std::shared_ptr<const DeviceArray> array;
  bool may_go;  ///< nobody else has it; of an array that others read the plugin writes a copy
};
Argument argument(const Client& client, const Buffer& b, bool donated) {
  if (b.device().is_host()) {
    return {client.upload(donated ? b.donate_host() : b.to_host()), true};
  }
  Argument a{on_device(client, b), false};
  if (donated) {
    b.donate_host();
    // From now on nobody can take it. Its handle has it, and this run; further owners are runs that
    // go on, and executables that it is bound to.
    a.may_go = a.array.use_count() <= 2;
  }
  return a;
}

class PjrtBound final : public Bound {
 public:
  PjrtBound(std::shared_ptr<const Compiled> c, std::map<std::size_t, Buffer> params)
      : compiled_(std::move(c)),
        outlines_(compiled_->signature.params.size()),
        inputs_(unbound_params(compiled_->signature, params)) {
    std::vector<bool> bound(outlines_.size());
    arrays_.resize(outlines_.size());
    DeviceArrays args;
    std::vector<HostArray> arg_outlines;
    for (auto& [k, buffer] : params) {
      bound[k] = true;
      outlines_[k] = outline(buffer);
      arg_outlines.push_back(outlines_[k]);
      if (compiled_->program.is_over_mesh()) {
        on_mesh_.emplace(k, own(compiled_->client, buffer));
        continue;
      }
      arrays_[k] = shared(compiled_->client, buffer);
      uploaded_ += arrays_[k]->uploaded();
      args.push_back(arrays_[k]);
    }
    if (params.empty()) return;
    const Split split = split_prologue(*compiled_->program.graph(), bound);
    const std::vector<std::int64_t> sizes = bind_arguments(*split.prologue, arg_outlines, {});
    // Over a mesh every run computes all of it.
    if (split.prologue->node_count() == 0 || compiled_->program.is_over_mesh()) return;
    const GraphProgram prologue(compiled_->client, *compiled_->cache, split.prologue,
                                compiled_->emission);
    std::vector<std::int64_t> keep;
    for (std::size_t i = 0; i < args.size(); ++i) keep.push_back(static_cast<std::int64_t>(i));
    const auto outcome = prologue.run(args, sizes, keep);
    for (const Buffer& b : outcome.results) {
      hoisted_.push_back(shared(compiled_->client, b));
      hoisted_outlines_.push_back(outline(b));
    }
    for (std::size_t i = 0; i < split.dims.size(); ++i) {
      dims_.emplace(split.dims[i].id(), outcome.result_dims[i]);
    }
    for (const std::string& line : prologue.compilations()) {
      ahead_.push_back("what was bound, " + line);
    }
    main_.emplace(compiled_->client, *compiled_->cache, split.main, main_emission());
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const Signature& signature = compiled_->signature;
    const OpaqueRun call(signature, inputs_, buffers.size(), options, "a plugin");
    std::vector<HostArray> outlines = outlines_;
    DeviceArrays arrays = arrays_;
    for (std::size_t i = 0; i < buffers.size(); ++i) outlines[inputs_[i]] = outline(buffers[i]);
    const std::vector<std::int64_t> sizes = bind(outlines, options.dims);
    call.poll();
    if (compiled_->program.is_over_mesh()) {
      return run_on_mesh(buffers, sizes, options, call);
    }
    std::vector<bool> may_go(arrays.size(), false);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool donated = call.donates(i);
      Argument a = argument(compiled_->client, buffers[i], donated);
      if (donated && !a.may_go) check_alias_of_shared(inputs_[i]);
      may_go[inputs_[i]] = a.may_go;
      arrays[inputs_[i]] = std::move(a.array);
    }
    buffers.clear();
    GraphProgram::Outcome out;
    if (main_) {
      out = run_main(arrays, may_go, outlines, options.dims);
      out.result_dims.resize(signature.result_dims.size());
    } else {
      std::vector<std::int64_t> keep;
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        if (!may_go[k]) keep.push_back(static_cast<std::int64_t>(k));
      }
      out = compiled_->program.run(arrays, sizes, keep);
    }
    return finished(std::move(out), options, call);
  }

  std::vector<std::string> compilations() const {
    std::vector<std::string> lines = ahead_;
    const GraphProgram& g = main_ ? *main_ : compiled_->program;
    for (std::string& line : g.compilations()) lines.push_back(std::move(line));
    return lines;
  }

  Report explain(const ExplainOptions& options) const override {
    const Signature& signature = compiled_->signature;
    if (!options.inputs) {
      throw UserError({"TL-BACKEND-001",
                       signature.name,
                       "a plugin compiles for sizes, which only arguments give",
                       "explain it with inputs",
                       {}});
    }
    check_run(signature, inputs_, options.inputs->size(), {});
    std::vector<HostArray> outlines = outlines_;
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      buffers.emplace_back(*(*options.inputs)[i]);
      outlines[inputs_[i]] = outline(buffers.back());
    }
    const std::vector<std::int64_t> sizes = bind(outlines, options.dims);
    const Program& program = main_ ? main_->program(main_sizes(outlines, options.dims))
                                   : compiled_->program.program(sizes);
    Report r = report_of(program);
    r.program = signature.name;
    r.backend = "pjrt:" + compiled_->client.platform();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      r.sizes.push_back(signature.dims[k].name() + " = " + std::to_string(sizes[k]));
    }
    const Uploaded before = compiled_->client.uploaded();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      // Where the program reads it: what a run takes is not the way there.
      Buffer& b = buffers[i];
      b = compiled_->program.is_over_mesh()
              ? Buffer::on_device(compiled_->program.place(b, inputs_[i], sizes), b.dtype(),
                                  b.extents(), {})
              : uploaded(compiled_->client, b.to_host());
      b.ready().wait();
    }
    for (; r.runs < 3; ++r.runs) {
      const auto start = std::chrono::steady_clock::now();
      run(buffers, {.dims = options.dims}).done.wait();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      r.seconds = std::min(r.seconds.value_or(took.count()), took.count());
    }
    const std::vector<std::string> lines = compilations();
    r.traces = {"compiled " + std::to_string(lines.size()) + " times\n"};
    for (const std::string& line : lines) r.traces[0] += "  " + line + "\n";
    Uploaded arguments = plugins::uploaded(buffers);
    arguments += uploaded_;
    r.traces.push_back("arguments from the host: " + text(arguments) + "\n");
    r.traces.push_back("uploads of this process until then: " + text(before) + "\n");
    return r;
  }

 private:
  static RunResult finished(GraphProgram::Outcome out, const RunOptions& options,
                            const OpaqueRun& call) {
    if (options.profile) out.done.wait();
    call.end();
    return {std::move(out.results), std::move(out.result_dims), std::move(out.done)};
  }
  RunResult run_on_mesh(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& sizes,
                        const RunOptions& options, const OpaqueRun& call) const {
    std::vector<Buffer> args(outlines_.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const Buffer& b = buffers[i];
      const bool donated = call.donates(i);
      Buffer& arg = args[inputs_[i]];
      if (!donated) {
        arg = b;
      } else if (b.device().is_host()) {
        arg = Buffer(b.donate_host());
      } else {
        arg = Buffer::on_device(b.memory(), b.dtype(), b.extents(), b.ready());
        b.donate_host();
      }
    }
    // From the first run on what is bound lies where it is needed.
    for (const auto& [k, buffer] : bound_on_mesh()) {
      auto placed = compiled_->program.place(buffer, k, sizes);
      args[k] = Buffer::on_device(std::move(placed), buffer.dtype(), buffer.extents(), {});
      const std::lock_guard lock(mesh_mutex_);
      on_mesh_[k] = args[k];
    }
    return finished(compiled_->program.run_on_mesh(args, sizes), options, call);
  }
  std::map<std::size_t, Buffer> bound_on_mesh() const {
    const std::lock_guard lock(mesh_mutex_);
    return on_mesh_;
  }
  /// What the plugin says of a program, which is one kernel to everybody else.
  Report report_of(const Program& program) const {
    Report r;
    r.code = "compiled by " + compiled_->client.plugin().path();
    KernelReport whole{.name = "program", .space = {}, .ops = {}, .runs_on = "plugin"};
    if (const auto costs = program.costs()) {
      const auto flops = costs->find("flops");
      if (flops != costs->end()) whole.flops = flops->second;
    }
    r.peak_reason = "memory lies on the device";
    if (const auto memory = program.memory()) {
      whole.bytes_read = memory->arguments;
      whole.bytes_written = memory->outputs;
      r.arena_bytes = memory->temporary;
      r.result_bytes = memory->outputs - memory->aliased;
      r.predicted_peak = r.arena_bytes + r.result_bytes;
    }
    r.kernels.push_back(std::move(whole));
    return r;
  }
  /// Sizes of the whole graph, whose labels and constraints its two halves have parts of.
  std::vector<std::int64_t> bind(const std::vector<HostArray>& outlines,
                                 const DimValues& dims) const {
    std::vector<const HostArray*> pointers;
    pointers.reserve(outlines.size());
    for (const HostArray& a : outlines) pointers.push_back(&a);
    return compiled_->binder(pointers, dims);
  }
  GraphProgram::Outcome run_main(const DeviceArrays& arrays, const std::vector<bool>& may_go,
                                 const std::vector<HostArray>& outlines,
                                 const DimValues& dims) const {
    DeviceArrays args = hoisted_;
    std::vector<std::int64_t> keep(hoisted_.size());
    std::iota(keep.begin(), keep.end(), 0);
    for (std::size_t k : inputs_) {
      if (!may_go[k]) keep.push_back(static_cast<std::int64_t>(args.size()));
      args.push_back(arrays[k]);
    }
    return main_->run(args, main_sizes(outlines, dims), keep);
  }
  /// Of the main part, where there is one.
  std::vector<std::int64_t> main_sizes(const std::vector<HostArray>& outlines,
                                       const DimValues& dims) const {
    std::vector<HostArray> arg_outlines = hoisted_outlines_;
    for (std::size_t k : inputs_) arg_outlines.push_back(outlines[k]);
    DimValues all = dims_;
    all.insert(dims.begin(), dims.end());
    return bind_arguments(*main_->graph(), arg_outlines, all);
  }
  /// What may be given up, by the params of the main part: those that are not bound, behind the
  /// hoisted ones.
  stablehlo::EmitOptions main_emission() const {
    stablehlo::EmitOptions e = compiled_->emission;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::size_t param = hoisted_.size() + i;
      e.donors.push_back(param);
      for (const Alias& a : compiled_->signature.aliases) {
        if (a.param == inputs_[i]) e.aliases.emplace_back(param, a.result);
      }
    }
    return e;
  }
  void check_alias_of_shared(std::size_t param) const {
    for (const Alias& a : compiled_->signature.aliases) {
      if (!a.must || a.param != param) continue;
      throw UserError({"TL-ALIAS-001",
                       compiled_->signature.name,
                       "result " + std::to_string(a.result) +
                           " must take over the memory of argument " + std::to_string(param) +
                           ", which is bound to an executable or used by a run that goes on",
                       "donate a buffer that nothing else holds",
                       {}});
    }
  }

  std::shared_ptr<const Compiled> compiled_;
  std::vector<HostArray> outlines_;   // by param; what is not bound stays empty
  DeviceArrays arrays_;               // likewise
  std::vector<std::size_t> inputs_;   // params that are not bound
  std::optional<GraphProgram> main_;  // where something was computed ahead
  mutable std::mutex mesh_mutex_;
  mutable std::map<std::size_t, Buffer> on_mesh_;  // bound arguments of programs over a mesh
  DeviceArrays hoisted_;
  std::vector<HostArray> hoisted_outlines_;
  DimValues dims_;
  std::vector<std::string> ahead_;  // compilations for what is bound
  Uploaded uploaded_;               // what is bound
};

class PjrtExecutable final : public Executable {
 public:
  explicit PjrtExecutable(std::shared_ptr<const Compiled> c) : compiled_(std::move(c)) {}
  const Signature& signature() const override { return compiled_->signature; }
  std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const override {
    return std::make_shared<PjrtBound>(compiled_, std::move(params));
  }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

class PjrtBackend final : public Backend {
 public:
  explicit PjrtBackend(const BackendOptions& o)
      : client_(Client::get(Plugin::load(find_plugin(o.plugin)), o.create)),
        cache_(o.cache ? std::make_shared<ProgramCache>(*o.cache)
                       : std::shared_ptr<ProgramCache>(&ProgramCache::of_process(), [](auto*) {})),
        name_("pjrt:" + client_.platform()) {
    emission_.recorded_trips = o.recorded_trips;
    emission_.host_calls = takes_host_calls(client_);
  }
  std::string_view name() const override { return name_; }
  std::vector<Device> devices() const override {
    return {client_.devices().begin(), client_.devices().end()};
  }
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    // For one device XLA partitions nothing, and can't run what Shardy makes of the mesh.
    if (stablehlo::mesh_devices(*graph) == 1) graph = transform::on_one_device(*graph);
    auto compiled = std::make_shared<const Compiled>(client_, cache_, graph, options, emission_);
    if (graph->dims().empty()) compiled->program.program({});
    return std::make_shared<PjrtExecutable>(std::move(compiled));
  }
  Buffer upload(HostArray array) override { return uploaded(client_, std::move(array)); }

 private:
  const Client& client_;
  std::shared_ptr<ProgramCache> cache_;
  std::string name_;
  stablehlo::EmitOptions emission_;
};

}  // namespace

std::vector<std::string> compilations(const runtime::Bound& bound) {
  const auto* ours = dynamic_cast<const PjrtBound*>(&bound);
  return ours ? ours->compilations() : std::vector<std::string>();
}

Uploaded uploaded(std::span<const runtime::Buffer> buffers) {
  Uploaded all;
  for (const Buffer& b : buffers) {
    const auto memory = b.memory();
    if (const auto* one = dynamic_cast<const DeviceArray*>(memory.get())) all += one->uploaded();
    if (const auto* many = dynamic_cast<const ShardedArray*>(memory.get())) {
      all += many->uploaded();
    }
  }
  return all;
}

std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options) {
  return std::make_shared<PjrtBackend>(options);
}

}  // namespace tlaloc::plugins
