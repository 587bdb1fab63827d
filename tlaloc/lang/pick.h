// From a rule's plan to a Tensor type.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include "tlaloc/lang/rules.h"

namespace tlaloc {

template <class T, auto... D>
class Tensor;

namespace detail {

// Selects values of a pack by index in one step per index: by deduction from a base class.
template <std::size_t I, auto V>
struct Slot {
  static constexpr auto value = V;
};
template <class Indices, auto... V>
struct Slots;
template <std::size_t... I, auto... V>
struct Slots<std::index_sequence<I...>, V...> : Slot<I, V>... {};
template <std::size_t I, auto V>
Slot<I, V> slot_at(const Slot<I, V>*);

/// An axis that a plan adds: a literal size, or `any` where there is none.
template <std::int64_t Size>
struct NewAxis {
  static constexpr int value = Size;
};
template <std::int64_t Size>
  requires(Size<0 || Size> std::numeric_limits<int>::max())
struct NewAxis<Size> {
  static constexpr Any value{};
};

template <int Axis, std::int64_t Size, class S>
struct AxisOf {
  static constexpr auto value =
      decltype(slot_at<static_cast<std::size_t>(Axis)>(static_cast<const S*>(nullptr)))::value;
};
template <std::int64_t Size, class S>
struct AxisOf<-1, Size, S> : NewAxis<Size> {};

// Rule is a class with a static `plan`: a class-type template argument in its place is an internal
// error of g++ 12.
template <class T, class Rule, class Indices, auto... V>
struct PickImpl;
template <class T, class Rule, std::size_t... I, auto... V>
struct PickImpl<T, Rule, std::index_sequence<I...>, V...> {
  using S = Slots<std::make_index_sequence<sizeof...(V)>, V...>;
  using type = Tensor<T, AxisOf<Rule::plan.axes[I].axis, Rule::plan.axes[I].size, S>::value...>;
};

/// The Tensor type that Rule::plan makes of the operands' axes V.
template <class T, class Rule, auto... V>
using Pick = typename PickImpl<T, Rule, std::make_index_sequence<Rule::plan.rank>, V...>::type;

/// A list of Dims, one per operand, spliced.
template <class Rule, class T, class Joined, class... Rest>
struct PickJoined;
template <class Rule, class T, auto... D>
struct PickJoined<Rule, T, Dims<D...>> {
  using type = Pick<T, Rule, D...>;
};
template <class Rule, class T, auto... D, auto... E, class... Rest>
struct PickJoined<Rule, T, Dims<D...>, Dims<E...>, Rest...>
    : PickJoined<Rule, T, Dims<D..., E...>, Rest...> {};

}  // namespace detail
}  // namespace tlaloc
