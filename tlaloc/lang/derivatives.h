// vjp and linearize; jacfwd and jacrev; check_grads. All take argnums as grad does: the first
// argument unless told otherwise. jvp, hvp and hessian are in second.h.
#pragma once

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

/// Leaves in the structure of all arguments, with values for the arguments N only.
template <class N, class... A>
struct Tangents;
template <int... I, class... A>
struct Tangents<Argnums<I...>, A...> {
  template <class... D>
  static core::Leaves flatten(const std::tuple<A...>& all, const D&... given) {
    core::Leaves out;
    const std::tuple<const D&...> tangents(given...);
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (one<static_cast<int>(K)>(out, std::get<K>(all), tangents), ...);
    }(std::index_sequence_for<A...>{});
    return out;
  }

 private:
  /// The place of argument K among the chosen ones, or -1.
  static constexpr int place(int k) {
    int found = -1, i = 0;
    ((found = I == k ? i : found, ++i), ...);
    return found;
  }
  template <int K, class X, class T>
  static void one(core::Leaves& out, const X& like, const T& tangents) {
    out.argument();
    if constexpr (constexpr int kPlace = place(K); kPlace >= 0) {
      detail::flatten(std::get<static_cast<std::size_t>(kPlace)>(tangents), out);
    } else {
      detail::flatten(stripped(like), out);
    }
  }
};
/// The arguments without their values.
template <class... A>
std::tuple<A...> stripped_all(const A&... args) {
  return {stripped(args)...};
}

template <class N, class R, class... A>
class Pullback {
 public:
  Pullback(core::LinearMap map, R like, std::tuple<A...> arguments, Where where)
      : map_(std::move(map)),
        like_(std::move(like)),
        arguments_(std::move(arguments)),
        where_(where) {}
  /// Gradients of the chosen arguments, from the cotangent of the result.
  GradientOf<N, A...> operator()(const R& cotangent) const {
    core::Leaves in;
    flatten(cotangent, in);
    const core::Leaves out = map_(in, where_);
    Rebuilder r{.in = out};
    return std::apply(
        [&](const A&... args) {
          const std::tuple<const A&...> all(args...);
          return Arguments<A...>{all}.take(N{}, r);
        },
        arguments_);
  }

 private:
  core::LinearMap map_;
  R like_;
  std::tuple<A...> arguments_;
  Where where_;
};

template <class N, class R, class Chosen, class... A>
class LinearizedImpl;
/// A linear function of the tangents of the chosen arguments.
template <class N, class R, class... C, class... A>
class LinearizedImpl<N, R, std::tuple<C...>, A...> {
 public:
  LinearizedImpl(core::LinearMap map, R like, std::tuple<A...> arguments, Where where)
      : map_(std::move(map)),
        like_(std::move(like)),
        arguments_(std::move(arguments)),
        where_(where) {}
  /// The tangent of the result.
  R operator()(const C&... tangents) const {
    const core::Leaves out = map_(Tangents<N, A...>::flatten(arguments_, tangents...), where_);
    Rebuilder r{.in = out, .zero_numbers = true};
    return r.take(like_);
  }

 private:
  core::LinearMap map_;
  R like_;
  std::tuple<A...> arguments_;
  Where where_;
};
/// The chosen arguments as a tuple, one or more. One that is a tuple itself stays whole.
template <class N, class... A>
struct ChosenTuple;
template <int... I, class... A>
struct ChosenTuple<Argnums<I...>, A...> {
  using type = std::tuple<typename SelectedOr<Argnums<I>, A...>::type...>;
};
template <class N, class R, class... A>
using Linearized = LinearizedImpl<N, R, typename ChosenTuple<N, A...>::type, A...>;

template <class N>
struct DerivativePolicy {
  using State = Stateless;
  template <class... A>
  static constexpr auto arguments = kArguments<N, A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
};

