// Choosing elementwise between values: select, where, clip.
#pragma once

#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/pick.h"

namespace tlaloc {
namespace detail {

template <class P, class A, class B>
struct Broadcast3Rule;
template <auto... P, auto... A, auto... B>
struct Broadcast3Rule<Dims<P...>, Dims<A...>, Dims<B...>> {
  static constexpr rules::Broadcast3 plan =
      rules::broadcast(kSpecs<P...>, kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Pick<T, Broadcast3Rule, P..., A..., B...>;
};

/// The element type of two choices: the tensor's, or that of two numbers.
template <class A, class B, Kind KA = kKind<A>, Kind KB = kKind<B>>
struct ChoiceElement {
  using type = ElementOf<std::conditional_t<KA == Kind::tensor, A, B>>;
};
template <class A, class B>
struct ChoiceElement<A, B, Kind::number, Kind::number> {
  using type = std::common_type_t<A, B>;
};

template <class P, class A, class B>
consteval auto select_verdict() {
  constexpr Kind kP = kKind<P>, kA = kKind<A>, kB = kKind<B>;
  constexpr bool kNumbers = kA == Kind::number && kB == Kind::number;
  if constexpr (kP == Kind::refused || kA == Kind::refused || kB == Kind::refused) {
    return Fine{};
  } else if constexpr (kP == Kind::number) {
    return mistake("TL-TYPE-002", "the condition is no tensor");
  } else if constexpr (kP == Kind::other || kA == Kind::other || kB == Kind::other) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (kP == Kind::array) {
    if constexpr (kA == Kind::tensor || kB == Kind::tensor) {
      return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
    } else if constexpr (kNumbers) {
      return mistake("TL-TYPE-004", "numbers only: use one Array");
    } else {
      return Fine{};
    }
  } else if constexpr (!std::is_same_v<ElementOf<P>, bool>) {
    return mistake("TL-DTYPE-003", "the condition must be bool");
  } else if constexpr (kNumbers) {
    if constexpr (kIsElement<typename ChoiceElement<A, B>::type>)
      return Fine{};
    else
      return mistake("TL-DTYPE-003", "no element type of this kind");
  } else {
    constexpr auto kWhy = two_verdict<A, B, Domain::all>();
    // The pair may align through the condition only, so only other mistakes count here.
    if constexpr (IsMistake<kWhy> && !(kA == Kind::tensor && kB == Kind::tensor &&
                                       std::is_same_v<ElementOf<A>, ElementOf<B>>)) {
      return kWhy;
    } else {
      return verdict_of<Broadcast3Rule<AxesOf<P>, AxesOf<A>, AxesOf<B>>>();
    }
  }
}
template <class P, class A, class B>
inline constexpr auto kSelect = select_verdict<P, A, B>();

template <class P, class A, class B, Kind KP = kKind<P>>
struct SelectResult {
  using type = Refused;
};
template <class P, class A, class B>
  requires(kKind<A> != Kind::refused && kKind<A> != Kind::other && kKind<A> != Kind::array &&
           kKind<B> != Kind::refused && kKind<B> != Kind::other && kKind<B> != Kind::array)
struct SelectResult<P, A, B, Kind::tensor> {
  using type =
      typename Broadcast3Rule<AxesOf<P>, AxesOf<A>,
                              AxesOf<B>>::template Result<typename ChoiceElement<A, B>::type>;
};
template <class P, class A, class B>
struct SelectResult<P, A, B, Kind::array> {
  using type = Array;
};

}  // namespace detail

/// The result type of select.
template <class P, class A, class B>
using Selected = typename detail::SelectResult<P, A, B>::type;

/// a where p is true, b where it is false. All three broadcast: p with a, then b with both; a and b
/// may be numbers. Derivatives flow to the chosen side only.
/// Errors: TL-DTYPE-003 (p is not bool), TL-DTYPE-001, TL-SHAPE-001, TL-TYPE-002, TL-TYPE-003.
template <class P, class A, class B, auto Why = detail::kSelect<P, A, B>>
Selected<P, A, B> select(const P& p, const A& a, const B& b, Where where = Where::current()) {
  using R = Selected<P, A, B>;
  if constexpr (detail::kByShape<R>) {
    return R(
        core::select_by_shape(p.ref(), detail::array_ref(a, b), detail::array_ref(b, a), where));
  } else {
    using T = typename R::element_type;
    constexpr const rules::Broadcast3& kPlan =
        detail::Broadcast3Rule<AxesOf<P>, AxesOf<A>, AxesOf<B>>::plan;
    return R(core::select(p.ref(), kPlan.axis_of_a, detail::operand_ref<T>(a), kPlan.axis_of_b,
                          detail::operand_ref<T>(b), kPlan.axis_of_c, R::axes(), where));
  }
}
template <class P, class A, class B, auto Why = detail::kSelect<P, A, B>>
  requires IsMistake<Why>
Refused select(const P&, const A&, const B&, Where = Where::current()) = delete;

/// As select, under numpy's name.
template <class P, class A, class B, auto Why = detail::kSelect<P, A, B>>
Selected<P, A, B> where(const P& p, const A& a, const B& b, Where place = Where::current()) {
  return select(p, a, b, place);
}
template <class P, class A, class B, auto Why = detail::kSelect<P, A, B>>
  requires IsMistake<Why>
Refused where(const P&, const A&, const B&, Where = Where::current()) = delete;

namespace detail {
template <class A, class L, class H>
consteval auto clip_verdict() {
  constexpr auto kLow = assign_verdict<A, L, Domain::number>();
  constexpr auto kHigh = assign_verdict<A, H, Domain::number>();
  if constexpr (Number<A>)
    return mistake("TL-TYPE-002", "not a tensor");
  else if constexpr (IsMistake<kLow>)
    return kLow;
  else
    return kHigh;
}
template <class A, class L, class H>
inline constexpr auto kClip = clip_verdict<A, L, H>();
}  // namespace detail

/// min(max(x, low), high); the bounds are numbers or tensors that broadcast to x without changing
/// its shape. Errors: as for the operators.
template <class A, class L, class H, auto Why = detail::kClip<A, L, H>>
Like<A> clip(const A& x, const L& low, const H& high, Where where = Where::current()) {
  const auto above = detail::binary<Broadcasted<A, L>>(core::BinaryOp::max, x, low, where);
  return detail::binary<Broadcasted<A, H>>(core::BinaryOp::min, Like<A>(above), high, where);
}
template <class A, class L, class H, auto Why = detail::kClip<A, L, H>>
  requires IsMistake<Why>
Refused clip(const A&, const L&, const H&, Where = Where::current()) = delete;

}  // namespace tlaloc
