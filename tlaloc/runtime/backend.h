// What a back end is: compile a graph, bind what does not change, run.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/buffer.h"
#include "tlaloc/runtime/report.h"

namespace tlaloc::runtime {

/// Sizes of symbols, by Symbol::id().
using DimValues = std::unordered_map<std::uint32_t, std::int64_t>;

/// Result `result` takes over the memory of parameter `param` where a run donates it.
struct Alias {
  std::size_t param = 0, result = 0;
  /// For pools and optimizer state: not donating it, or a copy that can't be avoided, is an error
  /// (TL-ALIAS-001), when compiling if the back end can tell by then.
  bool must = false;
};

struct CompileOptions {
  std::vector<Alias> aliases;
  /// It runs once, or is one operation: time spent on faster code would not come back.
  bool run_once = false;
};

/// What a caller must know of a compiled graph.
struct Signature {
  std::string name;
  std::vector<ir::Type> params, results;
  std::vector<ir::Label> param_labels, result_labels;
  /// Entry dims; `undetermined` are those that no parameter's shape gives: pass them to each run.
  std::vector<ir::Symbol> dims, undetermined;
  std::vector<ir::Dim> result_dims;
  std::vector<Alias> aliases;
};
/// UserError TL-ALIAS-001 for an alias between different types, or of a position that isn't there
/// or is named twice.
Signature signature_of(const ir::Graph& g, const CompileOptions& options);

/// Stops runs from another thread. Copies share one flag.
class CancelToken {
 public:
  void cancel() const { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_->load(std::memory_order_relaxed); }
  /// For generated code, which reads it as a byte.
  const std::atomic<bool>& flag() const { return *flag_; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

struct ProfileEvent {
  std::string_view name;  ///< of the op or kernel; valid during the call
  std::int64_t start_ns;  ///< since the run began
  std::int64_t duration_ns;
  std::size_t kernel = 0;  ///< of Report::kernels, where the back end makes reports
};
/// Receives what a run spent its time on, in the thread that ran it.
class ProfileSink {
 public:
  virtual ~ProfileSink() = default;
  virtual void record(const ProfileEvent& event) = 0;
};

struct RunOptions {
  /// Inputs whose memory the run may reuse; empty means none. They are consumed as soon as the run
  /// begins, also when it fails or is cancelled.
  std::vector<bool> donate;
  DimValues dims;  ///< sizes of Signature::undetermined
  /// Polled between instructions and loop iterations: UserError TL-CANCEL-001.
  std::optional<CancelToken> cancel;
  ProfileSink* profile = nullptr;
  /// Stop at the first NaN or infinity that no operand had, also in what was computed when
  /// parameters were bound: UserError TL-NAN-001 with the op and the user's line. A back end that
  /// can't look refuses: TL-BACKEND-001.
  bool check_nan = false;
};

struct ExplainOptions {
  /// To run with, several times where the program has no effects; none is donated. Without them
  /// nothing runs.
  std::optional<std::span<const HostArray* const>> inputs;
  DimValues dims;  ///< sizes of entry dims that no input gives
};

struct RunResult {
  std::vector<Buffer> outputs;
  std::vector<std::int64_t> result_dims;
  Event done;
};

/// An executable with some of its arguments fixed. Immutable; runs may overlap in many threads.
class Bound {
 public:
  virtual ~Bound() = default;
  /// `inputs`: the parameters that are not bound, in order. Errors: as Executable::run.
  virtual RunResult run(std::vector<Buffer> inputs, const RunOptions& options = {}) const = 0;
  /// The results of a run of arrays on the host: the short way for callers that hold arrays and
  /// want arrays. `donated`, instead of RunOptions::donate: by input the same array, whose memory
  /// the run may take, which leaves an empty handle; null where it may not; empty means none.
  virtual std::vector<HostArray> run_host(std::span<const HostArray* const> inputs,
                                          const RunOptions& options = {},
                                          std::span<HostArray* const> donated = {}) const;
  /// What runs, and what it costs. UserError TL-BACKEND-001 where the back end can't tell;
  /// TL-SHAPE-004 without a size that the report needs; else as run.
  virtual Report explain(const ExplainOptions& options) const;
};

/// A compiled graph. Immutable; may be used from many threads.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual const Signature& signature() const = 0;
  /// Fixes parameters, such as a model's weights: what depends on them alone is computed now, once.
  /// UserError TL-BIND-001 for a position that isn't there, TL-SHAPE-002 for a buffer that does not
  /// fit; also what the hoisted work fails with.
  virtual std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const = 0;
  /// Errors: UserError TL-ARITY-001, TL-SHAPE-001 (a constraint fails), TL-SHAPE-002 (an argument
  /// does not fit), TL-BUFFER-001 (consumed), TL-BUFFER-002 (on another device), TL-CANCEL-001,
  /// TL-NAN-001.
  RunResult run(std::vector<Buffer> inputs, const RunOptions& options = {}) const {
    return bind({})->run(std::move(inputs), options);
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<Device> devices() const { return {Device{}}; }
  /// UserError TL-BACKEND-001 for what the back end does not support, by the op's name.
  virtual std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                                    const CompileOptions& options = {}) = 0;
  /// A buffer that this back end computes with; shared, without a copy, by those on the host.
  virtual Buffer upload(HostArray array) { return Buffer(std::move(array)); }
};

}  // namespace tlaloc::runtime