template <class N>
struct VjpPolicy : DerivativePolicy<N> {
  template <class R, class... A>
  using Output = std::pair<R, Pullback<N, R, A...>>;
  template <class R, class F, class... A>
  static Output<R, A...> run(F& f, Stateless&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    core::LinearMap map;
    const core::Leaves out =
        core::vjp(callee.function(), flatten_arguments(args...), Indices<N>::span, map, where);
    Rebuilder r{.in = out};
    R value = take_result<R>(r);
    R like = stripped(value);
    return {std::move(value),
            Pullback<N, R, A...>(std::move(map), std::move(like), stripped_all(args...), where)};
  }
};

template <class N>
struct LinearizePolicy : DerivativePolicy<N> {
  template <class R, class... A>
  using Output = std::pair<R, Linearized<N, R, A...>>;
  template <class R, class F, class... A>
  static Output<R, A...> run(F& f, Stateless&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    core::LinearMap map;
    const core::Leaves out =
        core::linearize(callee.function(), flatten_arguments(args...), map, where);
    Rebuilder r{.in = out};
    R value = take_result<R>(r);
    R like = stripped(value);
    return {std::move(value),
            Linearized<N, R, A...>(std::move(map), std::move(like), stripped_all(args...), where)};
  }
};

// ---- Jacobians ----

/// Results of which a Jacobian has a type: a tensor, or a pair, tuple or array of tensors.
/// With<Y, X>: the tree X with Y's axes in front.
template <class R>
struct JacobianOf {
  static constexpr bool ok = false;
  template <class X>
  using With = Refused;
};
template <class T, auto... B>
struct JacobianOf<Tensor<T, B...>> {
  static constexpr bool ok = kIsFloating<T>;
  template <class X>
  using With = Widened<X, B...>;
  template <class X>
  static With<X> take(Rebuilder& r, const X& like) {
    return Widen<X, B...>::of(r.take(like));
  }
};
template <class... Y>
struct JacobianOf<std::tuple<Y...>> {
  static constexpr bool ok = (JacobianOf<Y>::ok && ...);
  template <class X>
  using With = std::tuple<typename JacobianOf<Y>::template With<X>...>;
  template <class X>
  static With<X> take(Rebuilder& r, const X& like) {
    return With<X>{JacobianOf<Y>::take(r, like)...};
  }
};
template <class P, class Q>
struct JacobianOf<std::pair<P, Q>> {
  static constexpr bool ok = JacobianOf<P>::ok && JacobianOf<Q>::ok;
  template <class X>
  using With =
      std::pair<typename JacobianOf<P>::template With<X>, typename JacobianOf<Q>::template With<X>>;
  template <class X>
  static With<X> take(Rebuilder& r, const X& like) {
    return With<X>{JacobianOf<P>::take(r, like), JacobianOf<Q>::take(r, like)};
  }
};
template <class R>
consteval auto jacobian_verdict() {
  if constexpr (std::is_same_v<R, Refused>)
    return Fine{};
  else if constexpr (!JacobianOf<R>::ok)
    return mistake("TL-JAC-001", "the result is no floating tensor");
  else
    return Fine{};
}

template <class N, bool Forward>
struct JacobianPolicy : DerivativePolicy<N> {
  template <class R>
  static constexpr auto result = jacobian_verdict<R>();
  template <class R, class... A>
  using Output = typename JacobianOf<R>::template With<GradientOf<N, A...>>;
  template <class R, class F, class... A>
  static Output<R, A...> run(F& f, Stateless&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    const core::Leaves in = flatten_arguments(args...);
    const core::Leaves out = Forward ? core::jacfwd(callee.function(), in, Indices<N>::span, where)
                                     : core::jacrev(callee.function(), in, Indices<N>::span, where);
    Rebuilder r{.in = out, .zero_numbers = true};
    return JacobianOf<R>::take(r, chosen(N{}, args...));
  }

