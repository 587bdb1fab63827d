#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

void Unary::check_operand(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  if (c.in[0].encoding())
    c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
}
void Unary::emit_batched(const Call& c, BatchContext& ctx, std::initializer_list<Val> in) {
  ctx.set(0, emit_like(c, in));
}

void Binary::infer_same(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes two operands");
  const Type a = c.in[0], b = c.in[1];
  if (a.dtype() != b.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
  if (a.encoding() || b.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (a.rank() != b.rank()) c.fail("TL-RANK-001", "ranks differ", "broadcast one operand");
  for (int i = 0; i < a.rank(); ++i) {
    c.require_equal(a.dim(i), b.dim(i), "axis " + std::to_string(i));
  }
  c.out.push_back(a);
}

Val Binary::add_tangents(Val a, Val b) {
  if (!a) return b;
  if (!b) return a;
  return add(a, b);
}

void require_linear(const Call& c, bool is, const char* why) {
  if (is) return;
  throw UserError({"TL-GRAD-002",
                   std::string(c.op->name),
                   std::string("can't be transposed: ") + why,
                   "only linear functions have a transpose",
                   {}});
}

bool is_scalar_value(Val v, double wanted) {
  const auto s = scalar_value(v);
  return s && *s == wanted && std::signbit(*s) == std::signbit(wanted);
}

void match_ranks(Val& a, Val& b) {
  if (a.rank() == 0 && b.rank() != 0)
    a = broadcast_in_dim(a, b.shape(), {});
  else if (b.rank() == 0 && a.rank() != 0)
    b = broadcast_in_dim(b, a.shape(), {});
}
Val emit_unary(const ir::OpDef& op, Val x) { return ir::Builder::current().emit(op, nullptr, {x}); }
Val emit_binary(const ir::OpDef& op, Val a, Val b) {
  match_ranks(a, b);
  return ir::Builder::current().emit(op, nullptr, {a, b});
}

}  // namespace tlaloc::ops
