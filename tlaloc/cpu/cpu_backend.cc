#include "tlaloc/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/explain.h"
#include "tlaloc/cpu/machine.h"
#include "tlaloc/cpu/native.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/prologue.h"

namespace tlaloc::cpu {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations
using Arrays = std::vector<HostArray>;

HostArray on_host(const Buffer& b, bool donated) {
  if (!b.device().is_host()) {
    throw UserError(
        {"TL-BUFFER-002",
         "cpu",
         "a buffer lies on " + b.device().text() + ", the back end computes on the host",
         "use Buffer::to_host",
         {}});
  }
  return donated ? b.donate_host() : b.to_host();
}

/// A program and the frames that its runs take turns with.
class Runner {
 public:
  Runner(const ir::GraphRef& g, bool run_once, std::size_t fixed = 0)
      : program_(plan(g, Kernels::all, fixed)) {
    if (run_once) {
      native_.why_not = "it runs once";
    } else {
      native_ = compile_native(*program_);
    }
  }

  RunOutputs run(const RunInputs& in) const {
    std::unique_ptr<Frame> frame = take();
    // A run that fails leaves nothing behind that the next one relies on.
    RunOutputs out = run_program(*program_, *frame, in, code_for(*in.options));
    give(std::move(frame));
    return out;
  }

  Report explain(const RunInputs& in, bool runs) const {
    Running how{native_.run != nullptr, native_.why_not, {}};
    if (how.compiled) how.timed = timed().steps;
    Report r = explain_program(*program_, how, in.dims);
    if (!runs) return r;
    explain_runs(
        r, *program_, program_->graph->has_effects(),
        [&] {
          Frame frame(*program_);
          run_program(*program_, frame, in, native_.run ? &native_ : nullptr);
        },
        [&](ProfileSink* profile) {
          RunOptions options = *in.options;
          options.profile = profile;
          RunInputs again = in;
          again.options = &options;
          run(again);
        });
    return r;
  }
  ~Runner() { delete spare_.load(std::memory_order_acquire); }

