// Elementwise ops as LLVM IR, with the interpreter's semantics; on one element or on a vector.
#pragma once

#include <span>
#include <string>

#include "tlaloc/cpu/ir_writer.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::cpu {

/// Functions, most of the C library, that code calls through a table, by their position there.
struct LibraryFunction {
  const char* name;
  DType dtype;
  int arity;
  const void* address;
};
std::span<const LibraryFunction> library_functions();

/// What the code of an op depends on beside it.
class FunctionSource {
 public:
  /// `contract`: a product and a sum may become one operation, which rounds once.
  explicit FunctionSource(bool contract) : contract_(contract) {}
  virtual ~FunctionSource() = default;
  /// A function of the table: the text of a pointer.
  virtual IrValue library(std::size_t index) = 0;
  bool contract() const { return contract_; }

 private:
  bool contract_;
};

/// Whether write_op can write it on so many elements at once: what calls the C library takes one.
bool can_write(const ir::OpDef& op, std::span<const DType> in, DType out, int lanes);
IrValue write_op(IrWriter& w, FunctionSource& functions, const ir::OpDef& op, const ir::Attr* attr,
                 std::span<const IrValue> in, std::span<const DType> in_types, DType out,
                 int lanes);

}  // namespace tlaloc::cpu
