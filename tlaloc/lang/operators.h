// Operators: arithmetic, comparisons, logic, and their assigning forms.
//
// Operands are a Tensor or Array and another one, or a number. Shapes follow the broadcasting rule
// (rules.h); there is no dtype promotion: a number takes the tensor's element type, and integers
// take integers only. Errors: TL-SHAPE-001 (shapes), TL-DTYPE-001 (dtypes differ), TL-DTYPE-002
// (floating number with integers), TL-DTYPE-003 (element type), TL-TYPE-002, TL-TYPE-003 (Array
// with Tensor); at run time TL-DTYPE-004 (number out of range) and TL-SHAPE-001 (sizes that types
// don't know).
#pragma once

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// At least one operand is Tlaloc's, so that the operators leave other types alone.
template <class A, class B>
concept Operands = Value<A> || Value<B>;

namespace detail {

template <class R, class A, class B>
R binary(core::BinaryOp op, const A& a, const B& b, Where where) {
  if constexpr (kByShape<R>) {
    return R(core::binary_by_shape(op, array_ref(a, b), array_ref(b, a), where));
  } else {
    using T = ElementOf<std::conditional_t<AnyTensor<A>, A, B>>;
    constexpr const rules::Broadcast& kPlan = BroadcastRule<AxesOf<A>, AxesOf<B>>::plan;
    return R(core::binary(op, operand_ref<T>(a), kPlan.axis_of_a, operand_ref<T>(b),
                          kPlan.axis_of_b, R::axes(), where));
  }
}
template <class R, class A>
R unary(core::UnaryOp op, const A& a, Where where) {
  if constexpr (kByShape<R>) {
    return R(core::unary(op, a.ref(), {}, where));
  } else if constexpr (Number<A>) {
    constexpr DType kComputed = std::is_same_v<A, float> ? DType::f32 : DType::f64;
    return static_cast<R>(core::unary_number(op, kComputed, static_cast<double>(a), where));
  } else {
    return R(core::unary(op, a.ref(), R::axes(), where));
  }
}

/// a op= b: the result must convert back to a's type.
template <class A, class B, Domain D>
consteval auto assign_verdict() {
  constexpr auto kWhy = two_verdict<A, B, D>();
  if constexpr (IsMistake<kWhy> || kKind<A> != Kind::tensor) {
    return kWhy;
  } else {
    return conversion_verdict<Broadcasted<A, B>, ElementOf<A>, AxesOf<A>>();
  }
}
template <class A, class B, Domain D>
inline constexpr auto kAssign = assign_verdict<A, B, D>();

}  // namespace detail