 private:
  /// The same code with time stamps, which is compiled when somebody asks.
  struct Timed {
    Native native;
    std::vector<bool> steps;
  };
  const Timed& timed() const {
    std::call_once(timed_once_, [&] { timed_.native = compile_native(*program_, &timed_.steps); });
    return timed_;
  }
  const Native* code_for(const RunOptions& options) const {
    if (native_.run == nullptr) return nullptr;
    return options.profile ? &timed().native : &native_;
  }
  // One frame waits without the lock: most callers are one thread.
  std::unique_ptr<Frame> take() const {
    if (Frame* f = spare_.exchange(nullptr, std::memory_order_acquire)) {
      return std::unique_ptr<Frame>(f);
    }
    const std::scoped_lock lock(mutex_);
    if (frames_.empty()) return std::make_unique<Frame>(*program_);
    std::unique_ptr<Frame> f = std::move(frames_.back());
    frames_.pop_back();
    return f;
  }
  void give(std::unique_ptr<Frame> f) const {
    Frame* none = nullptr;
    if (spare_.compare_exchange_strong(none, f.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
      static_cast<void>(f.release());
      return;
    }
    const std::scoped_lock lock(mutex_);
    frames_.push_back(std::move(f));
  }

  std::shared_ptr<const Program> program_;
  Native native_;
  mutable std::once_flag timed_once_;
  mutable Timed timed_;
  mutable std::atomic<Frame*> spare_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;
};

/// A compiled graph, shared by an executable and what is bound of it.
struct Compiled {
  Compiled(ir::GraphRef g, const CompileOptions& options)
      : graph(std::move(g)),
        signature(signature_of(*graph, options)),
        run_once(options.run_once),
        bind(graph),
        runner(graph, options.run_once) {}
  ir::GraphRef graph;
  Signature signature;
  bool run_once;
  ArgumentBinder bind;
  Runner runner;
};

class CpuBound final : public Bound {
 public:
  CpuBound(std::shared_ptr<const Compiled> c, std::map<std::size_t, Buffer> params)
      : compiled_(std::move(c)), all_(compiled_->graph->param_count()) {
    std::vector<bool> bound(all_.size());
    std::vector<const HostArray*> args;
    for (auto& [k, buffer] : params) {
      if (k >= all_.size()) {
        throw UserError({"TL-BIND-001",
                         compiled_->signature.name,
                         "there is no argument " + std::to_string(k) + " to bind",
                         "",
                         {}});
      }
      check_alias_of_bound(compiled_->signature, k);
      bound[k] = true;
      all_[k] = on_host(buffer, false);
      args.push_back(&all_[k]);
    }
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (!bound[k]) inputs_.push_back(k);
    }
    if (params.empty()) return;
    split_ = split_prologue(*compiled_->graph, bound);
    const Runner prologue(split_->prologue, true);
    const RunOptions options;
    const auto dims = ArgumentBinder(split_->prologue)(args, {});
    RunOutputs out = prologue.run({.args = args, .donated = {}, .dims = dims, .options = &options});
    hoisted_ = std::move(out.results);
    main_.emplace(split_->main, compiled_->run_once, hoisted_.size());
    const auto entry = compiled_->graph->dims();
    for (ir::Symbol s : split_->main->dims()) {
      const auto known = std::ranges::find(split_->dims, s);
      if (known != split_->dims.end()) {
        main_dims_.push_back({-1, out.dims[usize(known - split_->dims.begin())]});
      } else {
        const auto at = std::ranges::find(entry, s);
        internal_check(at != entry.end(), "nothing gives a size of what is left of a graph");
        main_dims_.push_back({at - entry.begin(), 0});
      }
    }
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const Signature& signature = compiled_->signature;
    check(buffers.size(), options);
    std::vector<const void*> memory(signature.aliases.empty() ? 0 : all_.size());
    Arrays held;
    held.reserve(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      held.push_back(on_host(buffers[i], !options.donate.empty() && options.donate[i]));
      if (!memory.empty()) memory[inputs_[i]] = held.back().data();
    }
    buffers.clear();
    std::vector<const HostArray*> args;
    std::vector<HostArray*> donated;
    for (std::size_t i = 0; i < held.size(); ++i) {
      args.push_back(&held[i]);
      if (!options.donate.empty()) donated.push_back(options.donate[i] ? &held[i] : nullptr);
    }
    RunOutputs out = execute(args, donated, options);
    for (const Alias& a : signature.aliases) {
      if (a.must && out.results[a.result].data() != memory[a.param]) {
        throw_alias(signature, a, "but a copy was needed");
      }
    }
    RunResult r;
    r.outputs.reserve(out.results.size());
    for (HostArray& a : out.results) r.outputs.emplace_back(std::move(a));
    r.result_dims = std::move(out.dims);
    return r;
  }

  std::vector<HostArray> run_host(std::span<const HostArray* const> inputs,
                                  const RunOptions& options,
                                  std::span<HostArray* const> donated) const override {
    check(inputs.size(), options);
    return execute(inputs, donated, options).results;
  }

  Report explain(const ExplainOptions& options) const override {
    RunOptions run;
    run.dims = options.dims;
    if (options.inputs) {
      check(options.inputs->size(), run);
      const Prepared p = prepare(*options.inputs, {}, run);
      return p.runner->explain(p.inputs(run), true);
    }
    std::vector<std::int64_t> entry;
    for (ir::Symbol s : compiled_->graph->dims()) {
      const auto it = options.dims.find(s.id());
      if (it == options.dims.end()) {
        throw UserError({"TL-SHAPE-004",
                         compiled_->signature.name,
                         "nothing gives the size " + s.name() + ", which the report needs",
                         "pass it, or arguments",
                         {}});
      }
      entry.push_back(it->second);
    }
    check_sizes(*compiled_->graph, entry);
    const std::vector<std::int64_t> dims = split_ ? main_dims(entry) : entry;
    return (split_ ? *main_ : compiled_->runner)
        .explain({.args = {}, .donated = {}, .dims = dims, .options = &run}, false);
  }

