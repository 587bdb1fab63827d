// What every back end checks of arguments and sizes, and how it says so.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::runtime {

/// A size of a graph while it runs.
using SizeOf = std::function<std::int64_t(ir::Dim)>;

/// The sizes of g's entry dims, in their order. UserError TL-ARITY-001, TL-SHAPE-002 (an argument
/// does not fit its param), TL-SHAPE-004 (neither a shape nor `given` determines a size),
/// TL-SHAPE-005 (a size is outside of what its symbol states).
std::vector<std::int64_t> bind_arguments(const ir::Graph& g, std::span<const HostArray> args,
                                         const DimValues& given);

/// Whether arguments of such sizes exist, for sizes that no arguments gave: UserError TL-SHAPE-005,
/// TL-SIZE-001 (a param's size would be negative), TL-SHAPE-001 (sizes do not agree).
void check_sizes(const ir::Graph& g, std::span<const std::int64_t> sizes);

/// bind_arguments for a graph that is called often: what there is to check is listed once.
class ArgumentBinder {
 public:
  explicit ArgumentBinder(ir::GraphRef g);
  std::vector<std::int64_t> operator()(std::span<const HostArray* const> args,
                                       const DimValues& given) const;

 private:
  struct Param {
    DType dtype;
    int rank;
  };
  struct Axis {
    std::int64_t size;  ///< -1: that of an entry dim
    std::size_t dim;
  };
  struct Bounds {
    std::int64_t lower, upper, multiple_of;
  };
  bool fit(std::span<const HostArray* const> args, std::vector<std::int64_t>& sizes) const;

  ir::GraphRef graph_;
  bool listed_ = true;  ///< no param is quantized or has a computed size
  std::vector<Param> params_;
  std::vector<Axis> axes_;
  std::vector<Bounds> dims_;
};

/// The element type and rank of an array that holds values of type t, and the size of its axis as
/// the type counts it: a quantized type counts elements where its array has bytes.
bool fits_storage(ir::Type t, const HostArray& array);
std::int64_t axis_size(ir::Type t, const HostArray& array, int axis);

/// TL-SHAPE-001: the constraint, which is one of g's, does not hold.
[[noreturn]] void throw_constraint(const ir::Graph& g, const ir::Constraint& c,
                                   const SizeOf& size_of);
/// TL-SIZE-001: `size` is the size of axis `axis` of op's result.
[[noreturn]] void throw_negative_size(ir::Type t, int axis, std::int64_t size, const char* op);

// ---- what a run is called with ----

/// UserError TL-ALIAS-001: `why` says what is wrong with an alias.
[[noreturn]] void throw_alias(const Signature& s, const Alias& a, const std::string& why);
/// TL-ALIAS-001 if param k, which is bound, must give its memory to a result.
void check_alias_of_bound(const Signature& s, std::size_t k);
/// TL-ARITY-001 for a wrong number of arguments or flags; TL-ALIAS-001 for one that had to be
/// donated. `inputs`: the params that are not bound. `donate`: by input, as RunOptions::donate.
void check_run(const Signature& s, std::span<const std::size_t> inputs, std::size_t given,
               const std::vector<bool>& donate);

}  // namespace tlaloc::runtime
