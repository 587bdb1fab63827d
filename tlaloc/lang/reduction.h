// How operations name the axes they work on: template indices or names, sum<0>(x), sum<batch>(x),
// or an argument, sum(x, batch); none means all.
#pragma once

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/rules_layout.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc::detail {

template <class K, auto... Over>
struct SelectorsImpl {
  using type = Dims<Over...>;
};
template <AxisValue K, auto... Over>
struct SelectorsImpl<K, Over...> {
  using type = Dims<K{}>;
};
/// The axes named by an argument of type K or by template arguments.
template <class K, auto... Over>
using Selectors = typename SelectorsImpl<K, Over...>::type;

/// Whether K and Over name axes at all. An int argument is for Arrays, whose rank no type knows.
template <class A, class K, auto... Over>
consteval auto selector_verdict() {
  if constexpr (!(kIsDim<decltype(Over)> && ...)) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else if constexpr (std::is_same_v<K, Omitted>) {
    return Fine{};
  } else if constexpr (sizeof...(Over) > 0) {
    return mistake("TL-AXIS-004", "axes given twice");
  } else if constexpr (AxisValue<K> || (std::is_integral_v<K> && kKind<A> != Kind::tensor)) {
    return Fine{};
  } else if constexpr (std::is_integral_v<K>) {
    return mistake("TL-AXIS-004", "write the index as op<0>(x)");
  } else {
    return mistake("TL-AXIS-004", "not an axis");
  }
}

template <class A, class S, class Keep>
struct ReduceRule;
template <auto... A, class S, class Keep>
struct ReduceRule<Dims<A...>, S, Keep> {
  static constexpr rules::Over plan = rules::reduce(kSpecs<A...>, kSpecsOf<S>, Keep::value);
  template <class T, class Rule = ReduceRule>
  using Result = Pick<T, Rule, A...>;
};

template <class A, Domain D, bool Keep, class K, auto... Over>
consteval auto reduce_verdict() {
  constexpr auto kWhy = selector_verdict<A, K, Over...>();
  if constexpr (IsMistake<kWhy> && kKind<A> == Kind::tensor) {
    return kWhy;
  } else {
    return rule_verdict<ReduceRule, A, D, true, Selectors<K, Over...>, std::bool_constant<Keep>>();
  }
}
template <class A, Domain D, bool Keep, class K, auto... Over>
inline constexpr auto kReduce = reduce_verdict<A, D, Keep, K, Over...>();

/// The result type of a reduction, with elements T (void: A's).
template <class A, class T, bool Keep, class K, auto... Over>
using Reduced = Ruled<ReduceRule, T, A, Selectors<K, Over...>, std::bool_constant<Keep>>;

/// The axes of a typed reduction.
struct Reduction {
  std::span<const int> over;
  core::AxesSpec axes;
};
template <class R, bool Keep, class A, class K, auto... Over>
auto reduction(const A& x, [[maybe_unused]] K axis, [[maybe_unused]] Where where) {
  using S = Selectors<K, Over...>;
  if constexpr (kByShape<R> && std::is_integral_v<K>) {
    const core::AxisSpec index{.size = static_cast<std::int64_t>(axis)};
    return core::reduce_axes(x.ref(), {&index, 1}, Keep, where);
  } else if constexpr (kByShape<R>) {
    return core::reduce_axes(x.ref(), kSpecsOf<S>, Keep, where);
  } else {
    return Reduction{ReduceRule<AxesOf<A>, S, std::bool_constant<Keep>>::plan.axes_over, R::axes()};
  }
}

// ---- one axis ----

/// A single axis chosen by Ax or by an argument of type K: a rule's selector, and its place.
template <class K, auto Ax>
struct OneSelector {
  static constexpr core::AxisSpec spec = spec_of(Ax);
};
template <AxisValue K, auto Ax>
struct OneSelector<K, Ax> {
  static constexpr core::AxisSpec spec = K::spec;
};
template <class A, class Selector>
struct KeepRule;
template <auto... A, class Selector>
struct KeepRule<Dims<A...>, Selector> {
  static constexpr rules::Over plan = rules::keep_all(kSpecs<A...>, Selector::spec);
  template <class T>
  using Result = Tensor<T, A...>;
};
template <class A, Domain D, class K, auto Ax>
consteval auto along_verdict() {
  constexpr auto kWhy = selector_verdict<A, K>();
  if constexpr (!kIsDim<decltype(Ax)>) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else if constexpr (IsMistake<kWhy> && kKind<A> == Kind::tensor) {
    return kWhy;
  } else {
    return rule_verdict<KeepRule, A, D, true, OneSelector<K, Ax>>();
  }
}
/// The verdict on an operation along one axis that keeps the shape.
template <class A, Domain D, class K, auto Ax>
inline constexpr auto kAlong = along_verdict<A, D, K, Ax>();

/// The place of the axis.
template <auto Ax, class A, class K>
int place_of(const A& x, [[maybe_unused]] K axis, [[maybe_unused]] Where where) {
  if constexpr (kKind<A> == Kind::tensor) {
    return KeepRule<AxesOf<A>, OneSelector<K, Ax>>::plan.axes_over[0];
  } else if constexpr (std::is_integral_v<K>) {
    return core::choose_axis(x.ref(), {.size = static_cast<std::int64_t>(axis)}, where);
  } else {
    return core::choose_axis(x.ref(), OneSelector<K, Ax>::spec, where);
  }
}

}  // namespace tlaloc::detail
