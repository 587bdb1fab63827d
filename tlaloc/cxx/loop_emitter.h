// Carried variables and histories of one loop while it is lowered; while and scan share it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tlaloc/cxx/lower.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::cxx {

class LoopEmitter {
 public:
  LoopEmitter(Lowering& l, const ir::Node& n, const NodeCall& call, std::int64_t n_inv,
              std::int64_t n_carry, const std::vector<ir::Append>& append);

  std::size_t n_inv, n_carry;
  const std::vector<ir::Append>& append;
  const ir::Graph& body;
  Values inv, init, xs;
  std::vector<ir::Type> types;  ///< of the results, in the function's sizes
  /// By carry: what each trip adds to it, if that is a constant.
  std::vector<std::optional<std::int64_t>> step;
  std::vector<std::optional<VarId>> history;  ///< by output; none where it is known without

  /// True for a carry that the body hands on as it is.
  bool fixed(std::size_t k) const {
    return body.results()[k] == static_cast<ir::ValueId>(n_inv + k);
  }
  void start_carries();
  /// The carry inside the loop or after it.
  Value carry(std::size_t k, const Range& range);
  /// The end of the body: all carries move on at once.
  void move_carries(const Values& results, std::vector<Assignment> more = {});

  /// An output that needs no history because its elements are known: what the loop never changes,
  /// a counter, or xs itself. `trip` maps an index to the trip that wrote it.
  std::optional<Value> known_output(std::size_t k,
                                    const std::function<Index(Lowering&, const Index&)>& trip);
  ir::Type output_type(std::size_t k) const { return types[n_carry + k]; }
  /// Declares the vector of output k.
  VarId declare_history(std::size_t k, const ir::Origin& origin);
  /// The same, once the body's value is known: a cheap function of counters and of what the loop
  /// does not change. `inside`: the first variable that the body declared. `counter`: the variable
  /// that holds the index itself, for scans. `ragged_only`: flat outputs are read by pieces only.
  std::optional<Value> recomputed_output(std::size_t k, const Value& y,
                                         const std::function<Index(Lowering&, const Index&)>& trip,
                                         VarId inside, std::optional<VarId> counter,
                                         bool ragged_only);
  /// One trip's output at the end of its history.
  void push(std::size_t k, const Value& v, VarId inside);
  /// Notes what is known of the elements of history k.
  void note_range(std::size_t k, const Value& v, VarId inside);
  /// Elements in one row of output k.
  ir::Dim row(std::size_t k) const;
  /// How many rows history k has got.
  ExprRef rows_of(std::size_t k);
  /// As many as the longest of them: of a history with one element per trip.
  ExprRef trip_count();
  /// The outputs as values; binds the flat lengths that were not known before.
  Value finish(std::size_t k);

 private:
  Value repeated(ir::Type type, const Value& v);
  Lowering& l_;
  const ir::Node node_;
  std::vector<std::optional<VarId>> carry_;
  std::vector<std::optional<Range>> range_;  ///< of the elements of each history
};

/// Range of first + step * i, for i in `trip`.
Range progression(const Range& first, std::int64_t step, const Range& trip, DType t);

}  // namespace tlaloc::cxx
