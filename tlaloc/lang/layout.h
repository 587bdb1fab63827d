// Moving axes: transpose, reshape, flatten, broadcast_to, expand, squeeze, flip; cast.
#pragma once

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/rules_layout.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class A, class To>
struct TransposeRule;
template <auto... A, auto... To>
struct TransposeRule<Dims<A...>, Dims<To...>> {
  static constexpr rules::Over plan = rules::transpose(kSpecs<A...>, kSpecs<To...>);
  template <class T>
  using Result = Pick<T, TransposeRule, A...>;
};
template <class A, class To>
struct ReshapeRule;
template <auto... A, auto... To>
struct ReshapeRule<Dims<A...>, Dims<To...>> {
  static constexpr rules::Reshape plan = rules::reshape(kSpecs<A...>, kSpecs<To...>);
  template <class T>
  using Result = Tensor<T, To...>;
};
template <class A, class To>
struct BroadcastToRule;
template <auto... A, auto... To>
struct BroadcastToRule<Dims<A...>, Dims<To...>> {
  static constexpr rules::Broadcast plan = rules::broadcast_to(kSpecs<A...>, kSpecs<To...>);
  template <class T>
  using Result = Tensor<T, To...>;
};
template <class A, class Index>
struct ExpandRule;
template <auto... A, class Index>
struct ExpandRule<Dims<A...>, Index> {
  static constexpr rules::Over plan = rules::expand(kSpecs<A...>, Index::value);
  template <class T>
  using Result = Pick<T, ExpandRule, A...>;
};
template <class A, class Over>
struct SqueezeRule;
template <auto... A, class Over>
struct SqueezeRule<Dims<A...>, Over> {
  static constexpr rules::Over plan = rules::squeeze(kSpecs<A...>, kSpecsOf<Over>);
  template <class T>
  using Result = Pick<T, SqueezeRule, A...>;
};

/// The verdict of a rule whose list of axes comes from template arguments.
template <template <class...> class Rule, class A, bool ArrayToo, auto... To>
consteval auto listed_verdict() {
  if constexpr (!(kIsDim<decltype(To)> && ...)) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else {
    return rule_verdict<Rule, A, Domain::all, ArrayToo, Dims<To...>>();
  }
}
template <template <class...> class Rule, class A, bool ArrayToo, auto... To>
inline constexpr auto kListed = listed_verdict<Rule, A, ArrayToo, To...>();

/// The axes of the operand that a plan's axes come from; -1 for new ones.
constexpr rules::Ints axes_from(const rules::Plan& plan) {
  rules::Ints from;
  for (int i = 0; i < plan.rank; ++i) from.add(plan.axes[i].axis);
  return from;
}

}  // namespace detail

/// Result axis i is x's axis Order[i], given as indices or names; without any the axes are
/// reversed: transpose(m), transpose<0, 2, 1>(x), transpose<hidden, batch>(h). Errors: TL-RANK-001
/// (one entry per axis), TL-AXIS-001, TL-AXIS-002.
template <auto... Order, class A,
          auto Why = detail::kListed<detail::TransposeRule, A, true, Order...>>
detail::Ruled<detail::TransposeRule, void, A, Dims<Order...>> transpose(
    const A& x, Where where = Where::current()) {
  using R = detail::Ruled<detail::TransposeRule, void, A, Dims<Order...>>;
  if constexpr (detail::kByShape<R>) {
    const auto t = core::transpose_axes(x.ref(), kSpecs<Order...>, where);
    return R(core::transpose(x.ref(), t.over, t.axes, where));
  } else {
    using Rule = detail::TransposeRule<AxesOf<A>, Dims<Order...>>;
    return R(core::transpose(x.ref(), Rule::plan.axes_over, R::axes(), where));
  }
}
template <auto... Order, class A,
          auto Why = detail::kListed<detail::TransposeRule, A, true, Order...>>
  requires IsMistake<Why>
Refused transpose(const A&, Where = Where::current()) = delete;

/// The elements in row-major order under the axes To: reshape<batch, 28, 28>(x). The number of
/// elements must stay the same, as a product of sizes and names; one `any` is inferred.
/// Errors: TL-SHAPE-004 (numbers of elements), TL-SHAPE-005 (two sizes to infer), TL-AXIS-001 (an
/// axis without a size that x lacks).
template <auto... To, class A, auto Why = detail::kListed<detail::ReshapeRule, A, false, To...>>
detail::Ruled<detail::ReshapeRule, void, A, Dims<To...>> reshape(const A& x,
                                                                 Where where = Where::current()) {
  using R = detail::Ruled<detail::ReshapeRule, void, A, Dims<To...>>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    using Rule = detail::ReshapeRule<AxesOf<A>, Dims<To...>>;
    return R(core::reshape(x.ref(), Rule::plan.from, R::axes(), where));
  }
}
template <auto... To, class A, auto Why = detail::kListed<detail::ReshapeRule, A, false, To...>>
  requires IsMistake<Why>
Refused reshape(const A&, Where = Where::current()) = delete;

namespace detail {
/// Axes without a size that neither x nor `like` can give.
template <class A, class L, auto... To>
consteval auto broadcast_to_verdict() {
  constexpr auto kWhy = listed_verdict<BroadcastToRule, A, false, To...>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (kKind<A> != Kind::tensor || !std::is_same_v<L, Omitted>) {
    return Fine{};
  } else if constexpr (((spec_of(To).size < 0 && !spec_of(To).any &&
                         rules::find(kSpecsOf<AxesOf<A>>, spec_of(To)) == -1) ||
                        ...)) {
    return mistake("TL-SHAPE-009", "an axis lacks a size: give like");
  } else {
    return Fine{};
  }
}
template <class A, class L, auto... To>
inline constexpr auto kBroadcastTo = broadcast_to_verdict<A, L, To...>();
}  // namespace detail

