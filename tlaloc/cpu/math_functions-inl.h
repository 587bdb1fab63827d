// The functions of kMathOps by op.
#if defined(TLALOC_CPU_MATH_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_FUNCTIONS_INL_H
#undef TLALOC_CPU_MATH_FUNCTIONS_INL_H
#else
#define TLALOC_CPU_MATH_FUNCTIONS_INL_H
#endif

#include "tlaloc/cpu/math_erf-inl.h"
#include "tlaloc/cpu/math_exp-inl.h"
#include "tlaloc/cpu/math_ops.h"
#include "tlaloc/cpu/math_power-inl.h"
#include "tlaloc/cpu/math_trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

/// Whether on f32 it computes in f64, if only in part.
constexpr bool widens(ops::OpId op) {
  switch (op) {
    case ops::OpId::Erfc:
    case ops::OpId::Sin:
    case ops::OpId::Cos:
    case ops::OpId::Tan:
    case ops::OpId::Pow:
      return true;
    default:
      return false;
  }
}

/// NaN, infinities, signed zeros and subnormals are as in the C library; docs/compiled-code.md has
/// the errors. `library` is its function on one element, which serves huge arguments of sin, cos
/// and tan; `y` is there for ops of two.
template <ops::OpId kOp, class M, class F>
HWY_INLINE Real<M> math(const M& m, const Real<M>& x, [[maybe_unused]] const Real<M>& y,
                        [[maybe_unused]] const F& library) {
  using enum ops::OpId;
  if constexpr (kOp == Exp) {
    return exp(m, x);
  } else if constexpr (kOp == Expm1) {
    return expm1(m, x);
  } else if constexpr (kOp == Log) {
    return log(m, x);
  } else if constexpr (kOp == Log1p) {
    return log1p(m, x);
  } else if constexpr (kOp == Logistic) {
    return logistic(m, x);
  } else if constexpr (kOp == Tanh) {
    return tanh(m, x);
  } else if constexpr (kOp == Sinh) {
    return sinh(m, x);
  } else if constexpr (kOp == Cosh) {
    return cosh(m, x);
  } else if constexpr (kOp == Erf) {
    return erf(m, x);
  } else if constexpr (kOp == Erfc) {
    return erfc(m, x);
  } else if constexpr (kOp == Sin) {
    return circular<Circular::sin>(m, x, library);
  } else if constexpr (kOp == Cos) {
    return circular<Circular::cos>(m, x, library);
  } else if constexpr (kOp == Tan) {
    return circular<Circular::tan>(m, x, library);
  } else if constexpr (kOp == Asin) {
    return asin(m, x);
  } else if constexpr (kOp == Acos) {
    return acos(m, x);
  } else if constexpr (kOp == Atan) {
    return atan(m, x);
  } else if constexpr (kOp == Atan2) {
    return atan2(m, x, y);
  } else {
    static_assert(kOp == Pow);
    return pow(m, x, y);
  }
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_FUNCTIONS_INL_H
