// Control flow on values of a trace: cond, switch_case, while_loop, fori_loop. scan is in scan.h.
//
// Branches and bodies are callables on trees; they may capture what they read. A number that is
// carried becomes a scalar. With concrete values the chosen branch runs at once.
#pragma once

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

template <class X>
X& lvalue();

/// Refuses what a callable returns where that is known only in the call. Due: what it must convert
/// to.
template <class R, class Due>
consteval auto carry_verdict() {
  if constexpr (std::is_same_v<R, Refused> || std::is_same_v<Due, Refused>)
    return Fine{};
  else if constexpr (std::is_void_v<R>)
    return mistake("TL-CALL-001", "the function returns nothing");
  else if constexpr (!std::is_convertible_v<R, Due>)
    return mistake("TL-LOOP-004", "the carry's type changes");
  else
    return Fine{};
}
template <class Due, class R, auto Why = carry_verdict<R, Due>()>
void check_carry(std::type_identity<R>) {}
template <class Due, class R, auto Why = carry_verdict<R, Due>()>
  requires IsMistake<Why>
void check_carry(std::type_identity<R>) = delete;

// ---- branches ----

/// The one type that both results convert to; void when there is none.
template <class P, class Q>
struct JoinImpl {
  using A = Lift<P>;
  using B = Lift<Q>;
  using type = std::conditional_t<
      std::is_same_v<A, Refused> || std::is_same_v<B, Refused>, Refused,
      std::conditional_t<std::is_convertible_v<B, A>, A,
                         std::conditional_t<std::is_convertible_v<A, B>, B, void>>>;
};
template <class P, class Q>
  requires(std::is_void_v<P> || std::is_void_v<Q>)
struct JoinImpl<P, Q> {
  using type = void;
};
template <class P, class... Q>
struct Join {
  using type = Lift<P>;
};
template <>
struct Join<void> {
  using type = void;
};
template <class P, class Q, class... More>
struct Join<P, Q, More...> : Join<typename JoinImpl<P, Q>::type, More...> {};

template <class... R>
consteval auto branches_verdict() {
  if constexpr ((std::is_void_v<R> || ...))
    return mistake("TL-CALL-001", "a branch returns nothing");
  else if constexpr (std::is_void_v<typename Join<R...>::type>)
    return mistake("TL-COND-002", "the branches' types differ");
  else
    return Fine{};
}
template <class... R, auto Why = branches_verdict<R...>()>
void check_branches(std::type_identity<R>...) {}
template <class... R, auto Why = branches_verdict<R...>()>
  requires IsMistake<Why>
void check_branches(std::type_identity<R>...) = delete;

/// A scalar of a domain: a number, a Tensor of rank 0, or an Array.
template <class P, Domain D>
consteval auto scalar_verdict() {
  constexpr bool kBool = D == Domain::boolean;
  if constexpr (kKind<P> == Kind::refused || kKind<P> == Kind::array) {
    return Fine{};
  } else if constexpr (kKind<P> == Kind::other || !std::is_same_v<AxesOf<P>, Dims<>>) {
    if constexpr (kBool)
      return mistake("TL-COND-001", "a bool scalar is needed");
    else
      return mistake("TL-COND-001", "an integer scalar is needed");
  } else {
    using T = ElementOf<P>;
    if constexpr (kBool) {
      if constexpr (std::is_same_v<T, bool>)
        return Fine{};
      else
        return mistake("TL-COND-001", "a bool scalar is needed");
    } else {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return Fine{};
      else
        return mistake("TL-COND-001", "an integer scalar is needed");
    }
  }
}
template <class P>
decltype(auto) scalar_ref(const P& p) {
  if constexpr (Number<P>)
    return number_ref<P>(p);
  else
    return p.ref();
}

template <class P, class Branches, class... A>
struct CondVerdict;
template <class P, class... F, class... A>
struct CondVerdict<P, Types<F...>, A...> {
  static consteval auto get() {
    constexpr auto kPredicate = scalar_verdict<P, Domain::boolean>();
    if constexpr (IsMistake<kPredicate>)
      return kPredicate;
    else
      return branches();
  }
  static consteval auto branches() {
    if constexpr (!(is_callable<F>() && ...)) {
      return mistake("TL-CALL-002", "a branch is not callable");
    } else if constexpr (IsMistake<kTrees<A...>>) {
      return kTrees<A...>;
    } else if constexpr (((!takes<F, A...>()) || ...)) {
      return mistake("TL-COND-003", "a branch takes other arguments");
    } else if constexpr ((Fixed<F> && ...)) {
      return branches_verdict<ResultOf<F>...>();
    } else {
      return Fine{};
    }
  }
};
template <class P, class F, class G, class... A>
inline constexpr auto kCond = CondVerdict<P, Types<F, G>, Lift<A>...>::get();

