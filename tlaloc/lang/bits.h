// Bits of elements: bitcast_convert, reduce_precision; optimization_barrier.
#pragma once

#include "tlaloc/lang/core_bits.h"
#include "tlaloc/lang/rules_bits.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class A, class From, class To>
struct BitcastRule;
template <auto... A, class From, class To>
struct BitcastRule<Dims<A...>, From, To> {
  static constexpr rules::Plan plan =
      rules::bitcast(kSpecs<A...>, static_cast<int>(sizeof(From)), static_cast<int>(sizeof(To)));
  template <class>
  using Result = Pick<To, BitcastRule, A...>;
};
template <class T, class A>
consteval auto bitcast_verdict() {
  if constexpr (!kIsElement<T> || std::is_same_v<T, bool>) {
    return mistake("TL-DTYPE-003", "no element type with bits");
  } else if constexpr (kKind<A> != Kind::tensor) {
    return one_verdict<A, Domain::number, false>();
  } else {
    return rule_verdict<BitcastRule, A, Domain::number, true, ElementOf<A>, T>();
  }
}
template <class T, class A>
inline constexpr auto kBitcast = bitcast_verdict<T, A>();
template <class T, class A, Kind K = kKind<A>>
struct BitcastResult {
  using type = std::conditional_t<K == Kind::array, Array, Refused>;
};
template <class T, class A>
struct BitcastResult<T, A, Kind::tensor> {
  using type = Ruled<BitcastRule, void, A, ElementOf<A>, T>;
};

template <int Exponent, int Mantissa, class A>
consteval auto precision_verdict() {
  if constexpr (Exponent < 1 || Mantissa < 0)
    return mistake("TL-ATTR-001", "exponent >= 1 and mantissa >= 0 bits");
  else
    return one_verdict<A, Domain::floating, false>();
}
template <int Exponent, int Mantissa, class A>
inline constexpr auto kPrecision = precision_verdict<Exponent, Mantissa, A>();

}  // namespace detail

/// The bits of x as elements of type T. Of equal width: x's axes; a narrower T appends an axis of
/// parts, the least significant first: f64 [n] -> u32 [n, 2]; a wider T takes such an axis away.
/// It has no derivative. Errors: TL-DTYPE-003 (bool), TL-RANK-001 and TL-SHAPE-004 (the last axis
/// does not hold the parts of one element).
template <class T, class A, auto Why = detail::kBitcast<T, A>>
typename detail::BitcastResult<T, A>::type bitcast_convert(const A& x,
                                                           Where where = Where::current()) {
  using R = typename detail::BitcastResult<T, A>::type;
  return R(core::bitcast_convert(x.ref(), dtype_of<T>, detail::labels<R>(), where));
}
template <class T, class A, auto Why = detail::kBitcast<T, A>>
  requires IsMistake<Why>
Refused bitcast_convert(const A&, Where = Where::current()) = delete;

/// x rounded, halves to even, to a floating format with that many bits, and back to its own:
/// reduce_precision<8, 7>(x) rounds as bfloat16 does. Its derivative is rounded likewise. Errors:
/// TL-ATTR-001 (no such format), TL-DTYPE-003.
template <int Exponent, int Mantissa, class A, auto Why = detail::kPrecision<Exponent, Mantissa, A>>
Like<A> reduce_precision(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::reduce_precision(x.ref(), Exponent, Mantissa, detail::labels<R>(), where));
}
template <int Exponent, int Mantissa, class A, auto Why = detail::kPrecision<Exponent, Mantissa, A>>
  requires IsMistake<Why>
Refused reduce_precision(const A&, Where = Where::current()) = delete;

/// x itself, which is never computed once for two places: what is behind it is not merged with what
/// is in front. Derivatives go through.
template <class A, auto Why = detail::kOne<A>>
Like<A> optimization_barrier(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::optimization_barrier(x.ref(), detail::labels<R>(), where));
}
template <class A, auto Why = detail::kOne<A>>
  requires IsMistake<Why>
Refused optimization_barrier(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
