// What a value is while a program is planned: elements that lie somewhere, or how to compute them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/cpu/program.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cpu {

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

/// Position = offset + sum of index_k * strides[k].
struct Affine {
  ir::Dim offset;
  std::vector<ir::Dim> strides;
  bool operator==(const Affine&) const = default;
};

/// A part of a position that is data: clamped into [0, last], then times `stride`.
struct Indirect {
  ExprRef index;  ///< i64; in the index space of what it is a part of
  ir::Dim stride, last;
};

/// One element as a function of an index. All parts of an expression have one index space.
struct Expr {
  enum class Kind : std::uint8_t {
    read,      ///< the element of a storage at a position
    literal,   ///< the same everywhere
    position,  ///< the position itself, as a number
    op,        ///< an elementwise op of `args`
  } kind;
  DType dtype;
  StorageId storage = 0;
  Affine at;
  std::vector<Indirect> indirect;  ///< read: added to the position
  HostArray value;                 ///< literal: of rank 0
  const ir::OpDef* op = nullptr;
  ir::AttrRef attr;
  std::vector<ExprRef> args;
  ir::OriginRef origin;  ///< op: of the graph's node
};

struct Value {
  ir::Type type;  ///< as it is stored, in the program's dims
  ExprRef expr;
};

/// Strides of a dense row-major array.
std::vector<ir::Dim> dense_strides(std::span<const ir::Dim> shape);
bool is_dense(const Affine& at, std::span<const ir::Dim> shape);

ExprRef read(DType dtype, StorageId storage, Affine at);
/// The whole of a storage as a dense value.
Value dense_value(ir::Type type, StorageId storage);
ExprRef literal(HostArray value);

/// Whether an element of the expression depends on what lies in a storage.
bool reads(const ExprRef& e, StorageId storage);
/// Elementwise, as the op `convert` does it.
Value converted(const Value& v, DType to);
/// The value as i64 positions; what is larger stays larger than any size.
Value as_index(const Value& v);
/// A position in the index space of `like`: the same everywhere.
ExprRef number(ir::Dim d, DType dtype, ir::Type like);
ExprRef apply(const ir::OpDef& op, ir::AttrRef attr, DType dtype, std::vector<ExprRef> args);

/// The storage of a value that is its dense content and nothing else.
std::optional<StorageId> whole_storage(const Value& v);

/// The value with its index space changed: `change` maps what each part reads. nullopt from it
/// stops: the value must lie somewhere first.
std::optional<Value> view(const Value& v, ir::Type type,
                          const std::function<std::optional<Affine>(const Affine&)>& change);

// The ops that only move elements, as changes of what is read; nullopt as above.
std::optional<Value> broadcast(const Value& v, ir::Type type, std::span<const std::int64_t> axes);
std::optional<Value> transpose(const Value& v, ir::Type type,
                               std::span<const std::int64_t> permutation);
std::optional<Value> slice(const Value& v, ir::Type type, std::span<const ir::Dim> start,
                           std::span<const ir::Dim> strides);
std::optional<Value> reverse(const Value& v, ir::Type type, std::span<const std::int64_t> axes);
std::optional<Value> reshape(const Value& v, ir::Type type);
/// Row `index` along the leading axis.
std::optional<Value> row(const Value& v, ir::Dim index);
/// `count` rows from `first` on.
std::optional<Value> rows(const Value& v, ir::Dim first, ir::Dim count);

}  // namespace tlaloc::cpu
