// What an operation may be given, and the verdicts that all operations share.
#pragma once

#include <concepts>
#include <type_traits>

#include "tlaloc/lang/pick.h"

namespace tlaloc {

class Array;

/// Stands for an argument that was not given.
struct Omitted {
  core::Ref ref() const { return {}; }
};

namespace detail {
template <class S>
inline constexpr core::AxesSpec kSpecsOf{};
/// The axes of a Dims type as plain data.
template <auto... S>
inline constexpr core::AxesSpec kSpecsOf<Dims<S...>> = kSpecs<S...>;
}  // namespace detail

/// What kind of operand a type is.
enum class Kind : std::uint8_t { other, number, tensor, array, refused };

/// The element types that an operation takes.
enum class Domain : std::uint8_t {
  all,
  number,  ///< not bool
  floating,
  integer,
  boolean,
  bits,  ///< bool or integer
};

/// A type taken apart. `Whole` is the list of its axes.
template <class X>
struct Operand {
  static constexpr Kind kind = std::is_arithmetic_v<X> ? Kind::number : Kind::other;
  using Element = X;
  using Whole = Dims<>;
};
template <class T, auto... D>
struct Operand<Tensor<T, D...>> {
  static constexpr Kind kind = Kind::tensor;
  using Element = T;
  using Whole = Dims<D...>;
};
template <>
struct Operand<Array> {
  static constexpr Kind kind = Kind::array;
  using Element = void;
  using Whole = Dims<>;
};
template <>
struct Operand<Refused> {
  static constexpr Kind kind = Kind::refused;
  using Element = void;
  using Whole = Dims<>;
};

template <class X>
inline constexpr Kind kKind = Operand<X>::kind;
template <class X>
using ElementOf = typename Operand<X>::Element;
template <class X>
using AxesOf = typename Operand<X>::Whole;

/// Tensor<T, D...> for any T and D.
template <class X>
concept AnyTensor = kKind<X> == Kind::tensor;
/// A C++ number, bool included.
template <class X>
concept Number = kKind<X> == Kind::number;
/// A value of Tlaloc, or what a refused operation returned.
template <class X>
concept Value = kKind<X> == Kind::tensor || kKind<X> == Kind::array || kKind<X> == Kind::refused;

namespace detail {

template <class T>
inline constexpr bool kIsFloating = is_float(dtype_of<T>);

constexpr bool in_domain(DType t, Domain d) {
  switch (d) {
    case Domain::all:
      return true;
    case Domain::number:
      return t != DType::boolean;
    case Domain::floating:
      return is_float(t);
    case Domain::integer:
      return is_integer(t);
    case Domain::boolean:
      return t == DType::boolean;
    case Domain::bits:
      return t == DType::boolean || is_integer(t);
  }
  return false;
}
template <Domain D>
consteval auto domain_mistake() {
  if constexpr (D == Domain::number) {
    return mistake("TL-DTYPE-003", "bool in arithmetic: cast it");
  } else if constexpr (D == Domain::floating) {
    return mistake("TL-DTYPE-003", "a floating tensor is needed");
  } else if constexpr (D == Domain::integer) {
    return mistake("TL-DTYPE-003", "an integer tensor is needed");
  } else if constexpr (D == Domain::boolean) {
    return mistake("TL-DTYPE-003", "a bool tensor is needed");
  } else {
    return mistake("TL-DTYPE-003", "bools or integers are needed");
  }
}

/// One operand that must be a Tensor or an Array with elements of a domain; a number too if
/// `Numbers`.
template <class A, Domain D, bool Numbers>
consteval auto one_verdict() {
  if constexpr (kKind<A> == Kind::refused || kKind<A> == Kind::array) {
    return Fine{};
  } else if constexpr (kKind<A> == Kind::other || (!Numbers && kKind<A> == Kind::number)) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (kKind<A> == Kind::number) {
    if constexpr (std::is_floating_point_v<A>)
      return Fine{};
    else
      return mistake("TL-DTYPE-003", "a floating number is needed");
  } else if constexpr (!in_domain(dtype_of<ElementOf<A>>, D)) {
    return domain_mistake<D>();
  } else {
    return Fine{};
  }
}
template <class A, Domain D = Domain::all>
inline constexpr auto kOne = one_verdict<A, D, false>();
template <class A, Domain D>
inline constexpr auto kOneOrNumber = one_verdict<A, D, true>();

/// A number of type N where elements of type T are due.
template <class T, class N>
consteval auto number_verdict() {
  if constexpr (std::is_same_v<T, bool> != std::is_same_v<N, bool>) {
    return mistake("TL-DTYPE-003", "bool meets a number: cast it");
  } else if constexpr (!kIsFloating<T> && std::is_floating_point_v<N>) {
    return mistake("TL-DTYPE-002", "floating number with integers");
  } else {
    return Fine{};
  }
}

// ---- two operands that broadcast ----

template <class A, class B>
struct BroadcastRule;
template <auto... A, auto... B>
struct BroadcastRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Broadcast plan = rules::broadcast(kSpecs<A...>, kSpecs<B...>);
  template <class T, class Rule = BroadcastRule>
  using Result = Pick<T, Rule, A..., B...>;
};
template <auto... A>
struct BroadcastRule<Dims<A...>, Dims<A...>> {
  static constexpr rules::Broadcast plan = [] {
    rules::Broadcast same;
    for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) {
      same.axis_of_a.add(i);
      same.axis_of_b.add(i);
    }
    return same;
  }();
  template <class T>
  using Result = Tensor<T, A...>;
};

