// Batching: mapped values carry the lanes as axis 0. A computed dim becomes ragged: padded to the
// longest lane, with lengths [lanes].
#pragma once

#include <unordered_map>

#include "tlaloc/transform/context.h"

namespace tlaloc::transform {

struct BatchRequest {
  Mask in;  ///< params with lanes
  Dim lanes;
  bool masked = false;         ///< only lanes of the mask may drive a while
  std::vector<Symbol> ragged;  ///< entry dims that are ragged here
  Mask force;                  ///< results that must get lanes
  bool force_lengths = false;  ///< lengths of every result dim
};

/// params: [mask], lengths of the ragged entry dims, params -> results, lengths of ragged result
/// dims (`lengths`).
const Batched& batch_graph(Context& ctx, const GraphRef& g, const BatchRequest& request);

/// A value of the batched graph, with lanes in front or shared by them. It can't be asked of the
/// value: where an axis has as many elements as there are lanes, zeros of the one and a lifted zero
/// are the same node.
struct Mapped {
  Val v;
  bool batched = false;
};
using MappedVals = std::vector<Mapped>;

/// The state of one batched graph under construction.
class Batcher {
 public:
  Batcher(Context& ctx, Dim lanes) : ctx(ctx), lanes(lanes) {}
  /// x with lanes in front.
  Val lift(const Mapped& x) const;
  Type lifted(Type t) const { return t.with_leading(lanes); }
  /// The lengths of a dim that is exactly one ragged symbol; absent otherwise. Arithmetic on a
  /// ragged size is refused (TL-VMAP-002).
  Val lengths_of(Dim d) const;
  /// What any ragged size is in each lane, as a number: i64 [lanes]. TL-VMAP-002 for quotients,
  /// remainders, minima and maxima deep in each other.
  Val value_of(Dim d) const;
  void set_lengths(Symbol s, Val v) { lengths_.insert_or_assign(s.id(), v); }
  bool ragged(Dim d) const;
  /// Replaces what lies beyond each lane's length of `axis` (of x, lanes in front).
  Val mask_ragged(Val x, int axis, ir::Identity identity) const;

  Context& ctx;
  Dim lanes;
  Val mask;  ///< absent: every lane counts

 private:
  std::unordered_map<std::uint32_t, Val> lengths_;
};

MappedVals batch_manual(Batcher& s, const Node& n, const MappedVals& x, const DimMap& dims);
MappedVals batch_region(Batcher& s, const Node& n, const MappedVals& x, DimMap& dims);

}  // namespace tlaloc::transform
