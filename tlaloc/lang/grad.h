// grad and value_and_grad.
#pragma once

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

/// What a loss may be: a floating scalar, or a pair of one and anything (auxiliary results).
template <class R>
struct LossTraits {
  static constexpr bool ok = false;
  static constexpr bool aux = false;
};
template <class T>
  requires kIsFloating<T>
struct LossTraits<Tensor<T>> {
  static constexpr bool ok = true;
  static constexpr bool aux = false;
};
template <class T, class X>
  requires kIsFloating<T>
struct LossTraits<std::pair<Tensor<T>, X>> {
  static constexpr bool ok = true;
  static constexpr bool aux = true;
};
template <>
struct LossTraits<Array> : LossTraits<Tensor<float>> {};  // checked at run time
template <class X>
struct LossTraits<std::pair<Array, X>> : LossTraits<std::pair<Tensor<float>, X>> {};

template <class R>
consteval auto loss_verdict() {
  if constexpr (std::is_void_v<R>) {
    return mistake("TL-CALL-001", "the function returns nothing");
  } else if constexpr (std::is_same_v<R, Refused>) {
    return Fine{};
  } else if constexpr (Number<R>) {
    return mistake("TL-GRAD-001", "a number does not depend on x");
  } else if constexpr (!LossTraits<R>::ok) {
    return mistake("TL-GRAD-001", "the loss is no floating scalar");
  } else {
    return kTree<R>;
  }
}

/// grad: G, with auxiliary results pair<G, Aux>; value_and_grad: pair<R, G>.
template <bool Value, class R, class G>
struct GradOutput {
  using type = G;
};
template <class R, class G>
struct GradOutput<true, R, G> {
  using type = std::pair<R, G>;
};
template <class R, class G>
  requires(LossTraits<R>::aux)
struct GradOutput<false, R, G> {
  using type = std::pair<G, typename R::second_type>;
};
template <bool Value, class N>
struct GradPolicy {
  using State = Stateless;
  template <class... A>
  static constexpr auto arguments = kArguments<N, A...>;
  template <class R>
  static constexpr auto result = loss_verdict<R>();
  template <class R, class... A>
  using Output = typename GradOutput<Value, R, GradientOf<N, A...>>::type;

  template <class R, class F, class... A>
  static Output<R, A...> run(F& f, State&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    const core::Leaves out = core::value_and_grad(callee.function(), flatten_arguments(args...),
                                                  Indices<N>::span, where);
    Rebuilder r{out};
    R value = take_result<R>(r);
    const std::tuple<const A&...> all(args...);
    auto gradient = Arguments<A...>{all}.take(N{}, r);
    if constexpr (Value) {
      return {std::move(value), std::move(gradient)};
    } else if constexpr (LossTraits<R>::aux) {
      return {std::move(gradient), std::move(value.second)};
    } else {
      return gradient;
    }
  }
};

}  // namespace detail

/// The gradient of a scalar function: grad(f)(x, y...) has the type of x, grad(f, argnums<0, 1>) is
/// a tuple. f returns a floating scalar, or a pair of one and auxiliary results: then grad(f)(…) is
/// a pair of gradient and auxiliary results. Arguments are any trees; numbers become scalars for
/// generic callables. Gradients of integer tensors and of numbers inside trees are zeros.
/// Errors: TL-GRAD-001 (f's result), TL-CALL-002 (f is not callable), TL-GRAD-003 (a number or
/// integers to differentiate), TL-GRAD-004 (argnums), TL-TREE-001 to 005 (an argument is no tree).
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GradPolicy<false, N>, F>>
detail::Transform<detail::GradPolicy<false, N>, F> grad(F f, N = {},
                                                        Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GradPolicy<false, N>, F>>
  requires IsMistake<Why>
detail::Transform<detail::GradPolicy<false, N>, F> grad(F, N = {},
                                                        Where = Where::current()) = delete;

/// A pair of f's result and the gradient: value_and_grad(f)(x…). Errors: as grad.
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GradPolicy<true, N>, F>>
detail::Transform<detail::GradPolicy<true, N>, F> value_and_grad(F f, N = {},
                                                                 Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class N = Argnums<0>, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GradPolicy<true, N>, F>>
  requires IsMistake<Why>
detail::Transform<detail::GradPolicy<true, N>, F> value_and_grad(F, N = {},
                                                                 Where = Where::current()) = delete;

}  // namespace tlaloc
