// jvp and hvp, which take tangents beside the arguments. argnums as in grad.
#pragma once

#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"

namespace tlaloc {
namespace detail {

/// Parts a list of call arguments: all but the last K are f's arguments, the last K tangents.
template <class All, class Front, class Back>
struct PartImpl;
template <class... X, std::size_t... I, std::size_t... J>
struct PartImpl<Types<X...>, std::index_sequence<I...>, std::index_sequence<J...>> {
  using List = std::tuple<X...>;
  using Front = Types<std::tuple_element_t<I, List>...>;
  using Back = Types<std::tuple_element_t<sizeof...(I) + J, List>...>;
};
template <std::size_t K, class... X>
using Part =
    PartImpl<Types<X...>, std::make_index_sequence<sizeof...(X) - K>, std::make_index_sequence<K>>;

template <class N>
inline constexpr std::size_t kChosen = 0;
template <int... I>
inline constexpr std::size_t kChosen<Argnums<I...>> = sizeof...(I);

/// The verdict on arguments A followed by tangents D.
template <class N, class A, class D>
struct TangentVerdict;
template <class N, class... A, class... D>
struct TangentVerdict<N, Types<A...>, Types<D...>> {
  static consteval auto get() {
    constexpr auto kWhy = kArguments<N, A...>;
    if constexpr (IsMistake<kWhy>) {
      return kWhy;
    } else if constexpr (!std::is_same_v<typename ChosenTuple<N, A...>::type, std::tuple<D...>>) {
      return mistake("TL-GRAD-005", "a tangent has another type");
    } else {
      return Fine{};
    }
  }
};
template <class N, class... X>
consteval auto with_tangents_verdict() {
  if constexpr (sizeof...(X) <= kChosen<N>) {
    return mistake("TL-GRAD-005", "arguments, then tangents");
  } else {
    using P = Part<kChosen<N>, X...>;
    return TangentVerdict<N, typename P::Front, typename P::Back>::get();
  }
}
template <class N, class... X>
inline constexpr auto kWithTangents = with_tangents_verdict<N, X...>();

template <class N>
struct JvpPolicy : DerivativePolicy<N> {
  template <class R, class... A>
  using Output = std::pair<R, R>;
  template <class R, class F, class... A, class... D>
  static Output<R, A...> run(F& f, Where where, const std::tuple<const A&...>& all,
                             const D&... tangents) {
    return std::apply(
        [&](const A&... args) -> Output<R, A...> {
          Callee<R, F, A...> callee(f, args...);
          const core::Leaves out =
              core::jvp(callee.function(), flatten_arguments(args...),
                        Tangents<N, A...>::flatten(std::tuple<A...>(args...), tangents...), where);
          Rebuilder r{.in = out};
          R value = take_result<R>(r);
          r.zero_numbers = true;
          R tangent = take_result<R>(r);
          return {std::move(value), std::move(tangent)};
        },
        all);
  }
};

template <class N>
struct HvpPolicy : DerivativePolicy<N> {
  template <class R>
  static constexpr auto result = loss_verdict<R>();
  template <class R, class... A>
  using Output = GradientOf<N, A...>;
  template <class R, class F, class... A, class... D>
  static Output<R, A...> run(F& f, Where where, const std::tuple<const A&...>& all,
                             const D&... tangents) {
    return std::apply(
        [&](const A&... args) -> Output<R, A...> {
          Callee<R, F, A...> callee(f, args...);
          core::Leaves v;
          ((v.argument(), flatten(tangents, v)), ...);
          const core::Leaves out =
              core::hvp(callee.function(), flatten_arguments(args...), v, Indices<N>::span, where);
          Rebuilder r{.in = out};
          return Arguments<A...>{all}.take(N{}, r);
        },
        all);
  }
};

/// The wrapper of a callable with one signature: its parameters, then the tangents' types.
template <class Policy, class N, class F, class R, class P, class T>
class TypedTangents;
template <class Policy, class N, class F, class R, class... P, class... T>
class TypedTangents<Policy, N, F, R, Types<P...>, std::tuple<T...>> {
 public:
  TypedTangents(F f, Where where) : f_(std::move(f)), where_(where) {}
  typename Policy::template Output<R, std::remove_cvref_t<P>...> operator()(P... a, T... t) const {
    if constexpr (!IsMistake<Policy::template result<R>>) {
      return Policy::template run<R>(f_, where_, std::tuple<const std::remove_cvref_t<P>&...>(a...),
                                     t...);
    } else {
      throw 0;  // never: refused where it was made
    }
  }

