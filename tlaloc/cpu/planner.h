// Turns a graph into a program; internal to cpu. See plan.h.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/cpu/groups.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::cpu {

using Values = std::vector<Value>;

class Planner {
 public:
  Planner(ir::GraphRef g, const PlanOptions& options)
      : e_(std::move(g)), kernels_(options.kernels), aliases_(options.aliases) {
    e_.fixed = options.fixed;
    e_.keeps = options.keeps;
  }
  std::shared_ptr<const Program> run();

 private:
  /// One graph while it is planned in place.
  struct Context {
    Context(const ir::GraphRef& graph, ir::DimMap map)
        : ref(graph), g(*graph), dims(std::move(map)), env(g.value_count()) {}
    const ir::GraphRef& ref;
    const ir::Graph& g;
    ir::DimMap dims;  ///< the graph's symbols in the program's
    Values env;       ///< by ValueId
    Groups groups;
    std::vector<bool> widened;  ///< by node: widened_rights
    /// Where values are wanted, if it can be had without a copy.
    std::unordered_map<ir::ValueId, Target> wanted;

    ir::Type type(ir::ValueId v) const;
    ir::Dim dim(ir::Dim d) const { return d.substitute(dims); }
  };
  struct Planned {
    Values results;
    std::vector<ir::Dim> dims;  ///< result dims, in the program's
  };
  /// `wanted`: by result, where it should lie.
  Planned graph(const ir::GraphRef& g, ir::DimMap dims, const Values& args,
                const std::vector<std::optional<Target>>& wanted = {});
  /// Fails at run time where it does not hold. `dims`: the graph's, in the program's.
  void constraint(const ir::GraphRef& g, std::uint32_t number, const ir::DimMap& dims);
  void constraints(Context& c, std::uint32_t node, std::size_t& next,
                   const std::vector<std::pair<std::uint32_t, std::uint32_t>>& order);

  void node(Context& c, const ir::Node& n);
  void elementwise(Context& c, const ir::Node& n);
  void moved(Context& c, const ir::Node& n);
  void reduction(Context& c, const ir::Node& n);
  void concatenate(Context& c, const ir::Node& n);
  void dot(Context& c, const ir::Node& n);
  void convolution(Context& c, const ir::Node& n);
  void quantized(Context& c, const ir::Node& n);
  /// The result of n from sums in f32, which are rounded at their end.
  void round_to_16_bits(Context& c, const ir::Node& n, const Value& sums);
  void windows(Context& c, const ir::Node& n);
  /// cholesky and triangular_solve.
  void factor(Context& c, const ir::Node& n);
  /// sort and top_k.
  void sort(Context& c, const ir::Node& n);
  void pad(Context& c, const ir::Node& n);
  void dynamic_slice(Context& c, const ir::Node& n);
  void dynamic_update_slice(Context& c, const ir::Node& n);
  /// Where groups say that the update is a sum with what lies there: added to that in its place.
  bool added_update(Context& c, const ir::Node& n);
  void gather(Context& c, const ir::Node& n);
  void scatter(Context& c, const ir::Node& n);
  /// argmax and argmin, as two folds.
  void position_of_extreme(Context& c, const ir::Node& n);
  /// Parts of positions: one start per axis behind the batch axes, in the index space of `like`.
  std::vector<Indirect> starts(Context& c, const ir::Node& n, std::size_t first, ir::Type like,
                               std::int64_t batch_axes, std::span<const ir::Dim> strides,
                               std::span<const ir::Dim> last);
  /// The parts of positions that `indices` says, in the index space of gather's result or of
  /// scatter's updates; and where the elements of windows lie, as strides in that space.
  struct Windows {
    Affine at;
    std::vector<Indirect> indirect;
  };
  Windows windows(const Value& indices, const ops::IndexDims& dims, ir::Type operand,
                  ir::Type windowed, std::span<const ir::Dim> sizes, const Affine& lies);
  /// `update` into a copy of the operand, which may become the operand itself.
  void update(Context& c, const ir::Node& n, const Value& update, const Windows& where, bool drop,
              const ir::OpDef* combine);
  /// What n is made of: loops over functions of scalars, which become code.
  void in_loops(Context& c, const ir::Node& n, const std::function<ir::Vals(const ir::Vals&)>& f);
  /// `why`: no kernel of its own runs it.
  void reference(Context& c, const ir::Node& n, const char* why);
  Target target(Context& c, ir::ValueId v);
  /// For a kernel that writes any strides: a layout in which a transpose, if nothing else reads v,
  /// finds its result dense.
  Target turned_target(Context& c, ir::ValueId v);
  void check(Context& c, const ir::Node& n);
  /// The operand with another shape, broadcast if it is a scalar.
  Value spread(const Value& v, ir::Type like);
  Value filled(ir::Type type, double value);
  /// Computes the result of n, which is an expression yet, into memory.
  void settle(Context& c, const ir::Node& n);
  /// The view, or that of the value once it lies somewhere.
  template <class F>
  Value viewed(Context& c, ir::ValueId operand, const F& view);

  // ---- regions ----
  struct LoopState;
  /// A call that a kernel claims.
  void call(Context& c, const ir::Node& n);
  void branch(Context& c, const ir::Node& n);
  void batched_branch(Context& c, const ir::Node& n, const Value& predicate);
  void while_loop(Context& c, const ir::Node& n);
  void scan(Context& c, const ir::Node& n);
  ir::DimMap region_dims(const Context& c, const ir::Region& r) const;
  /// New symbols for what n binds, known at `point`.
  std::vector<ir::Symbol> bind(Context& c, const ir::Node& n, std::uint32_t point);
  Values operands(Context& c, const ir::Node& n);
  void start_loop(LoopState& s);
  void record(LoopState& s, const Values& ys);
  void move_carries(LoopState& s, const Values& next);
  void finish_loop(LoopState& s);

  Emitter e_;
  const Kernels kernels_;
  const std::vector<runtime::Alias>& aliases_;
};

template <class F>
Value Planner::viewed(Context& c, ir::ValueId operand, const F& view) {
  if (auto v = view(c.env[operand])) return *v;
  Value& v = c.env[operand];
  v = e_.lying(v, "copy");
  if (auto r = view(v)) return *r;
  v = dense_value(v.type, e_.copy(v, "copy"));
  auto r = view(v);
  internal_check(r.has_value(), "a dense value can't be viewed");
  return *r;
}

}  // namespace tlaloc::cpu