template <class A, class B, Domain D>
consteval auto two_verdict() {
  constexpr Kind kA = kKind<A>, kB = kKind<B>;
  if constexpr (kA == Kind::refused || kB == Kind::refused) {
    return Fine{};
  } else if constexpr (kA == Kind::other || kB == Kind::other) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (kA == Kind::array || kB == Kind::array) {
    if constexpr (kA == Kind::tensor || kB == Kind::tensor) {
      return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
    } else {
      return Fine{};
    }
  } else if constexpr (kA == Kind::number && kB == Kind::number) {
    return mistake("TL-TYPE-002", "numbers only, no tensor");
  } else if constexpr (kA == Kind::number || kB == Kind::number) {
    using T = ElementOf<std::conditional_t<kA == Kind::tensor, A, B>>;
    using N = std::conditional_t<kA == Kind::tensor, B, A>;
    if constexpr (!in_domain(dtype_of<T>, D))
      return domain_mistake<D>();
    else
      return number_verdict<T, N>();
  } else if constexpr (!std::is_same_v<ElementOf<A>, ElementOf<B>>) {
    return mistake("TL-DTYPE-001", "dtypes differ: cast one");
  } else if constexpr (!in_domain(dtype_of<ElementOf<A>>, D)) {
    return domain_mistake<D>();
  } else {
    return verdict_of<BroadcastRule<AxesOf<A>, AxesOf<B>>>();
  }
}
/// The verdict on an elementwise operation.
template <class A, class B, Domain D>
inline constexpr auto kTwo = two_verdict<A, B, D>();

/// The result type of two operands: T (void: the operands' element type) under the broadcast axes.
template <class A, class B, class T, Kind KA = kKind<A>, Kind KB = kKind<B>>
struct TwoResult {
  using type = Refused;
};
template <class T, class E>
using Or = std::conditional_t<std::is_void_v<T>, E, T>;
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::tensor, Kind::tensor> {
  using type = typename BroadcastRule<AxesOf<A>, AxesOf<B>>::template Result<Or<T, ElementOf<A>>>;
};
template <class X, class T>
struct WithElement {
  using type = X;
};
template <class E, auto... D, class T>
struct WithElement<Tensor<E, D...>, T> {
  using type = Tensor<Or<T, E>, D...>;
};
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::tensor, Kind::number> : WithElement<A, T> {};
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::number, Kind::tensor> : WithElement<B, T> {};
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::array, Kind::array> {
  using type = Array;
};
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::array, Kind::number> {
  using type = Array;
};
template <class A, class B, class T>
struct TwoResult<A, B, T, Kind::number, Kind::array> {
  using type = Array;
};

