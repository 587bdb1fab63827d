#include "tlaloc/interp/interp_backend.h"

#include <algorithm>
#include <utility>

#include "tlaloc/interp/machine.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/calls.h"
#include "tlaloc/runtime/prologue.h"

namespace tlaloc::interp {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations

/// A compiled graph, shared by an executable and what is bound of it.
struct Compiled {
  Compiled(ir::GraphRef g, const CompileOptions& options)
      : graph(std::move(g)), signature(signature_of(*graph, options)), program(*graph) {}
  ir::GraphRef graph;
  Signature signature;
  Program program;
};

class InterpBound final : public Bound {
 public:
  InterpBound(std::shared_ptr<const Compiled> c, std::map<std::size_t, Buffer> params)
      : compiled_(std::move(c)),
        all_(compiled_->graph->param_count()),
        inputs_(unbound_params(compiled_->signature, params)) {
    std::vector<bool> bound(all_.size());
    Arrays args;
    for (auto& [k, buffer] : params) {
      bound[k] = true;
      all_[k] = on_host("interp", buffer, false);
      args.push_back(all_[k]);
    }
    if (params.empty()) return;
    split_ = split_prologue(*compiled_->graph, bound);
    main_.emplace(*split_->main);
    const Program prologue(*split_->prologue);
    Outcome hoisted = evaluate(prologue, std::move(args));
    hoisted_ = std::move(hoisted.results);
    for (std::size_t i = 0; i < split_->dims.size(); ++i) {
      dims_.emplace(split_->dims[i].id(), hoisted.result_dims[i]);
    }
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const Signature& signature = compiled_->signature;
    check_run(signature, inputs_, buffers.size(), options.donate);
    std::vector<const void*> memory(signature.aliases.empty() ? 0 : all_.size());
    Arrays args;
    args.reserve(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool donated = !options.donate.empty() && options.donate[i];
      args.push_back(on_host("interp", buffers[i], donated));
      if (!memory.empty()) memory[inputs_[i]] = args.back().data();
    }
    buffers.clear();

    Options o{.dims = options.dims, .check_nan = options.check_nan};
    if (options.cancel) o.cancelled = [&] { return options.cancel->cancelled(); };
    if (options.profile) {
      o.profile = [&](const char* op, std::int64_t start, std::int64_t duration) {
        options.profile->record({op, start, duration});
      };
    }
    Outcome out;
    if (!split_) {
      out = evaluate(compiled_->program, std::move(args), o);
    } else if (options.check_nan) {
      // The whole graph: a NaN may come from what was hoisted.
      out = evaluate(compiled_->program, whole(std::move(args)), o);
    } else {
      o.dims = check(args, options.dims);
      o.dims.insert(dims_.begin(), dims_.end());
      Arrays all = hoisted_;
      std::ranges::move(args, std::back_inserter(all));
      out = evaluate(*main_, std::move(all), o);
      out.result_dims.resize(signature.result_dims.size());
    }
    for (const Alias& a : signature.aliases) {
      if (a.must && out.results[a.result].data() != memory[a.param]) {
        throw_alias(signature, a, "but a copy was needed");
      }
    }
    RunResult r;
    r.outputs.reserve(out.results.size());
    for (HostArray& a : out.results) r.outputs.emplace_back(std::move(a));
    r.result_dims = std::move(out.result_dims);
    return r;
  }

 private:
  /// Checks against the whole graph, whose labels and constraints the two halves have parts of.
  DimValues check(const Arrays& inputs, const DimValues& dims) const {
    return check_entry(compiled_->program, whole(inputs), dims);
  }
  /// The arguments of the whole graph.
  Arrays whole(Arrays inputs) const {
    Arrays all = all_;
    for (std::size_t i = 0; i < inputs.size(); ++i) all[inputs_[i]] = std::move(inputs[i]);
    return all;
  }

  std::shared_ptr<const Compiled> compiled_;
  Arrays all_;                       // by param; what is not bound stays empty
  std::vector<std::size_t> inputs_;  // params that are not bound
  std::optional<Split> split_;       // when something is bound
  std::optional<Program> main_;
  Arrays hoisted_;
  DimValues dims_;
};

class InterpExecutable final : public Executable {
 public:
  explicit InterpExecutable(std::shared_ptr<const Compiled> c) : compiled_(std::move(c)) {}
  const Signature& signature() const override { return compiled_->signature; }
  std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const override {
    return std::make_shared<InterpBound>(compiled_, std::move(params));
  }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

class InterpBackend final : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    return std::make_shared<InterpExecutable>(
        std::make_shared<const Compiled>(std::move(graph), options));
  }
};

}  // namespace

runtime::Backend& interp_backend() {
  static InterpBackend backend;
  return backend;
}

}  // namespace tlaloc::interp
