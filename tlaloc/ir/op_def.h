// What the system knows about one op: a row of the op table, with its rules type-erased.
// The typed declarations live in tlaloc/ops; rules are written with the same operators users write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/attr.h"
#include "tlaloc/ir/val.h"

namespace tlaloc::ir {

struct OpDef;

/// One application of an op, as rules see it: operands already live in the graph being built.
struct Call {
  const OpDef* op = nullptr;
  const Attr* attr = nullptr;
  std::span<const Val> in;         ///< transpose: absent where the operand is linear
  std::span<const Val> out;        ///< jvp only: the results
  std::span<const Type> in_types;  ///< always complete
  std::span<const Type> out_types;

  template <HasFields A>
  const A& as() const {
    return attr_as<A>(attr);
  }
};

/// Computes result types. `require_equal` records what cannot be proved and fails on what is
/// disproved.
class InferContext {
 public:
  const OpDef* op = nullptr;
  const Attr* attr = nullptr;
  std::span<const Type> in;
  std::vector<Type> out;

  virtual ~InferContext() = default;
  /// a == b must hold; `what` names the two sizes in the error ("contracted axis 1 and 0").
  virtual void require_equal(Dim a, Dim b, const std::string& what) = 0;
  /// a <= b must hold.
  virtual void require_less_equal(Dim a, Dim b, const std::string& what) = 0;
  template <HasFields A>
  const A& as() const {
    return attr_as<A>(attr);
  }
  /// Throws UserError with the op's name and operand types appended to the message.
  [[noreturn]] void fail(const char* code, const std::string& message,
                         const std::string& hint = "") const;
};

/// Reference evaluation. Operands may be moved out with `take`; an operand that nobody else holds
/// is `unique()` there, which is how updates happen in place.
struct EvalContext {
  const OpDef* op = nullptr;
  const Attr* attr = nullptr;
  std::span<HostArray> in;
  std::span<const DType> out_dtypes;
  std::span<const Extents> out_extents;
  std::vector<HostArray> out;
  std::function<std::int64_t(Dim)> size_of;  ///< evaluates a dim of the attributes

  template <HasFields A>
  const A& as() const {
    return attr_as<A>(attr);
  }
  HostArray take(int k) { return std::move(in[static_cast<std::size_t>(k)]); }
  /// An uninitialized result k.
  HostArray make(int k = 0) const {
    return HostArray::uninitialized(out_dtypes[static_cast<std::size_t>(k)],
                                    out_extents[static_cast<std::size_t>(k)]);
  }
};

/// Receives the cotangent contributions of a transpose rule.
class CotangentSink {
 public:
  virtual ~CotangentSink() = default;
  /// ct(operand k) += contribution.
  virtual void add(int k, Val contribution) = 0;
  /// ct(operand k) = absorb(ct(operand k)): an update that an accumulator takes in place, such as
  /// a scatter-add. It is what keeps the gradient of a[i] inside a loop linear in its length.
  virtual void absorb(int k, std::function<Val(Val accumulator)> absorb) = 0;
};

/// What a masked position must hold so that a reduction over it is not changed.
enum class Identity { zero, one, lowest, highest, all_ones };

/// Batching: mapped values carry the lanes as axis 0.
class BatchContext {
 public:
  virtual ~BatchContext() = default;
  virtual Dim lanes() const = 0;
  virtual bool batched(int k) const = 0;
  /// Operand k with the lane axis in front, broadcast if it was shared.
  virtual Val lifted(int k) = 0;
  /// The value of a size in each lane, i64[lanes], where lanes differ; absent where they agree.
  /// UserError TL-VMAP-002 for arithmetic on a size that differs.
  virtual Val lengths(Dim size) = 0;
  /// `x` (lanes in front) with positions beyond each lane's length of a ragged `axis` replaced.
  virtual Val mask_ragged(Val x, int axis, Identity identity) = 0;
  /// Result k with the lane axis in front.
  virtual void set(int k, Val batched) = 0;
};

using InferFn = void (*)(InferContext&);
using EvalFn = void (*)(EvalContext&);
/// The exact local rewrite: the replacement, or an absent Val. Must be exact for all inputs, NaN
/// and signed zeros included.
using SimplifyFn = Val (*)(const Call&);
/// dx: absent means zero, at least one is present. dy starts absent.
using JvpFn = void (*)(const Call&, std::span<const Val> dx, std::span<Val> dy);
/// ct: absent means zero, at least one is present.
using TransposeFn = void (*)(const Call&, std::span<const Val> ct, CotangentSink&);
using BatchFn = void (*)(const Call&, BatchContext&);

/// A rule, or the reason why there is none.
template <class Fn>
struct Rule {
  Fn fn = nullptr;
  const char* refusal = nullptr;
  explicit operator bool() const { return fn != nullptr; }
};

struct Traits {
  bool unique = false;       ///< never interned: two applications are two nodes
  bool ordered = false;      ///< has an effect: kept, and kept in order
  bool commutative = false;  ///< operands 0 and 1 may be exchanged in lookups
  bool elementwise = false;  ///< all operands and results have one shape
  bool updates = false;      ///< result 0 is operand 0 with some elements replaced
  bool cheap = false;        ///< a residual policy prefers computing it again to keeping it
};

/// The five ops with regions are known to every transform by their kind.
enum class RegionKind : std::uint8_t { none, branch, loop, scan, call, manual };

struct OpDef {
  const char* name;
  const char* doc;
  std::uint16_t id = 0;  ///< dense index into the op table
  Traits traits;
  RegionKind region_kind = RegionKind::none;
  /// Parses the op's attributes; null for ops without.
  AttrRef (*parse_attr)(Parser&) = nullptr;
  InferFn infer = nullptr;
  EvalFn eval = nullptr;
  SimplifyFn simplify = nullptr;
  Rule<JvpFn> jvp;
  Rule<TransposeFn> transpose;
  Rule<BatchFn> batch;
};

}  // namespace tlaloc::ir
