// Writes one function of LLVM IR as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tlaloc/base/dtype.h"

namespace tlaloc::cpu {

/// Values are their text: "%t7", or a constant such as "3".
using IrValue = std::string;

class IrWriter {
 public:
  /// A name for a new value: `%<stem><number>`.
  IrValue fresh(std::string_view stem = "t");
  /// A new value of that right side, in the current block.
  IrValue let(const std::string& right);
  /// The same in the entry block, which dominates everything.
  IrValue let_early(const std::string& right);
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  std::string label(std::string_view stem = "b");
  /// Ends the current block with a jump to `label`, which begins here.
  void fall_into(const std::string& label);
  /// Begins a block; the one before has ended.
  void begin(const std::string& label) { body_ += label + ":\n"; }
  void jump(const std::string& label) { line("br label %" + label); }
  void branch(const IrValue& p, const std::string& yes, const std::string& no) {
    line("br i1 " + p + ", label %" + yes + ", label %" + no);
  }
  /// A variable; it becomes a register where its address is not taken.
  IrValue variable(const std::string& type);

  // ---- i64 arithmetic with constants folded ----
  IrValue add(const IrValue& a, const IrValue& b);
  IrValue mul(const IrValue& a, const IrValue& b);

  const std::string& entry() const { return entry_; }
  const std::string& body() const { return body_; }

 private:
  std::string entry_, body_;
  int next_ = 0;
};

/// A vector of `lanes` elements, or the element for 1.
std::string ir_vector(const std::string& type, int lanes);
/// In a register: i1 for bool; f16 and bf16 are their bits.
std::string ir_type(DType t);
/// In memory: i8 for bool.
std::string ir_memory_type(DType t);
/// Whether generated code computes on elements of this type.
bool ir_computes(DType t);
/// The constant of these bits, in a register.
IrValue ir_constant(DType t, std::uint64_t bits, int lanes);
/// A constant of a floating type.
IrValue ir_real(DType t, double value, int lanes);
IrValue ir_splat(const std::string& type, const std::string& value, int lanes);
bool is_number(const IrValue& v);

}  // namespace tlaloc::cpu