template <class A, Kind K = kKind<A>>
struct LikeImpl {
  using type = A;
};
template <class A>
struct LikeImpl<A, Kind::other> {
  using type = Refused;
};

/// Whether shapes are decided at run time. What a refused operation returned counts too: such code
/// compiles and never runs.
template <class R>
inline constexpr bool kByShape = std::is_same_v<R, Array> || std::is_same_v<R, Refused>;

// ---- rules that take lists of axes, and their verdicts ----

/// An operand with an own rule: Rule<AxesOf<A>, X...> for a Tensor.
template <template <class...> class Rule, class A, Domain D, bool ArrayToo, class... X>
consteval auto rule_verdict() {
  constexpr auto kWhy = one_verdict<A, D, false>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (kKind<A> == Kind::array && !ArrayToo) {
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  } else if constexpr (kKind<A> == Kind::tensor) {
    return verdict_of<Rule<AxesOf<A>, X...>>();
  } else {
    return Fine{};
  }
}
template <template <class...> class Rule, class T, class A, Kind K, class... X>
struct RuleResult {
  using type = Refused;
};
template <template <class...> class Rule, class T, class A, class... X>
struct RuleResult<Rule, T, A, Kind::tensor, X...> {
  using type = typename Rule<AxesOf<A>, X...>::template Result<Or<T, ElementOf<A>>>;
};
template <template <class...> class Rule, class T, class A, class... X>
struct RuleResult<Rule, T, A, Kind::array, X...> {
  using type = Array;
};
/// The result of Rule<AxesOf<A>, X...> with elements T (void: A's).
template <template <class...> class Rule, class T, class A, class... X>
using Ruled = typename RuleResult<Rule, T, A, kKind<A>, X...>::type;

/// Two Tensors of one element type with an own rule: Rule<AxesOf<A>, AxesOf<B>, X...>.
template <template <class...> class Rule, class A, class B, Domain D, bool ArrayToo, class... X>
consteval auto pair_verdict() {
  constexpr Kind kA = kKind<A>, kB = kKind<B>;
  if constexpr (kA == Kind::refused || kB == Kind::refused) {
    return Fine{};
  } else if constexpr (kA == Kind::other || kB == Kind::other || kA == Kind::number ||
                       kB == Kind::number) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (kA != kB) {
    return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
  } else if constexpr (kA == Kind::array) {
    if constexpr (ArrayToo)
      return Fine{};
    else
      return mistake("TL-TYPE-004", "not for Array: use tl::as");
  } else if constexpr (!std::is_same_v<ElementOf<A>, ElementOf<B>>) {
    return mistake("TL-DTYPE-001", "dtypes differ: cast one");
  } else if constexpr (!in_domain(dtype_of<ElementOf<A>>, D)) {
    return domain_mistake<D>();
  } else {
    return verdict_of<Rule<AxesOf<A>, AxesOf<B>, X...>>();
  }
}
template <template <class...> class Rule, class A, class B, Kind KA, Kind KB, class... X>
struct PairResult {
  using type = Refused;
};
template <template <class...> class Rule, class A, class B, class... X>
struct PairResult<Rule, A, B, Kind::tensor, Kind::tensor, X...> {
  using type = typename Rule<AxesOf<A>, AxesOf<B>, X...>::template Result<ElementOf<A>>;
};
template <template <class...> class Rule, class A, class B, class... X>
struct PairResult<Rule, A, B, Kind::array, Kind::array, X...> {
  using type = Array;
};
template <template <class...> class Rule, class A, class B, class... X>
using Paired = typename PairResult<Rule, A, B, kKind<A>, kKind<B>, X...>::type;

}  // namespace detail

/// The result of an operation that keeps its operand's type.
template <class A>
using Like = typename detail::LikeImpl<A>::type;
/// The operand's axes with another element type.
template <class A, class T>
using WithElement = typename detail::WithElement<Like<A>, T>::type;
/// The result of two operands that broadcast.
template <class A, class B>
using Broadcasted = typename detail::TwoResult<A, B, void>::type;
/// The same with elements of type T.
template <class A, class B, class T>
using BroadcastedAs = typename detail::TwoResult<A, B, T>::type;

}  // namespace tlaloc
