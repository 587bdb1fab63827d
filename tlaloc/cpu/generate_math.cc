#include "tlaloc/cpu/generate_math.h"

#include "tlaloc/base/error.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {

using ops::OpId;

bool has_math(const ir::OpDef& op, DType t) {
  if (t != DType::f32 && t != DType::f64) return false;
  switch (static_cast<OpId>(op.id)) {
    case OpId::Exp:
    case OpId::Expm1:
    case OpId::Log:
    case OpId::Log1p:
    case OpId::Logistic:
    case OpId::Tanh:
    case OpId::Sinh:
    case OpId::Cosh:
    case OpId::Erf:
    case OpId::Erfc:
    case OpId::Pow:
    case OpId::Sin:
    case OpId::Cos:
    case OpId::Tan:
    case OpId::Asin:
    case OpId::Acos:
    case OpId::Atan:
    case OpId::Atan2:
      return true;
    default:
      return false;
  }
}

IrValue write_math(IrWriter& w, const ir::OpDef& op, std::span<const IrValue> in, DType t,
                   int lanes, const ScalarCall& scalar) {
  MathWriter m(w, t, lanes);
  const IrValue& x = in[0];
  switch (static_cast<OpId>(op.id)) {
    case OpId::Exp:
      return write_exp(m, x);
    case OpId::Expm1:
      return write_expm1(m, x);
    case OpId::Log:
      return write_log(m, x);
    case OpId::Log1p:
      return write_log1p(m, x);
    case OpId::Logistic:
      return write_logistic(m, x);
    case OpId::Tanh:
      return write_tanh(m, x);
    case OpId::Sinh:
      return write_sinh(m, x);
    case OpId::Cosh:
      return write_cosh(m, x);
    case OpId::Erf:
      return write_erf(m, x);
    case OpId::Erfc:
      return write_erfc(m, x);
    case OpId::Pow:
      return write_pow(m, x, in[1]);
    case OpId::Sin:
      return write_circular(m, Circular::sin, x, scalar);
    case OpId::Cos:
      return write_circular(m, Circular::cos, x, scalar);
    case OpId::Tan:
      return write_circular(m, Circular::tan, x, scalar);
    case OpId::Asin:
      return write_asin(m, x);
    case OpId::Acos:
      return write_acos(m, x);
    case OpId::Atan:
      return write_atan(m, x);
    case OpId::Atan2:
      return write_atan2(m, x, in[1]);
    default:
      throw InternalError("there is no vector function of that name");
  }
}

}  // namespace tlaloc::cpu
