// A handle to a value in a graph under construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tlaloc/ir/type.h"

namespace tlaloc::ir {

class Builder;

/// Names a value of one trace (one Builder). Trivially copyable; a handle that outlives its trace
/// is detected (UserError TL-TRACE-003), never followed.
struct Val {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t id = kNone;
  std::uint32_t trace = 0;

  /// False for the absent value: a zero tangent or cotangent, or a linear operand in a transpose.
  explicit operator bool() const { return id != kNone; }
  bool operator==(const Val&) const = default;

  Type type() const;
  DType dtype() const { return type().dtype(); }
  int rank() const { return type().rank(); }
  Dim dim(int axis) const { return type().dim(axis); }
  std::span<const Dim> shape() const { return type().shape(); }
};

using Vals = std::vector<Val>;

}  // namespace tlaloc::ir