template <class R, class F, class G, class... A>
R run_cond(const core::Ref& p, F& then, G& otherwise, const A&... args) {
  Callee<R, F, A...> first(then, args...);
  Callee<R, G, A...> second(otherwise, args...);
  const core::Leaves out =
      core::cond(p, first.function(), second.function(), flatten_arguments(args...), Where{});
  Rebuilder r{.in = out};
  return take_result<R>(r);
}

template <class I, class... F>
consteval auto switch_verdict() {
  constexpr auto kIndex = scalar_verdict<I, Domain::integer>();
  if constexpr (IsMistake<kIndex>)
    return kIndex;
  else if constexpr (sizeof...(F) == 0)
    return mistake("TL-COND-003", "no branch is given");
  else
    return CondVerdict<bool, Types<F...>>::branches();
}
template <class I, class... F>
inline constexpr auto kSwitch = switch_verdict<I, F...>();

}  // namespace detail

/// then(args…) where p holds, otherwise(args…) where it does not; only the one that is taken runs,
/// and derivatives flow through it alone. Both return one type, or types that convert into one.
///   cond(loss < best, [&] { return model; }, [&] { return best_model; })
/// Errors: TL-COND-001 (p is no bool scalar: for a choice per element use select), TL-COND-002 (the
/// branches' types), TL-COND-003 (a branch takes other arguments), TL-CALL-001, TL-CALL-002,
/// TL-TREE-001 to 005.
template <class P, class F, class G, class... A, auto Why = detail::kCond<P, F, G, A...>>
auto cond(const P& p, F then, G otherwise, const A&... args) {
  using R1 = decltype(then(detail::lvalue<detail::Lift<A>>()...));
  using R2 = decltype(otherwise(detail::lvalue<detail::Lift<A>>()...));
  detail::check_branches(std::type_identity<R1>{}, std::type_identity<R2>{});
  if constexpr (IsMistake<detail::branches_verdict<R1, R2>()>) {
    return Refused();
  } else {
    using R = typename detail::Join<R1, R2>::type;
    return detail::run_cond<R>(detail::scalar_ref(p), then, otherwise, detail::lift(args)...);
  }
}
template <class P, class F, class G, class... A, auto Why = detail::kCond<P, F, G, A...>>
  requires IsMistake<Why>
Refused cond(const P&, F, G, const A&...) = delete;

/// Branch number index, clamped to those there are: switch_case(i, [&] {…}, [&] {…}, [&] {…}).
/// Errors: as cond.
template <class I, class... F, auto Why = detail::kSwitch<I, F...>>
auto switch_case(const I& index, F... branches) {
  detail::check_branches(std::type_identity<decltype(branches())>{}...);
  if constexpr (IsMistake<detail::branches_verdict<decltype(branches())...>()>) {
    return Refused();
  } else {
    using R = typename detail::Join<decltype(branches())...>::type;
    std::tuple<detail::Callee<R, F>...> callees{detail::Callee<R, F>(branches)...};
    return std::apply(
        [&](auto&... callee) {
          const core::Function functions[]{callee.function()...};
          const core::Leaves out = core::switch_case(detail::scalar_ref(index), functions,
                                                     detail::flatten_arguments(), Where{});
          detail::Rebuilder r{.in = out};
          return detail::take_result<R>(r);
        },
        callees);
  }
}
template <class I, class... F, auto Why = detail::kSwitch<I, F...>>
  requires IsMistake<Why>
Refused switch_case(const I&, F...) = delete;

// ---- loops ----