 private:
  void check(std::size_t given, const RunOptions& options) const {
    check_run(compiled_->signature, inputs_, given, options);
    if (!options.check_nan) return;
    throw UserError({"TL-BACKEND-001",
                     compiled_->signature.name,
                     "stopping at the first NaN is not supported by the back end 'cpu'",
                     "run it on interp_backend()",
                     {}});
  }

  /// What a program runs on, and which one.
  struct Prepared {
    const Runner* runner;
    std::vector<const HostArray*> args;
    std::vector<HostArray*> donated;
    std::vector<std::int64_t> dims;
    RunInputs inputs(const RunOptions& options) const {
      return {.args = args, .donated = donated, .dims = dims, .options = &options};
    }
  };
  std::vector<std::int64_t> main_dims(const std::vector<std::int64_t>& entry) const {
    std::vector<std::int64_t> dims;
    for (const MainDim& d : main_dims_)
      dims.push_back(d.entry < 0 ? d.size : entry[usize(d.entry)]);
    return dims;
  }
  /// Everything by input.
  RunOutputs execute(std::span<const HostArray* const> inputs, std::span<HostArray* const> donated,
                     const RunOptions& options) const {
    if (!split_) {
      const auto dims = compiled_->bind(inputs, options.dims);
      return compiled_->runner.run(
          {.args = inputs, .donated = donated, .dims = dims, .options = &options});
    }
    const Prepared p = prepare(inputs, donated, options);
    RunOutputs out = p.runner->run(p.inputs(options));
    out.dims.resize(compiled_->signature.result_dims.size());
    return out;
  }
  Prepared prepare(std::span<const HostArray* const> inputs, std::span<HostArray* const> donated,
                   const RunOptions& options) const {
    if (!split_) {
      return {&compiled_->runner,
              {inputs.begin(), inputs.end()},
              {donated.begin(), donated.end()},
              compiled_->bind(inputs, options.dims)};
    }
    // Checked against the whole graph, whose labels the two halves have parts of.
    std::vector<const HostArray*> args;
    for (const HostArray& a : all_) args.push_back(&a);
    for (std::size_t i = 0; i < inputs.size(); ++i) args[inputs_[i]] = inputs[i];
    const auto entry = compiled_->bind(args, options.dims);
    args.clear();
    for (const HostArray& a : hoisted_) args.push_back(&a);
    args.insert(args.end(), inputs.begin(), inputs.end());
    std::vector<HostArray*> may_take;
    if (!donated.empty()) {
      may_take.assign(hoisted_.size(), nullptr);
      may_take.insert(may_take.end(), donated.begin(), donated.end());
    }
    return {&*main_, std::move(args), std::move(may_take), main_dims(entry)};
  }

  /// A size of what is left: an entry dim of the graph, or known since parameters were bound.
  struct MainDim {
    std::ptrdiff_t entry;  ///< -1: known
    std::int64_t size;
  };

  std::shared_ptr<const Compiled> compiled_;
  Arrays all_;                       // by param; what is not bound stays empty
  std::vector<std::size_t> inputs_;  // params that are not bound
  std::optional<Split> split_;       // when something is bound
  std::optional<Runner> main_;
  Arrays hoisted_;
  std::vector<MainDim> main_dims_;
};

class CpuExecutable final : public Executable {
 public:
  explicit CpuExecutable(std::shared_ptr<const Compiled> c) : compiled_(std::move(c)) {}
  const Signature& signature() const override { return compiled_->signature; }
  std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const override {
    return std::make_shared<CpuBound>(compiled_, std::move(params));
  }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    return std::make_shared<CpuExecutable>(
        std::make_shared<const Compiled>(std::move(graph), options));
  }
};

}  // namespace

runtime::Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace tlaloc::cpu
