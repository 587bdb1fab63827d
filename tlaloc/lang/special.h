// Trigonometric, hyperbolic and error functions, elementwise. As in math.h.
#pragma once

#include "tlaloc/lang/math.h"

namespace tlaloc {

/// The sine of radians.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> sin(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::sin, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused sin(const A&, Where = Where::current()) = delete;

/// The cosine of radians.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> cos(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::cos, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused cos(const A&, Where = Where::current()) = delete;

/// The tangent of radians.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> tan(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::tan, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused tan(const A&, Where = Where::current()) = delete;

/// The angle in [-π/2, π/2] of that sine.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> asin(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::asin, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused asin(const A&, Where = Where::current()) = delete;

/// The angle in [0, π] of that cosine.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> acos(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::acos, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused acos(const A&, Where = Where::current()) = delete;

/// The angle in [-π/2, π/2] of that tangent.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> atan(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::atan, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused atan(const A&, Where = Where::current()) = delete;

/// The hyperbolic sine.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> sinh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::sinh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused sinh(const A&, Where = Where::current()) = delete;

/// The hyperbolic cosine.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> cosh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::cosh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused cosh(const A&, Where = Where::current()) = delete;

/// The hyperbolic tangent.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> tanh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::tanh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused tanh(const A&, Where = Where::current()) = delete;

/// The inverse of sinh.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> asinh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::asinh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused asinh(const A&, Where = Where::current()) = delete;

/// The inverse of cosh, at least 0.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> acosh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::acosh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused acosh(const A&, Where = Where::current()) = delete;

/// The inverse of tanh.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> atanh(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::atanh, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused atanh(const A&, Where = Where::current()) = delete;

/// The error function 2/√π ∫₀ˣ exp(-t²) dt.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> erf(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::erf, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused erf(const A&, Where = Where::current()) = delete;

/// 1 - erf(x), without cancellation.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> erfc(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::erfc, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused erfc(const A&, Where = Where::current()) = delete;

/// The inverse of erf; ±1 gives ±∞.
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> erf_inv(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::erf_inv, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused erf_inv(const A&, Where = Where::current()) = delete;

/// The logistic function 1 / (1 + exp(-x)).
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
Like<A> sigmoid(const A& x, Where where = Where::current()) {
  return detail::unary<Like<A>>(core::UnaryOp::logistic, x, where);
}
template <class A, auto Why = detail::kOneOrNumber<A, Domain::floating>>
  requires IsMistake<Why>
Refused sigmoid(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
