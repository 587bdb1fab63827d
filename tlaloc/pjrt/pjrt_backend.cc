#include "tlaloc/pjrt/pjrt_backend.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/graph_program.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/prologue.h"

namespace tlaloc::plugins {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations

/// An array for what looks at types only.
HostArray outline(const Buffer& b) {
  static const std::int64_t nothing[2] = {};
  return HostArray::external(b.dtype(), b.extents(), nothing, nullptr);
}

struct Compiled {
  Compiled(const Client& c, ir::GraphRef g, const CompileOptions& options,
           stablehlo::EmitOptions emit)
      : client(c),
        signature(signature_of(*g, options)),
        emission(std::move(emit)),
        binder(g),
        program(c, std::move(g), emission_for(options)) {}
  /// Every argument may be given up, as each run decides.
  stablehlo::EmitOptions emission_for(const CompileOptions& options) const {
    stablehlo::EmitOptions e = emission;
    for (std::size_t k = 0; k < signature.params.size(); ++k) e.donors.push_back(k);
    for (const Alias& a : options.aliases) e.aliases.emplace_back(a.param, a.result);
    return e;
  }

  const Client& client;
  Signature signature;
  stablehlo::EmitOptions emission;
  ArgumentBinder binder;
  GraphProgram program;
};

std::shared_ptr<const DeviceArray> on_device(const Client& client, const Buffer& b) {
  auto array = std::dynamic_pointer_cast<const DeviceArray>(b.memory());
  if (!array || &array->client() != &client) {
    throw UserError({"TL-BUFFER-002",
                     "pjrt",
                     "a buffer lies on " + b.device().text() + " of another back end",
                     "use Buffer::to_host",
                     {}});
  }
  return array;
}
/// To keep as long as it is needed.
std::shared_ptr<const DeviceArray> shared(const Client& client, const Buffer& b) {
  if (b.device().is_host()) return client.upload(b.to_host());
  return on_device(client, b);
}

/// One argument of a run.
struct Argument {
  std::shared_ptr<const DeviceArray> array;
  bool may_go;  ///< nobody else has its memory
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
      : compiled_(std::move(c)), outlines_(compiled_->signature.params.size()) {
    std::vector<bool> bound(outlines_.size());
    arrays_.resize(outlines_.size());
    DeviceArrays args;
    std::vector<HostArray> arg_outlines;
    for (auto& [k, buffer] : params) {
      if (k >= bound.size()) {
        throw UserError({"TL-BIND-001",
                         compiled_->signature.name,
                         "there is no argument " + std::to_string(k) + " to bind",
                         "",
                         {}});
      }
      check_alias_of_bound(compiled_->signature, k);
      bound[k] = true;
      outlines_[k] = outline(buffer);
      arrays_[k] = shared(compiled_->client, buffer);
      args.push_back(arrays_[k]);
      arg_outlines.push_back(outlines_[k]);
    }
    for (std::size_t k = 0; k < bound.size(); ++k) {
      if (!bound[k]) inputs_.push_back(k);
    }
    if (params.empty()) return;
    const Split split = split_prologue(*compiled_->program.graph(), bound);
    const std::vector<std::int64_t> sizes = bind_arguments(*split.prologue, arg_outlines, {});
    if (split.prologue->node_count() == 0) return;  // there is nothing to compute ahead
    const GraphProgram prologue(compiled_->client, split.prologue, compiled_->emission);
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
    main_.emplace(compiled_->client, split.main, main_emission());
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const Signature& signature = compiled_->signature;
    check_run(signature, inputs_, buffers.size(), options);
    if (options.check_nan) {
      throw UserError({"TL-BACKEND-001",
                       signature.name,
                       "a plugin can't say which operation made a NaN",
                       "look for it with the CPU back end",
                       {}});
    }
    const auto start = std::chrono::steady_clock::now();
    std::vector<HostArray> outlines = outlines_;
    DeviceArrays arrays = arrays_;
    for (std::size_t i = 0; i < buffers.size(); ++i) outlines[inputs_[i]] = outline(buffers[i]);
    const std::vector<std::int64_t> sizes = bind(outlines, options.dims);
    if (options.cancel && options.cancel->cancelled()) {
      throw UserError({"TL-CANCEL-001", signature.name, "the run was cancelled", "", {}});
    }
    std::vector<bool> may_go(arrays.size(), false);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool donated = !options.donate.empty() && options.donate[i];
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
    if (options.profile) {
      out.done.wait();
      const auto took = std::chrono::steady_clock::now() - start;
      options.profile->record(
          {signature.name, 0, std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()});
    }
    return {std::move(out.results), std::move(out.result_dims), std::move(out.done)};
  }

 private:
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
    std::vector<HostArray> arg_outlines = hoisted_outlines_;
    std::vector<std::int64_t> keep(hoisted_.size());
    std::iota(keep.begin(), keep.end(), 0);
    for (std::size_t k : inputs_) {
      if (!may_go[k]) keep.push_back(static_cast<std::int64_t>(args.size()));
      args.push_back(arrays[k]);
      arg_outlines.push_back(outlines[k]);
    }
    DimValues all = dims_;
    all.insert(dims.begin(), dims.end());
    return main_->run(args, bind_arguments(*main_->graph(), arg_outlines, all), keep);
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
  DeviceArrays hoisted_;
  std::vector<HostArray> hoisted_outlines_;
  DimValues dims_;
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
        name_("pjrt:" + client_.platform()) {
    emission_.recorded_trips = o.recorded_trips;
  }
  std::string_view name() const override { return name_; }
  std::vector<Device> devices() const override {
    return {client_.devices().begin(), client_.devices().end()};
  }
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    auto compiled = std::make_shared<const Compiled>(client_, graph, options, emission_);
    if (graph->dims().empty()) compiled->program.prepare({});
    return std::make_shared<PjrtExecutable>(std::move(compiled));
  }
  Buffer upload(HostArray array) override {
    auto copy = client_.upload(array);
    Event ready = copy->ready();
    return Buffer::on_device(std::move(copy), array.dtype(), array.extents(), std::move(ready));
  }

 private:
  const Client& client_;
  std::string name_;
  stablehlo::EmitOptions emission_;
};

}  // namespace

std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options) {
  return std::make_shared<PjrtBackend>(options);
}

}  // namespace tlaloc::plugins
