// Joining: concat, stack.
#pragma once

#include <tuple>

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/rules_layout.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class Selector, class... A>
struct ConcatRule {
  static constexpr core::AxesSpec operands[]{kSpecsOf<A>...};
  static constexpr rules::Over plan = rules::concat(operands, Selector::spec);
  template <class T>
  using Result = typename PickJoined<ConcatRule, T, A...>::type;
};
template <class Place, class Count, class... A>
struct StackRule {
  static constexpr core::AxesSpec operands[]{kSpecsOf<A>...};
  static constexpr rules::Over plan = rules::stack(operands, Place::value, Count::value);
  template <class T>
  using Result = typename PickJoined<StackRule, T, A...>::type;
};

/// std::array, std::vector, std::span and their like, by their members.
template <class X>
concept TensorRange = requires(const X& x) {
  x.data();
  x.size();
  requires AnyTensor<std::remove_cvref_t<decltype(*x.data())>>;
} && !Value<X>;
template <class X>
using RangeElement = std::remove_cvref_t<decltype(*std::declval<const X&>().data())>;

/// The operands of a variadic join: tensors of one element type, Arrays, or one range of tensors.
template <class A, class... B>
consteval auto join_verdict() {
  if constexpr (kKind<A> == Kind::refused || ((kKind<B> == Kind::refused) || ...)) {
    return Fine{};
  } else if constexpr (sizeof...(B) == 0 && TensorRange<A>) {
    return Fine{};
  } else if constexpr (!(Value<A> && (Value<B> && ...))) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (!((kKind<A> == kKind<B>) && ...)) {
    return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
  } else if constexpr (!(std::is_same_v<ElementOf<A>, ElementOf<B>> && ...)) {
    return mistake("TL-DTYPE-001", "dtypes differ: cast one");
  } else {
    return Fine{};
  }
}
template <auto Ax, class A, class... B>
consteval auto concat_verdict() {
  constexpr auto kWhy = join_verdict<A, B...>();
  if constexpr (!kIsDim<decltype(Ax)>) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (TensorRange<A>) {
    return verdict_of<ConcatRule<OneSelector<Omitted, Ax>, AxesOf<RangeElement<A>>>>();
  } else if constexpr (kKind<A> == Kind::tensor && ((kKind<B> == Kind::tensor) && ...)) {
    return verdict_of<ConcatRule<OneSelector<Omitted, Ax>, AxesOf<A>, AxesOf<B>...>>();
  } else {
    return Fine{};
  }
}
template <auto Ax, class... A>
inline constexpr auto kConcat = concat_verdict<Ax, A...>();
template <int Place, class A, class... B>
consteval auto stack_verdict() {
  constexpr auto kWhy = join_verdict<A, B...>();
  using P = std::integral_constant<int, Place>;
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (TensorRange<A>) {
    return verdict_of<StackRule<P, std::integral_constant<int, -1>, AxesOf<RangeElement<A>>>>();
  } else if constexpr (kKind<A> == Kind::tensor && ((kKind<B> == Kind::tensor) && ...)) {
    return verdict_of<
        StackRule<P, std::integral_constant<int, 1 + sizeof...(B)>, AxesOf<A>, AxesOf<B>...>>();
  } else {
    return Fine{};
  }
}
template <int Place, class... A>
inline constexpr auto kStack = stack_verdict<Place, A...>();

enum class JoinKind : std::uint8_t { refused, tensors, arrays, range };
template <class A, class... B>
inline constexpr JoinKind kJoinKind =
    sizeof...(B) == 0 && TensorRange<A>                               ? JoinKind::range
    : kKind<A> == Kind::tensor && ((kKind<B> == Kind::tensor) && ...) ? JoinKind::tensors
    : kKind<A> == Kind::array && ((kKind<B> == Kind::array) && ...)   ? JoinKind::arrays
                                                                      : JoinKind::refused;
