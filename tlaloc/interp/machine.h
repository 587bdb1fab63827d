// One run of a program; internal to interp.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/interp/interp.h"
#include "tlaloc/interp/plan.h"

namespace tlaloc::interp {

using Arrays = std::vector<HostArray>;
using Clock = std::chrono::steady_clock;

/// The values and sizes of one graph while it runs. A loop uses one frame for all its iterations.
class Frame {
 public:
  static constexpr std::int64_t kUnbound = std::numeric_limits<std::int64_t>::min();
  explicit Frame(const Plan& plan);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const Plan& plan() const { return plan_; }
  /// Sizes stay from one iteration to the next: what a node binds is bound anew before it is read.
  void bind(ir::Symbol s, std::int64_t size);
  std::int64_t size(ir::Dim d) const {
    return d.is_constant() ? d.constant() : d.evaluate(lookup_);
  }
  /// Sizes of a shape; UserError TL-SIZE-001 for a negative one.
  void extents(const TypeInfo& type, const char* op, Extents& out) const;

  std::vector<HostArray> slots;
  std::vector<std::uint8_t> nonfinite;  ///< by slot, with Options.check_nan only

  // Scratch of the node being evaluated.
  Arrays in;
  ir::EvalContext context;
  std::vector<Extents> shapes;
  std::vector<DType> dtypes;

 private:
  const Plan& plan_;
  std::vector<std::int64_t> sizes_;
  std::function<std::int64_t(ir::Symbol)> lookup_;
};

class Machine {
 public:
  explicit Machine(const Options& options);
  /// Runs the frame's graph; entry dims are bound. `args` is consumed.
  Arrays run(Frame& f, Arrays& args);

 private:
  /// A node with regions while it is evaluated: its operands are frame.in.
  struct RegionNode {
    Frame& frame;
    const ir::Node& node;
    const Plan* const* plans;
  };
  void eval_primitive(Frame& f, const ir::Node& n);
  Arrays eval_region(RegionNode r);
  Arrays eval_if(RegionNode r);
  Arrays eval_batched_if(RegionNode r, const HostArray& predicate);
  Arrays eval_while(RegionNode r);
  Arrays eval_scan(RegionNode r);
  /// Replaces operands that belong to the other branch and do not fit branch k.
  void fill_foreign(RegionNode r, std::size_t k, Arrays& args);
  /// Runs region k with the operands from `first` on; `bound` gets its result dims.
  Arrays run_region(RegionNode r, std::size_t k, Arrays& args, std::vector<std::int64_t>& bound);

  void store(Frame& f, const ir::Node& n, std::uint8_t excused, bool reports_nonfinite);
  void check_value(const Frame& f, const TypeInfo& type, const HostArray& value, const char* what);
  void poll() const;

  const Options& options_;
  Clock::time_point start_ = Clock::now();
  Stats* stats_;
  /// Above 0 inside a batched `if`: lanes that did not take a branch may hold anything.
  int nan_muted_ = 0;
  int depth_ = 0;  ///< of regions; only the program's own nodes are profiled
  /// What constants inside of it hold, which no result has to excuse.
  std::uint8_t muted_constants_ = 0;
  Extents scratch_extents_;
};

/// Binds a region's entry dims from its caller's sizes; ragged ones stay.
void bind_region_dims(const Frame& outer, const ir::Region& region, Frame& inner);
/// Binds the entry dims of a whole program and checks each argument's type.
void bind_arguments(Frame& f, const Arrays& args, const DimValues& dims);

/// The sizes of a program's entry dims, after all checks that need no run.
DimValues check_entry(const Program& program, const Arrays& args, const DimValues& dims);

/// What is not finite in an array: bit 0 a NaN, bit 1 an infinity.
std::uint8_t find_nonfinite(const HostArray& a);
[[noreturn]] void throw_nonfinite(const ir::Node& n, const HostArray& value, std::uint8_t found);
/// Checks what can be checked once `node` has run; `next` is the position in the plan's checks.
void check_constraints(const Frame& f, std::uint32_t node, std::size_t& next);

}  // namespace tlaloc::interp
