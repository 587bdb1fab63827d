// Operands whose elements a function sees one by one: a tensor, or a tuple of tensors of one shape.
#pragma once

#include <tuple>

#include "tlaloc/lang/rules_nn.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc::detail {

template <class A, class B>
struct SameShapeRule;
template <auto... A, auto... B>
struct SameShapeRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::same(kSpecs<A...>, kSpecs<B...>);
};
/// Tensors of one shape, with elements of a domain.
template <Domain D, class A, class B, class... More>
consteval auto same_shape_verdict() {
  constexpr auto kWhy = one_verdict<B, D, false>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (kKind<B> == Kind::array) {
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  } else if constexpr (kKind<A> == Kind::tensor && kKind<B> == Kind::tensor) {
    using Rule = SameShapeRule<AxesOf<A>, AxesOf<B>>;
    if constexpr (sizeof...(More) == 0 || !Rule::plan.ok())
      return verdict_of<Rule>();
    else
      return same_shape_verdict<D, A, More...>();
  } else {
    return Fine{};
  }
}

template <class X>
struct Columns {
  using First = X;
  using Scalars = Refused;
  static constexpr auto verdict = same_shape_verdict<Domain::all, X, X>();
};
template <class T, auto... D>
struct Columns<Tensor<T, D...>> {
  using First = Tensor<T, D...>;
  using Scalars = Tensor<T>;
  static constexpr Fine verdict{};
};
template <class A, class... B>
struct Columns<std::tuple<A, B...>> {
  using First = A;
  using Scalars = std::tuple<typename Columns<A>::Scalars, typename Columns<B>::Scalars...>;
  static constexpr auto verdict = same_shape_verdict<Domain::all, A, A, B...>();
};
/// What a function gets of one element of X: a scalar, or a tuple of scalars.
template <class X>
using ScalarsOf = typename Columns<X>::Scalars;
/// The verdict on X as such an operand.
template <class X>
inline constexpr auto kColumns = Columns<X>::verdict;
/// Whether a refused operation made a part of X: then there is nothing to run.
template <class X>
inline constexpr bool kRefused = std::is_same_v<X, Refused>;
template <class... P>
inline constexpr bool kRefused<std::tuple<P...>> = (kRefused<P> || ...);

}  // namespace tlaloc::detail
