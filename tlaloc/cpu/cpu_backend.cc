#include "tlaloc/cpu/cpu_backend.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tlaloc/base/error.h"
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
  Runner(const ir::GraphRef& g, bool run_once) : program_(plan(g)) {
    if (run_once) return;
    image_ = compile_native(*program_);
    if (image_) native_ = reinterpret_cast<NativeFn>(image_->address("run"));
  }

  RunOutputs run(RunInputs in) const {
    std::unique_ptr<Frame> frame;
    {
      const std::scoped_lock lock(mutex_);
      if (!frames_.empty()) {
        frame = std::move(frames_.back());
        frames_.pop_back();
      }
    }
    if (!frame) frame = std::make_unique<Frame>(*program_);
    // A run that fails leaves nothing behind that the next one relies on.
    RunOutputs out = run_program(*program_, *frame, std::move(in), native_);
    const std::scoped_lock lock(mutex_);
    frames_.push_back(std::move(frame));
    return out;
  }

 private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const LoadedImage> image_;
  NativeFn native_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;
};

/// A compiled graph, shared by an executable and what is bound of it.
struct Compiled {
  Compiled(ir::GraphRef g, const CompileOptions& options)
      : graph(std::move(g)),
        signature(signature_of(*graph, options)),
        run_once(options.run_once),
        runner(graph, options.run_once) {}
  ir::GraphRef graph;
  Signature signature;
  bool run_once;
  Runner runner;
};

class CpuBound final : public Bound {
 public:
  CpuBound(std::shared_ptr<const Compiled> c, std::map<std::size_t, Buffer> params)
      : compiled_(std::move(c)), all_(compiled_->graph->param_count()) {
    std::vector<bool> bound(all_.size());
    Arrays args;
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
      args.push_back(all_[k]);
    }
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (!bound[k]) inputs_.push_back(k);
    }
    if (params.empty()) return;
    split_ = split_prologue(*compiled_->graph, bound);
    main_.emplace(split_->main, compiled_->run_once);
    const Runner prologue(split_->prologue, true);
    const RunOptions options;
    const auto dims = bind_arguments(*split_->prologue, args, {});
    RunOutputs out =
        prologue.run({.args = std::move(args), .donated = {}, .dims = dims, .options = &options});
    hoisted_ = std::move(out.results);
    for (std::size_t i = 0; i < split_->dims.size(); ++i) {
      dims_.emplace(split_->dims[i].id(), out.dims[i]);
    }
  }

  RunResult run(std::vector<Buffer> buffers, const RunOptions& options) const override {
    const Signature& signature = compiled_->signature;
    check_run(signature, inputs_, buffers.size(), options);
    if (options.check_nan) {
      throw UserError({"TL-BACKEND-001",
                       signature.name,
                       "stopping at the first NaN is not supported by the back end 'cpu'",
                       "run it on interp_backend()",
                       {}});
    }
    std::vector<const void*> memory(signature.aliases.empty() ? 0 : all_.size());
    RunInputs in;
    in.args.reserve(buffers.size());
    in.options = &options;
    in.donated = options.donate;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool donated = !options.donate.empty() && options.donate[i];
      in.args.push_back(on_host(buffers[i], donated));
      if (!memory.empty()) memory[inputs_[i]] = in.args.back().data();
    }
    buffers.clear();

    RunOutputs out;
    if (!split_) {
      in.dims = bind_arguments(*compiled_->graph, in.args, options.dims);
      out = compiled_->runner.run(std::move(in));
    } else {
      // Checked against the whole graph, whose labels the two halves have parts of.
      Arrays all = all_;
      for (std::size_t i = 0; i < in.args.size(); ++i) all[inputs_[i]] = in.args[i];
      const auto entry = bind_arguments(*compiled_->graph, all, options.dims);
      all.clear();
      DimValues sizes = dims_;
      for (std::size_t i = 0; i < entry.size(); ++i) {
        sizes.emplace(compiled_->graph->dims()[i].id(), entry[i]);
      }
      Arrays args = hoisted_;
      std::ranges::move(in.args, std::back_inserter(args));
      in.args = std::move(args);
      if (!in.donated.empty()) in.donated.insert(in.donated.begin(), hoisted_.size(), false);
      in.dims = bind_arguments(*split_->main, in.args, sizes);
      out = main_->run(std::move(in));
      out.dims.resize(signature.result_dims.size());
    }
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

 private:
  std::shared_ptr<const Compiled> compiled_;
  Arrays all_;                       // by param; what is not bound stays empty
  std::vector<std::size_t> inputs_;  // params that are not bound
  std::optional<Split> split_;       // when something is bound
  std::optional<Runner> main_;
  Arrays hoisted_;
  DimValues dims_;
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