template <JoinKind K, auto Ax, class... A>
struct ConcatResult {
  using type = Refused;
};
template <auto Ax, class A, class... B>
struct ConcatResult<JoinKind::tensors, Ax, A, B...> {
  using type = typename ConcatRule<OneSelector<Omitted, Ax>, AxesOf<A>,
                                   AxesOf<B>...>::template Result<ElementOf<A>>;
};
template <auto Ax, class... A>
struct ConcatResult<JoinKind::arrays, Ax, A...> {
  using type = Array;
};
template <class A, class Selector>
struct WidenRule;  // the chosen axis becomes `any`
template <auto... A, class Selector>
struct WidenRule<Dims<A...>, Selector> {
  static constexpr rules::Over plan = [] {
    rules::Over widened = rules::keep_all(kSpecs<A...>, Selector::spec);
    if (widened.ok()) widened.axes[widened.axes_over[0]] = {};
    return widened;
  }();
  template <class T>
  using Result = Pick<T, WidenRule, A...>;
};
template <auto Ax, class A>
struct ConcatResult<JoinKind::range, Ax, A> {
  using type =
      typename WidenRule<AxesOf<RangeElement<A>>,
                         OneSelector<Omitted, Ax>>::template Result<ElementOf<RangeElement<A>>>;
};
template <JoinKind K, int Place, class... A>
struct StackResult {
  using type = Refused;
};
template <int Place, class A, class... B>
struct StackResult<JoinKind::tensors, Place, A, B...> {
  using type = typename StackRule<std::integral_constant<int, Place>,
                                  std::integral_constant<int, 1 + sizeof...(B)>, AxesOf<A>,
                                  AxesOf<B>...>::template Result<ElementOf<A>>;
};
template <int Place, class... A>
struct StackResult<JoinKind::arrays, Place, A...> {
  using type = Array;
};
template <int Place, class A>
struct StackResult<JoinKind::range, Place, A> {
  using type =
      typename StackRule<std::integral_constant<int, Place>, std::integral_constant<int, -1>,
                         AxesOf<RangeElement<A>>>::template Result<ElementOf<RangeElement<A>>>;
};

/// The values of a range of tensors: a tensor is its Ref and nothing else.
template <class X>
std::span<const core::Ref> refs_of(const X& range) {
  static_assert(sizeof(RangeElement<X>) == sizeof(core::Ref));
  return {reinterpret_cast<const core::Ref*>(range.data()), range.size()};
}

}  // namespace detail

/// The result types of concat and stack.
template <auto Ax, class... A>
using Concatenated = typename detail::ConcatResult<detail::kJoinKind<A...>, Ax, A...>::type;
template <int Place, class... A>
using Stacked = typename detail::StackResult<detail::kJoinKind<A...>, Place, A...>::type;

/// Joins along axis Ax, an index or a name: concat<1>(a, b): [n, 128], [n, 10] -> [n, 138]. Sizes
/// add up where types know them; otherwise the axis becomes `any`. Or one std::vector or std::array
/// of tensors: concat<0>(parts).
/// Errors: TL-SHAPE-006 (another axis differs), TL-RANK-001, TL-AXIS-001, TL-DTYPE-001.
template <auto Ax, class... A, auto Why = detail::kConcat<Ax, A...>>
Concatenated<Ax, A...> concat(const A&... xs) {
  using R = Concatenated<Ax, A...>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else if constexpr (detail::kJoinKind<A...> == detail::JoinKind::range) {
    using X = detail::RangeElement<std::tuple_element_t<0, std::tuple<A...>>>;
    constexpr int kAxis =
        detail::KeepRule<AxesOf<X>, detail::OneSelector<Omitted, Ax>>::plan.axes_over[0];
    return R(core::concat(detail::refs_of(xs...), kAxis, R::axes(), Where{}));
  } else {
    const core::Ref refs[]{xs.ref()...};
    if constexpr (std::is_same_v<R, Array>) {
      return R(core::concat(refs, core::choose_axis(refs[0], spec_of(Ax), Where{}), {}, Where{}));
    } else {
      using Rule = detail::ConcatRule<detail::OneSelector<Omitted, Ax>, AxesOf<A>...>;
      return R(core::concat(refs, Rule::plan.axes_over[0], R::axes(), Where{}));
    }
  }
}
template <auto Ax, class... A, auto Why = detail::kConcat<Ax, A...>>
  requires IsMistake<Why>
Refused concat(const A&...) = delete;

/// Joins along a new axis at Place of the result: stack<0>(a, b): [n], [n] -> [2, n]. Or one
/// std::vector or std::array of tensors; then the new axis is `any`.
/// Errors: TL-SHAPE-006, TL-RANK-001, TL-AXIS-001, TL-DTYPE-001.
template <int Place, class... A, auto Why = detail::kStack<Place, A...>>
Stacked<Place, A...> stack(const A&... xs) {
  using R = Stacked<Place, A...>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else if constexpr (detail::kJoinKind<A...> == detail::JoinKind::range) {
    constexpr int kPlace = Place < 0 ? Place + R::rank : Place;
    return R(core::stack(detail::refs_of(xs...), kPlace, R::axes(), Where{}));
  } else {
    const core::Ref refs[]{xs.ref()...};
    if constexpr (std::is_same_v<R, Array>) {
      const int place = Place < 0 ? Place + core::rank(refs[0]) + 1 : Place;
      return R(core::stack(refs, place, {}, Where{}));
    } else {
      constexpr int kPlace = Place < 0 ? Place + R::rank : Place;
      return R(core::stack(refs, kPlace, R::axes(), Where{}));
    }
  }
}
template <int Place, class... A, auto Why = detail::kStack<Place, A...>>
  requires IsMistake<Why>
Refused stack(const A&...) = delete;

}  // namespace tlaloc