/// x broadcast to the axes To. An axis without a size that x lacks takes it from `like`, a tensor
/// that carries it: broadcast_to<batch, hidden>(bias, x).
/// Errors: TL-SHAPE-001, TL-RANK-001, TL-SHAPE-009 (no size to be had).
template <auto... To, class A, class L = Omitted, auto Why = detail::kBroadcastTo<A, L, To...>>
detail::Ruled<detail::BroadcastToRule, void, A, Dims<To...>> broadcast_to(
    const A& x, const L& like = {}, Where where = Where::current()) {
  using R = detail::Ruled<detail::BroadcastToRule, void, A, Dims<To...>>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    using Rule = detail::BroadcastToRule<AxesOf<A>, Dims<To...>>;
    const core::Ref sizes[]{x.ref(), like.ref()};
    const std::size_t given = std::is_same_v<L, Omitted> ? 1 : 2;
    return R(core::broadcast(x.ref(), Rule::plan.axis_of_a, {sizes, given}, R::axes(), where));
  }
}
template <auto... To, class A, class L = Omitted, auto Why = detail::kBroadcastTo<A, L, To...>>
  requires IsMistake<Why>
Refused broadcast_to(const A&, const L& = {}, Where = Where::current()) = delete;

/// A literal 1 before axis Index of the result, negative from the end: expand<-1>(x).
/// Error: TL-AXIS-001.
template <int Index, class A,
          auto Why = detail::rule_verdict<detail::ExpandRule, A, Domain::all, false,
                                          std::integral_constant<int, Index>>()>
detail::Ruled<detail::ExpandRule, void, A, std::integral_constant<int, Index>> expand(
    const A& x, Where where = Where::current()) {
  using Place = std::integral_constant<int, Index>;
  using R = detail::Ruled<detail::ExpandRule, void, A, Place>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    using Rule = detail::ExpandRule<AxesOf<A>, Place>;
    return R(core::reshape(x.ref(), detail::axes_from(Rule::plan), R::axes(), where));
  }
}
template <int Index, class A,
          auto Why = detail::rule_verdict<detail::ExpandRule, A, Domain::all, false,
                                          std::integral_constant<int, Index>>()>
  requires IsMistake<Why>
Refused expand(const A&, Where = Where::current()) = delete;

/// Drops the named axes, each of size 1. Errors: TL-AXIS-001, TL-SHAPE-010 (another size).
template <auto... Over, class A, auto Why = detail::kListed<detail::SqueezeRule, A, false, Over...>>
detail::Ruled<detail::SqueezeRule, void, A, Dims<Over...>> squeeze(const A& x,
                                                                   Where where = Where::current()) {
  using R = detail::Ruled<detail::SqueezeRule, void, A, Dims<Over...>>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    using Rule = detail::SqueezeRule<AxesOf<A>, Dims<Over...>>;
    return R(core::squeeze(x.ref(), detail::axes_from(Rule::plan), R::axes(), where));
  }
}
template <auto... Over, class A, auto Why = detail::kListed<detail::SqueezeRule, A, false, Over...>>
  requires IsMistake<Why>
Refused squeeze(const A&, Where = Where::current()) = delete;

namespace detail {
template <class A, auto... Over>
inline constexpr auto kFlip = reduce_verdict<A, Domain::all, false, Omitted, Over...>();
}  // namespace detail

/// Reverses the order along the given axes; none: all (numpy.flip).
/// Errors: TL-AXIS-001, TL-AXIS-002.
template <auto... Over, class A, auto Why = detail::kFlip<A, Over...>>
Like<A> flip(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  const auto r = detail::reduction<detail::Reduced<A, void, false, Omitted, Over...>, false, A,
                                   Omitted, Over...>(x, {}, where);
  if constexpr (detail::kByShape<R>) {
    return R(core::reverse(x.ref(), r.over, {}, where));
  } else {
    return R(core::reverse(x.ref(), r.over, R::axes(), where));
  }
}
template <auto... Over, class A, auto Why = detail::kFlip<A, Over...>>
  requires IsMistake<Why>
Refused flip(const A&, Where = Where::current()) = delete;

namespace detail {
template <class T, class A>
consteval auto cast_verdict() {
  if constexpr (!kIsElement<T>)
    return mistake("TL-DTYPE-003", "no element type");
  else
    return one_verdict<A, Domain::all, false>();
}
template <class T, class A>
inline constexpr auto kCast = cast_verdict<T, A>();
}  // namespace detail

/// The same axes with elements of type T, converted as StableHLO's convert does: floating to
/// integer truncates, anything to bool is != 0. Error: TL-DTYPE-003 (T is no element type).
template <class T, class A, auto Why = detail::kCast<T, A>>
WithElement<A, T> cast(const A& x, Where where = Where::current()) {
  using R = WithElement<A, T>;
  if constexpr (detail::kByShape<R>) {
    return R(core::convert(x.ref(), dtype_of<T>, {}, where));
  } else {
    return R(core::convert(x.ref(), dtype_of<T>, R::axes(), where));
  }
}
template <class T, class A, auto Why = detail::kCast<T, A>>
  requires IsMistake<Why>
Refused cast(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
