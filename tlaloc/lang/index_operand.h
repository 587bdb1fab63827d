// What can index a tensor, and the type of what comes out.
#pragma once

#include "tlaloc/lang/operand.h"
#include "tlaloc/lang/rules_index.h"

namespace tlaloc::detail {

/// A number as a value of dtype T. Integers are checked against T's range: TL-DTYPE-004.
template <class T, class N>
core::Ref number_ref(N number) {
  if constexpr (std::is_floating_point_v<N>) {
    return core::scalar(dtype_of<T>, static_cast<double>(number));
  } else if constexpr (std::is_unsigned_v<N>) {
    return core::scalar_unsigned(dtype_of<T>, static_cast<std::uint64_t>(number));
  } else {
    return core::scalar_int(dtype_of<T>, static_cast<std::int64_t>(number));
  }
}

template <class A, class Selector, class I>
struct TakeRule;
template <auto... A, class Selector, auto... I>
struct TakeRule<Dims<A...>, Selector, Dims<I...>> {
  static constexpr rules::Over plan = rules::take(kSpecs<A...>, Selector::spec, kSpecs<I...>);
  template <class T>
  using Result = Pick<T, TakeRule, A..., I...>;
};
struct FirstAxis {
  static constexpr core::AxisSpec spec{.size = 0};
};

/// Indices are integers: a number, a Tensor, or with an Array an Array.
template <class X, class I>
consteval auto index_verdict() {
  if constexpr (kKind<I> == Kind::refused) {
    return Fine{};
  } else if constexpr (kKind<I> == Kind::other) {
    return mistake("TL-TYPE-002", "the index is no tensor");
  } else if constexpr (kKind<I> == Kind::number) {
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>)
      return Fine{};
    else
      return mistake("TL-DTYPE-003", "an index is an integer");
  } else if constexpr (kKind<I> == Kind::array || kKind<X> == Kind::array) {
    if constexpr (kKind<I> == kKind<X>)
      return Fine{};
    else
      return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
  } else if constexpr (!is_integer(dtype_of<ElementOf<I>>)) {
    return mistake("TL-DTYPE-003", "an index is an integer");
  } else {
    return Fine{};
  }
}
template <class X, class Selector, class I>
consteval auto take_verdict() {
  constexpr auto kOperand = one_verdict<X, Domain::all, false>();
  constexpr auto kIndices = index_verdict<X, I>();
  if constexpr (IsMistake<kOperand>) {
    return kOperand;
  } else if constexpr (IsMistake<kIndices>) {
    return kIndices;
  } else if constexpr (kKind<X> == Kind::tensor && kKind<I> != Kind::refused) {
    return verdict_of<TakeRule<AxesOf<X>, Selector, AxesOf<I>>>();
  } else {
    return Fine{};
  }
}
template <class X, class Selector, class I>
inline constexpr auto kTake = take_verdict<X, Selector, I>();

/// Integers as a core value.
template <class I>
decltype(auto) index_ref(const I& i) {
  if constexpr (Number<I>) {
    return number_ref<std::int64_t>(i);
  } else {
    return i.ref();
  }
}

template <class X, class Selector, class I, Kind KX = kKind<X>, Kind KI = kKind<I>>
struct TakeResult {
  using type = typename TakeRule<AxesOf<X>, Selector, AxesOf<I>>::template Result<ElementOf<X>>;
};
template <class X, class Selector, class I, Kind KX, Kind KI>
  requires(KX != Kind::tensor || KI == Kind::refused || KI == Kind::other || KI == Kind::array)
struct TakeResult<X, Selector, I, KX, KI> {
  using type = std::conditional_t<KX == Kind::array, Array, Refused>;
};

}  // namespace tlaloc::detail