 private:
  template <int I, class... A>
  static const auto& chosen(Argnums<I>, const A&... args) {
    return std::get<static_cast<std::size_t>(I)>(std::tie(args...));
  }
  template <int... I, class... A>
    requires(sizeof...(I) != 1)
  static GradientOf<Argnums<I...>, A...> chosen(Argnums<I...>, const A&... args) {
    return {std::get<static_cast<std::size_t>(I)>(std::tie(args...))...};
  }
};

template <class N>
struct CheckPolicy : DerivativePolicy<N> {
  using State = core::CheckGradsOptions;
  template <class R, class... A>
  using Output = void;
  template <class R, class F, class... A>
  static void run(F& f, State& options, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    core::check_grads(callee.function(), flatten_arguments(args...), Indices<N>::span, options,
                      where);
  }
};

}  // namespace detail

/// auto [y, pullback] = vjp(f)(x…): f's result, and the function that maps a cotangent of it to the
/// gradients that grad would give. Errors: TL-CALL-001, TL-CALL-002, TL-GRAD-003, TL-GRAD-004,
/// TL-TREE-001 to 005.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::VjpPolicy<N>, F>>
detail::Transform<detail::VjpPolicy<N>, F> vjp(F f, N = {}, Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::VjpPolicy<N>, F>>
  requires IsMistake<Why>
detail::Transform<detail::VjpPolicy<N>, F> vjp(F, N = {}, Where = Where::current()) = delete;

/// auto [y, tangent_of] = linearize(f)(x…): f's result, and the linear function that maps tangents
/// of the chosen arguments to the tangent of the result, for use at many tangents. Errors: as vjp.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::LinearizePolicy<N>, F>>
detail::Transform<detail::LinearizePolicy<N>, F> linearize(F f, N = {},
                                                           Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::LinearizePolicy<N>, F>>
  requires IsMistake<Why>
detail::Transform<detail::LinearizePolicy<N>, F> linearize(F, N = {},
                                                           Where = Where::current()) = delete;

/// The Jacobian by forward mode: a result [b...] by an argument [a...] -> [b..., a...]; by a tree
/// -> that tree with b... in front of each leaf (With). A pair or tuple of results gives one of
/// Jacobians. For more results than arguments. Errors: TL-JAC-001 (no floating tensor); as vjp.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JacobianPolicy<N, true>, F>>
detail::Transform<detail::JacobianPolicy<N, true>, F> jacfwd(F f, N = {},
                                                             Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JacobianPolicy<N, true>, F>>
  requires IsMistake<Why>
detail::Transform<detail::JacobianPolicy<N, true>, F> jacfwd(F, N = {},
                                                             Where = Where::current()) = delete;

/// The same by reverse mode, for fewer results than arguments.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JacobianPolicy<N, false>, F>>
detail::Transform<detail::JacobianPolicy<N, false>, F> jacrev(F f, N = {},
                                                              Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JacobianPolicy<N, false>, F>>
  requires IsMistake<Why>
detail::Transform<detail::JacobianPolicy<N, false>, F> jacrev(F, N = {},
                                                              Where = Where::current()) = delete;

/// How check_grads compares.
using CheckGradsOptions = core::CheckGradsOptions;

/// check_grads(f)(x…) compares f's derivatives with finite differences along random directions;
/// `{.order = 2}` the derivatives of its derivatives too. In f64 for a sharp answer.
/// Errors: TL-GRAD-007 (they differ); as vjp.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::CheckPolicy<N>, F>>
detail::Transform<detail::CheckPolicy<N>, F> check_grads(F f, CheckGradsOptions options = {},
                                                         N = {}, Where where = Where::current()) {
  return {std::move(f), where, options};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::CheckPolicy<N>, F>>
  requires IsMistake<Why>
detail::Transform<detail::CheckPolicy<N>, F> check_grads(F, CheckGradsOptions = {}, N = {},
                                                         Where = Where::current()) = delete;

}  // namespace tlaloc
