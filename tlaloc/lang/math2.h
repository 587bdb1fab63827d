// Elementwise mathematics, two operands that broadcast (rules.h); one may be a number.
// Errors: as for the operators (operators.h).
#pragma once

#include "tlaloc/lang/operators.h"

namespace tlaloc {

/// The larger one; NaN if either is.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
Broadcasted<A, B> maximum(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::max, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires IsMistake<Why>
Refused maximum(const A&, const B&, Where = Where::current()) = delete;

/// The smaller one; NaN if either is.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
Broadcasted<A, B> minimum(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::min, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires IsMistake<Why>
Refused minimum(const A&, const B&, Where = Where::current()) = delete;

/// aᵇ; for integers b must not be negative.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
Broadcasted<A, B> pow(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::pow, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires IsMistake<Why>
Refused pow(const A&, const B&, Where = Where::current()) = delete;

/// The angle of the point (b, a) in [-π, π].
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::floating>>
Broadcasted<A, B> atan2(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::atan2, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::floating>>
  requires IsMistake<Why>
Refused atan2(const A&, const B&, Where = Where::current()) = delete;

/// As operator%: the sign of a.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
Broadcasted<A, B> remainder(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::rem, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires IsMistake<Why>
Refused remainder(const A&, const B&, Where = Where::current()) = delete;

/// As &&.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
Broadcasted<A, B> logical_and(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_and, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires IsMistake<Why>
Refused logical_and(const A&, const B&, Where = Where::current()) = delete;

/// As ||.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
Broadcasted<A, B> logical_or(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_or, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires IsMistake<Why>
Refused logical_or(const A&, const B&, Where = Where::current()) = delete;

/// Exactly one of them.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
Broadcasted<A, B> logical_xor(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_xor, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires IsMistake<Why>
Refused logical_xor(const A&, const B&, Where = Where::current()) = delete;

/// a · 2ᵇ bit by bit; b not below the width gives 0.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
Broadcasted<A, B> shift_left(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::shift_left, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
  requires IsMistake<Why>
Refused shift_left(const A&, const B&, Where = Where::current()) = delete;

/// floor(a / 2ᵇ): copies of the sign bit come in.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
Broadcasted<A, B> shift_right(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::shift_right_arithmetic, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
  requires IsMistake<Why>
Refused shift_right(const A&, const B&, Where = Where::current()) = delete;

/// Zeros come in.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
Broadcasted<A, B> shift_right_logical(const A& a, const B& b, Where where = Where::current()) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::shift_right_logical, a, b, where);
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::integer>>
  requires IsMistake<Why>
Refused shift_right_logical(const A&, const B&, Where = Where::current()) = delete;

}  // namespace tlaloc
