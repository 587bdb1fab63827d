// Sizes, strides and offsets of a program as straight-line integer code over slots of a frame.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/dim.h"

namespace tlaloc::cpu {

/// Position of an integer in a frame.
using Slot = std::uint32_t;

/// What overflows, or divides by zero: work that is not run may have such sizes. Whoever needs one
/// checks.
inline constexpr std::int64_t kPoison = std::numeric_limits<std::int64_t>::min();

struct SizeOp {
  enum class Kind : std::uint8_t { add, mul, floordiv, mod, min, max } kind;
  Slot a, b, result;
};
/// `ops` may read what earlier ones wrote. Poison spreads.
void evaluate(const std::vector<SizeOp>& ops, std::int64_t* slots);

/// Gives dims slots. Symbols become known at points of the program; a dim is computed at the last
/// of the points of its symbols, which all code that reads it comes after.
class SizeTable {
 public:
  SizeTable();
  /// A new point, at which `define`d symbols get their values. Point 0 is the program's entry.
  std::uint32_t new_point();
  /// The slot of a symbol; it is written by the machine before the point's code runs.
  Slot define(ir::Symbol s, std::uint32_t point);
  bool defines(ir::Symbol s) const { return symbols_.contains(s.id()); }

  Slot constant(std::int64_t value);
  Slot of(ir::Dim d);
  /// The point at which a dim is known.
  std::uint32_t point_of(ir::Dim d) const;

  template <class F>
  void each_symbol(const F& visit) const {
    for (const auto& [id, known] : symbols_) visit(id, known.slot);
  }
  /// By point.
  std::vector<std::vector<SizeOp>> take_code() { return std::move(code_); }
  /// Initial values: constants, and 0 for everything else.
  std::vector<std::int64_t> take_slots() { return std::move(slots_); }

 private:
  struct Known {
    Slot slot;
    std::uint32_t point;
  };
  Slot op(SizeOp::Kind kind, Slot a, Slot b, std::uint32_t point);
  Known compute(ir::Dim d);
  Slot new_slot(std::int64_t value);

  std::vector<std::int64_t> slots_;
  std::vector<std::vector<SizeOp>> code_;
  std::unordered_map<std::uint32_t, Known> symbols_;  // by id
  std::unordered_map<std::uint64_t, Known> dims_;     // by word
};

}  // namespace tlaloc::cpu
