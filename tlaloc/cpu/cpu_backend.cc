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
#include "tlaloc/cpu/widened_rights.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/runtime/calls.h"
#include "tlaloc/runtime/prologue.h"

namespace tlaloc::cpu {
namespace {

using namespace runtime;  // NOLINT: this file is one of its implementations
using Arrays = std::vector<HostArray>;

/// A program and the frames that its runs take turns with.
class Runner {
 public:
  Runner(const ir::GraphRef& g, bool run_once, PlanOptions options) : run_once_(run_once) {
    options.keeps = !run_once;
    if (!run_once && compiles_programs()) options.kernels = Kernels::compiled;
    program_ = plan(g, options);
  }

  /// Whether result k can lie where param `param` did, if nothing else holds that.
  bool may_share(std::size_t param, std::size_t k) const {
    const Program::Result& r = program_->results[k];
    return r.storage == param || std::ranges::find(r.donors, param) != r.donors.end();
  }

  /// Before the first run. `fixed`: the first arguments of every run.
  void prepare(std::span<const HostArray> fixed) const {
    std::call_once(prepared_once_, [&] {
      pack_kept(*program_, fixed);
      native();
    });
  }

  RunOutputs run(const RunInputs& in) const {
    std::unique_ptr<Frame> frame = take();
    // A run that fails leaves nothing behind that the next one relies on.
    RunOutputs out = run_program(*program_, *frame, in, code_for(*in.options));
    give(std::move(frame));
    return out;
  }

  Report explain(const RunInputs& in, bool runs) const {
    Running how{native().run != nullptr, native().why_not, {}};
    if (how.compiled) how.timed = timed().steps;
    Report r = explain_program(*program_, how, in.dims);
    if (!runs) return r;
    explain_runs(
        r, *program_, program_->graph->has_effects(),
        [&] {
          Frame frame(*program_);
          run_program(*program_, frame, in, native().run ? &native() : nullptr);
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
  const Native& native() const {
    std::call_once(native_once_, [&] {
      if (run_once_) {
        native_.why_not = "it runs once";
      } else {
        native_ = compile_native(*program_);
      }
    });
    return native_;
  }
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
    const Native& code = native();
    if (code.run == nullptr) return nullptr;
    return options.profile ? &timed().native : &code;
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
  bool run_once_;
  mutable std::once_flag prepared_once_, native_once_, timed_once_;
  mutable Native native_;
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
        runner(graph, options.run_once, {.aliases = options.aliases}) {}
  ir::GraphRef graph;
  Signature signature;
  bool run_once;
  ArgumentBinder bind;
  Runner runner;
};

class CpuBound final : public Bound {
 public:
  CpuBound(std::shared_ptr<const Compiled> c, std::map<std::size_t, Buffer> params)
      : compiled_(std::move(c)),
        all_(compiled_->graph->param_count()),
        inputs_(unbound_params(compiled_->signature, params)) {
    std::vector<bool> bound(all_.size());
    std::vector<const HostArray*> args;
    for (auto& [k, buffer] : params) {
      bound[k] = true;
      all_[k] = on_host("cpu", buffer, false);
      args.push_back(&all_[k]);
    }
    promises_ = std::ranges::any_of(compiled_->signature.aliases, &Alias::must);
    if (params.empty()) {
      check_promises(compiled_->runner, compiled_->signature.aliases);
      compiled_->runner.prepare({});
      return;
    }
    split_ = split_prologue(*compiled_->graph, bound, widened_rights(*compiled_->graph, bound));
    const Runner prologue(split_->prologue, true, {});
    const RunOptions options;
    const auto dims = ArgumentBinder(split_->prologue)(args, {});
    RunOutputs out = prologue.run({.args = args, .donated = {}, .dims = dims, .options = &options});
    hoisted_ = std::move(out.results);
    PlanOptions options_of_main{.fixed = hoisted_.size()};
    for (Alias a : compiled_->signature.aliases) {
      if (bound[a.param]) continue;
      a.param = hoisted_.size() + input_of(a);
      options_of_main.aliases.push_back(a);
    }
    main_.emplace(split_->main, compiled_->run_once, options_of_main);
    check_promises(*main_, options_of_main.aliases);
    main_->prepare(hoisted_);
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
    check(buffers.size(), options, options.donate);
    Arrays held;
    held.reserve(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      held.push_back(on_host("cpu", buffers[i], !options.donate.empty() && options.donate[i]));
    }
    buffers.clear();
    std::vector<const HostArray*> args;
    std::vector<HostArray*> donated;
    for (std::size_t i = 0; i < held.size(); ++i) {
      args.push_back(&held[i]);
      if (!options.donate.empty()) donated.push_back(options.donate[i] ? &held[i] : nullptr);
    }
    RunOutputs out = execute(args, donated, options);
    RunResult r;
    r.outputs.reserve(out.results.size());
    for (HostArray& a : out.results) r.outputs.emplace_back(std::move(a));
    r.result_dims = std::move(out.dims);
    return r;
  }

  std::vector<HostArray> run_host(std::span<const HostArray* const> inputs,
                                  const RunOptions& options,
                                  std::span<HostArray* const> donated) const override {
    // Flags take an allocation, which a call of two numbers feels: only promises are about them,
    // and their number.
    std::vector<bool> donate;
    if (promises_ || donated.size() != inputs.size()) {
      for (const HostArray* a : donated) donate.push_back(a != nullptr);
    }
    check(inputs.size(), options, donate);
    return execute(inputs, donated, options).results;
  }

  Report explain(const ExplainOptions& options) const override {
    RunOptions run;
    run.dims = options.dims;
    if (options.inputs) {
      check(options.inputs->size(), run, std::vector<bool>(options.inputs->size(), true));
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
  /// An alias's param among those that are not bound.
  std::size_t input_of(const Alias& a) const {
    return usize(std::ranges::find(inputs_, a.param) - inputs_.begin());
  }
  /// `aliases`: by params of the runner's program.
  void check_promises(const Runner& runner, std::span<const Alias> aliases) const {
    for (const Alias& a : aliases) {
      if (!a.must || runner.may_share(a.param, a.result)) continue;
      const auto is_it = [&](const Alias& b) { return b.result == a.result; };
      const auto named = std::ranges::find_if(compiled_->signature.aliases, is_it);
      throw UserError(
          {"TL-ALIAS-001",
           compiled_->signature.name,
           "result " + std::to_string(a.result) + " must take over the memory of argument " +
               std::to_string(named->param) + ", which is still read when the result is written",
           "read the argument before it is updated, element by element or in place",
           {}});
    }
  }
  void check(std::size_t given, const RunOptions& options, const std::vector<bool>& donate) const {
    check_run(compiled_->signature, inputs_, given, donate);
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
    const Signature& signature = compiled_->signature;
    std::vector<const void*> memory;
    for (const Alias& a : signature.aliases) {
      memory.push_back(a.must ? inputs[input_of(a)]->data() : nullptr);
    }
    RunOutputs out = execute_program(inputs, donated, options);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const Alias& a = signature.aliases[i];
      if (a.must && out.results[a.result].data() != memory[i]) {
        throw_alias(signature, a, "but a copy was needed");
      }
    }
    return out;
  }
  RunOutputs execute_program(std::span<const HostArray* const> inputs,
                             std::span<HostArray* const> donated, const RunOptions& options) const {
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
  bool promises_ = false;            // some alias must hold
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