namespace operators {

// ---- arithmetic ----

/// a + b.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
Broadcasted<A, B> operator+(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::add, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator+(const A&, const B&) = delete;

/// a - b.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
Broadcasted<A, B> operator-(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::sub, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator-(const A&, const B&) = delete;

/// a * b, elementwise.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
Broadcasted<A, B> operator*(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::mul, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator*(const A&, const B&) = delete;

/// a / b, elementwise; integers truncate, as in C++.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
Broadcasted<A, B> operator/(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::div, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator/(const A&, const B&) = delete;

/// The remainder with the sign of a, as in C++ and std::fmod.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
Broadcasted<A, B> operator%(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::rem, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator%(const A&, const B&) = delete;

// ---- comparisons: bool tensors ----

/// a == b, elementwise; false where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::all>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator==(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::eq, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::all>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator==(const A&, const B&) = delete;

/// a != b, elementwise; true where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::all>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator!=(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::ne, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::all>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator!=(const A&, const B&) = delete;

/// a < b, elementwise; false where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator<(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::lt, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator<(const A&, const B&) = delete;

/// a <= b, elementwise; false where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator<=(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::le, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator<=(const A&, const B&) = delete;

/// a > b, elementwise; false where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator>(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::gt, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator>(const A&, const B&) = delete;

/// a >= b, elementwise; false where one is NaN.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B>
BroadcastedAs<A, B, bool> operator>=(const A& a, const B& b) {
  return detail::binary<BroadcastedAs<A, B, bool>>(core::BinaryOp::ge, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::number>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator>=(const A&, const B&) = delete;

// ---- logic: && and || on bool tensors, both sides are computed; & | ^ ~ on integers, bit by bit,
// and on bools ----

/// Both; bool tensors.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires Operands<A, B>
Broadcasted<A, B> operator&&(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_and, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator&&(const A&, const B&) = delete;

/// Either; bool tensors.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires Operands<A, B>
Broadcasted<A, B> operator||(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_or, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::boolean>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator||(const A&, const B&) = delete;

/// And of bits or bools.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B>
Broadcasted<A, B> operator&(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_and, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator&(const A&, const B&) = delete;

/// Or of bits or bools.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B>
Broadcasted<A, B> operator|(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_or, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator|(const A&, const B&) = delete;

/// Exclusive or of bits or bools.
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B>
Broadcasted<A, B> operator^(const A& a, const B& b) {
  return detail::binary<Broadcasted<A, B>>(core::BinaryOp::logical_xor, a, b, Where{});
}
template <class A, class B, auto Why = detail::kTwo<A, B, Domain::bits>>
  requires Operands<A, B> && IsMistake<Why>
Refused operator^(const A&, const B&) = delete;

// ---- one operand ----

/// -a; unsigned integers wrap.
template <class A, auto Why = detail::kOne<A, Domain::number>>
  requires Value<A>
Like<A> operator-(const A& a) {
  return detail::unary<Like<A>>(core::UnaryOp::neg, a, Where{});
}
template <class A, auto Why = detail::kOne<A, Domain::number>>
  requires Value<A> && IsMistake<Why>
Refused operator-(const A&) = delete;

/// Not; bool tensors.
template <class A, auto Why = detail::kOne<A, Domain::boolean>>
  requires Value<A>
Like<A> operator!(const A& a) {
  return detail::unary<Like<A>>(core::UnaryOp::logical_not, a, Where{});
}
template <class A, auto Why = detail::kOne<A, Domain::boolean>>
  requires Value<A> && IsMistake<Why>
Refused operator!(const A&) = delete;

/// Not, of bits or bools.
template <class A, auto Why = detail::kOne<A, Domain::bits>>
  requires Value<A>
Like<A> operator~(const A& a) {
  return detail::unary<Like<A>>(core::UnaryOp::logical_not, a, Where{});
}
template <class A, auto Why = detail::kOne<A, Domain::bits>>
  requires Value<A> && IsMistake<Why>
Refused operator~(const A&) = delete;

// ---- assigning forms: the handle is rebound, other handles keep the old value ----

/// a = a + b; the result must have a's type.
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A>
A& operator+=(A& a, const B& b) {
  return a = detail::binary<Broadcasted<A, B>>(core::BinaryOp::add, a, b, Where{});
}
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A> && IsMistake<Why>
A& operator+=(A&, const B&) = delete;

/// a = a - b; the result must have a's type.
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A>
A& operator-=(A& a, const B& b) {
  return a = detail::binary<Broadcasted<A, B>>(core::BinaryOp::sub, a, b, Where{});
}
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A> && IsMistake<Why>
A& operator-=(A&, const B&) = delete;

/// a = a * b; the result must have a's type.
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A>
A& operator*=(A& a, const B& b) {
  return a = detail::binary<Broadcasted<A, B>>(core::BinaryOp::mul, a, b, Where{});
}
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A> && IsMistake<Why>
A& operator*=(A&, const B&) = delete;

/// a = a / b; the result must have a's type.
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A>
A& operator/=(A& a, const B& b) {
  return a = detail::binary<Broadcasted<A, B>>(core::BinaryOp::div, a, b, Where{});
}
template <class A, class B, auto Why = detail::kAssign<A, B, Domain::number>>
  requires Value<A> && IsMistake<Why>
A& operator/=(A&, const B&) = delete;

}  // namespace operators
}  // namespace tlaloc