namespace detail {

template <class C>
consteval auto condition_result_verdict() {
  if constexpr (std::is_void_v<C>)
    return mistake("TL-CALL-001", "the condition returns nothing");
  else
    return scalar_verdict<C, Domain::boolean>();
}
template <class R, auto Why = condition_result_verdict<R>()>
void check_condition(std::type_identity<R>) {}
template <class R, auto Why = condition_result_verdict<R>()>
  requires IsMistake<Why>
void check_condition(std::type_identity<R>) = delete;

/// The result of a callable with one signature, else D.
template <class F, class D>
using FixedOr = std::conditional_t<Fixed<F>, ResultOf<F>, D>;
/// The type of a loop's counter: the element type of a bound that is a tensor, else that of the
/// numbers.
template <class L, class H>
using CounterOf = std::conditional_t<AnyTensor<L>, L, std::conditional_t<AnyTensor<H>, H, Lift<L>>>;

template <class P, class F, class C>
consteval auto while_verdict() {
  if constexpr (!is_callable<P>() || !is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (IsMistake<kTree<C>>) {
    return kTree<C>;
  } else if constexpr (!takes<P, C>()) {
    return mistake("TL-LOOP-005", "the condition takes other types");
  } else if constexpr (!takes<F, C>()) {
    return mistake("TL-LOOP-005", "the body takes other types");
  } else if constexpr (Fixed<P> && IsMistake<condition_result_verdict<FixedOr<P, bool>>()>) {
    return condition_result_verdict<FixedOr<P, bool>>();
  } else if constexpr (Fixed<F>) {
    return carry_verdict<ResultOf<F>, C>();
  } else {
    return Fine{};
  }
}
template <class P, class F, class C>
inline constexpr auto kWhile = while_verdict<P, F, Lift<C>>();

template <class L, class H, class F, class C>
consteval auto fori_verdict() {
  constexpr auto kLow = scalar_verdict<L, Domain::integer>();
  constexpr auto kHigh = scalar_verdict<H, Domain::integer>();
  if constexpr (IsMistake<kLow>) {
    return kLow;
  } else if constexpr (IsMistake<kHigh>) {
    return kHigh;
  } else if constexpr (!is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (IsMistake<kTree<C>>) {
    return kTree<C>;
  } else if constexpr (!takes<F, CounterOf<L, H>, C>()) {
    return mistake("TL-LOOP-005", "the body takes other types");
  } else if constexpr (Fixed<F>) {
    return carry_verdict<ResultOf<F>, C>();
  } else {
    return Fine{};
  }
}
template <class L, class H, class F, class C>
inline constexpr auto kFori = fori_verdict<L, H, F, Lift<C>>();

}  // namespace detail

/// Runs carry = body(carry) while condition(carry) holds, and returns the last carry. Reverse mode
/// keeps what it needs of each trip. More trips than max_trips (0: any) are UserError TL-LOOP-001.
/// Errors: TL-COND-001 (the condition is no bool scalar), TL-LOOP-004 (the carry's type changes),
/// TL-LOOP-005 (a callable takes other types), TL-CALL-001, TL-CALL-002, TL-TREE-001 to 005.
template <class P, class F, class C, auto Why = detail::kWhile<P, F, C>>
detail::Lift<C> while_loop(P condition, F body, const C& init, std::int64_t max_trips = 0,
                           Where where = Where::current()) {
  using X = detail::Lift<C>;
  using Holds = decltype(condition(detail::lvalue<X>()));
  using Next = decltype(body(detail::lvalue<X>()));
  detail::check_condition(std::type_identity<Holds>{});
  detail::check_carry<X>(std::type_identity<Next>{});
  if constexpr (IsMistake<detail::condition_result_verdict<Holds>()> ||
                IsMistake<detail::carry_verdict<Next, X>()>) {
    return Refused();
  } else {
    const X first = detail::lift(init);
    using Test = std::conditional_t<std::is_same_v<X, Array>, Array, Tensor<bool>>;
    detail::Callee<Test, P, X> test(condition, first);
    detail::Callee<X, F, X> step(body, first);
    const core::Leaves out = core::while_loop(test.function(), step.function(),
                                              detail::flatten_arguments(first), max_trips, where);
    detail::Rebuilder r{.in = out};
    return r.take(first);
  }
}
template <class P, class F, class C, auto Why = detail::kWhile<P, F, C>>
  requires IsMistake<Why>
Refused while_loop(P, F, const C&, std::int64_t = 0, Where = Where::current()) = delete;

/// carry = body(i, carry) for i in [low, high), integer scalars; i is a scalar of the bounds' type.
/// Known bounds make a scan, others a while loop. Errors: as while_loop.
template <class L, class H, class F, class C, auto Why = detail::kFori<L, H, F, C>>
detail::Lift<C> fori_loop(const L& low, const H& high, F body, const C& init,
                          Where where = Where::current()) {
  using X = detail::Lift<C>;
  using I = detail::CounterOf<L, H>;
  using Next = decltype(body(detail::lvalue<I>(), detail::lvalue<X>()));
  detail::check_carry<X>(std::type_identity<Next>{});
  if constexpr (IsMistake<detail::carry_verdict<Next, X>()>) {
    return Refused();
  } else {
    const X first = detail::lift(init);
    const I begin = low, end = high;
    detail::Callee<X, F, I, X> step(body, begin, first);
    const core::Leaves out = core::fori_loop(begin.ref(), end.ref(), step.function(),
                                             detail::flatten_arguments(first), where);
    detail::Rebuilder r{.in = out};
    return r.take(first);
  }
}
template <class L, class H, class F, class C, auto Why = detail::kFori<L, H, F, C>>
  requires IsMistake<Why>
Refused fori_loop(const L&, const H&, F, const C&, Where = Where::current()) = delete;

}  // namespace tlaloc
