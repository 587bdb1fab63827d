// Elementwise mathematics, one operand: rounding, exponentials, roots.
//
// The result has the operand's type. Floating functions also take a C++ number and return a number.
// Values at poles, NaN and signed zeros follow IEEE 754 and C's math.h unless a line says
// otherwise. Errors: TL-TYPE-002 (not a tensor), TL-DTYPE-003 (element type).
#pragma once

#include "tlaloc/lang/operators.h"

namespace tlaloc {

/// |x|; the lowest signed integer stays as it is.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::number>>
Like<A> abs(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::abs, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::number>>
  requires IsMistake<Why>
Refused abs(const A&, Where = Where::current()) = delete;

/// -1, 0 or 1; the sign of a zero and NaN stay.
template <class A, auto Why = detail::kOne<A, Domain::number>>
Like<A> sign(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::sign, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::number>>
  requires IsMistake<Why>
Refused sign(const A&, Where = Where::current()) = delete;

/// The least integer not below x.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> ceil(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::ceil, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused ceil(const A&, Where = Where::current()) = delete;

/// The greatest integer not above x.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> floor(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::floor, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused floor(const A&, Where = Where::current()) = delete;

/// The nearest integer; halves go away from zero, as in C.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> round(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::round, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused round(const A&, Where = Where::current()) = delete;

/// The nearest integer; halves go to the even one.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> round_even(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::round_even, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused round_even(const A&, Where = Where::current()) = delete;

/// eˣ.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> exp(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::exp, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused exp(const A&, Where = Where::current()) = delete;

/// eˣ - 1, exact near 0.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> expm1(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::expm1, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused expm1(const A&, Where = Where::current()) = delete;

/// The natural logarithm.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> log(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::log, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused log(const A&, Where = Where::current()) = delete;

/// log(1 + x), exact near 0.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> log1p(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::log1p, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused log1p(const A&, Where = Where::current()) = delete;

/// The square root.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> sqrt(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::sqrt, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused sqrt(const A&, Where = Where::current()) = delete;

/// 1 / sqrt(x).
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> rsqrt(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::rsqrt, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused rsqrt(const A&, Where = Where::current()) = delete;

/// The cube root, of negative numbers too.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> cbrt(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::cbrt, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused cbrt(const A&, Where = Where::current()) = delete;

// ---- tests; bool tensors ----

/// Neither infinite nor NaN.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
WithElement<A, bool> is_finite(const A& x, Where where = Where::current()) {
  return detail::unary<WithElement<A, bool>>(core::UnaryOp::is_finite, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused is_finite(const A&, Where = Where::current()) = delete;

/// NaN: x != x.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
WithElement<A, bool> is_nan(const A& x, Where where = Where::current()) {
  return detail::binary<WithElement<A, bool>>(core::BinaryOp::ne, x, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused is_nan(const A&, Where = Where::current()) = delete;

// ---- integers ----

/// The number of one bits.
template <class A, auto Why = detail::kOne<A, Domain::integer>>
Like<A> popcount(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::popcnt, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::integer>>
  requires IsMistake<Why>
Refused popcount(const A&, Where = Where::current()) = delete;

/// The number of zero bits above the highest one bit.
template <class A, auto Why = detail::kOne<A, Domain::integer>>
Like<A> count_leading_zeros(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::clz, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::integer>>
  requires IsMistake<Why>
Refused count_leading_zeros(const A&, Where = Where::current()) = delete;

// ---- derivatives ----

/// x, as a constant to every derivative.
template <class A, auto Why = detail::kOne<A, Domain::all>>
Like<A> stop_gradient(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::stop_gradient, x, where);
}
template <class A, auto Why = detail::kOne<A, Domain::all>>
  requires IsMistake<Why>
Refused stop_gradient(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