 private:
  mutable F f_;
  Where where_;
};

template <class Policy, class N, class F>
class GenericTangents {
 public:
  GenericTangents(F f, Where where) : f_(std::move(f)), where_(where) {}
  template <class... A, auto Why = kWithTangents<N, Lift<A>...>>
  auto operator()(const A&... a) const {
    using Front = typename Part<kChosen<N>, Lift<A>...>::Front;
    // In one statement: see Transformed.
    return run(checked<Policy>(std::type_identity<decltype(result(Front{}))>{}), Front{},
               std::make_index_sequence<kChosen<N>>{}, std::tuple<const Lift<A>&...>(lift(a)...));
  }
  template <class... A, auto Why = kWithTangents<N, Lift<A>...>>
    requires IsMistake<Why>
#ifdef __clang__
  consteval Refused operator()(const A&...) const {  // see Transformed
    return refuse();
  }
#else
  Refused operator()(const A&...) const = delete;
#endif

 private:
  static Refused refuse();
  template <class X>
  static X& lvalue();
  template <class... A>
  static auto result(Types<A...>) -> decltype(lvalue<F>()(lvalue<A>()...));
  template <class R, class... A, std::size_t... J, class All>
  auto run(std::type_identity<R>, Types<A...>, std::index_sequence<J...>, const All& all) const {
    if constexpr (std::is_same_v<R, Refused>) {
      return Refused();
    } else {
      return Policy::template run<R>(f_, where_, front<A...>(std::index_sequence_for<A...>{}, all),
                                     std::get<sizeof...(A) + J>(all)...);
    }
  }
  template <class... A, std::size_t... I, class All>
  static std::tuple<const A&...> front(std::index_sequence<I...>, const All& all) {
    return std::tie(std::get<I>(all)...);
  }

  mutable F f_;
  Where where_;
};

template <class Policy, class N>
struct TangentsOf {
  template <class F, class R, class... P>
  using Typed = TypedTangents<Policy, N, F, R, Types<P...>,
                              typename ChosenTuple<N, std::remove_cvref_t<P>...>::type>;
};
template <class Policy, class N, class F>
struct TangentTransformImpl {
  using type = GenericTangents<Policy, N, F>;
};
template <class Policy, class N, Fixed F>
struct TangentTransformImpl<Policy, N, F> {
  using type =
      typename SignatureOf<F>::type::template Wrap<TangentsOf<Policy, N>::template Typed, F>;
};
template <class Policy, class N, class F>
using TangentTransform = typename TangentTransformImpl<Policy, N, F>::type;

}  // namespace detail

/// auto [y, dy] = jvp(f)(x…, dx…): f's result and its tangent. The arguments, then one tangent for
/// each argument of argnums. Forward mode: a loop needs no extra memory.
/// Errors: TL-GRAD-005 (no tangents, or of another type), as vjp.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JvpPolicy<N>, F>>
detail::TangentTransform<detail::JvpPolicy<N>, N, F> jvp(F f, N = {},
                                                         Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JvpPolicy<N>, F>>
  requires IsMistake<Why>
detail::TangentTransform<detail::JvpPolicy<N>, N, F> jvp(F, N = {},
                                                         Where = Where::current()) = delete;

/// hvp(f)(x…, v…): the Hessian of a loss times v, in the structure of the chosen arguments, by
/// forward over reverse mode. Errors: TL-GRAD-001, TL-GRAD-005, as vjp.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::HvpPolicy<N>, F>>
detail::TangentTransform<detail::HvpPolicy<N>, N, F> hvp(F f, N = {},
                                                         Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::HvpPolicy<N>, F>>
  requires IsMistake<Why>
detail::TangentTransform<detail::HvpPolicy<N>, N, F> hvp(F, N = {},
                                                         Where = Where::current()) = delete;

}  // namespace tlaloc
