// custom_jvp and custom_vjp: derivatives given by the user.
#pragma once

#include <optional>

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

/// What a rule returns, against what it must.
template <class R, class Due>
consteval auto rule_verdict() {
  if constexpr (std::is_same_v<R, Refused>) {
    return Fine{};
  } else if constexpr (!std::is_convertible_v<R, Due>) {
    return mistake("TL-CUSTOM-001", "a rule returns another type");
  } else {
    return Fine{};
  }
}
/// Refuses a rule whose result is known only where it is called.
template <class Due, class R, auto Why = rule_verdict<R, Due>()>
void check_rule(std::type_identity<R>) {}
template <class Due, class R, auto Why = rule_verdict<R, Due>()>
  requires IsMistake<Why>
void check_rule(std::type_identity<R>) = delete;

template <class X>
X& lvalue();

// ---- custom_jvp ----

template <class Rule>
struct CustomJvpPolicy {
  using State = Rule;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = R;

  /// The result type is deduced, so that this is instantiated at the call and its errors name that.
  template <class R, class F, class... A>
  static auto run(F& f, Rule& rule, Where where, const A&... args) {
    using Due = std::pair<R, R>;
    using Ruled = decltype(rule(lvalue<A>()..., lvalue<A>()...));
    check_rule<Due>(std::type_identity<Ruled>{});
    if constexpr (IsMistake<rule_verdict<Ruled, Due>()>) {
      return Refused();
    } else {
      Callee<R, F, A...> callee(f, args...);
      Callee<Due, Rule, A..., A...> derivative(rule, args..., args...);
      const core::Leaves out = core::custom_jvp(callee.function(), derivative.function(),
                                                flatten_arguments(args...), where);
      Rebuilder r{.in = out};
      return take_result<R>(r);
    }
  }
};

/// The verdict on rules, as far as signatures tell.
template <class F, class Rule>
consteval auto custom_jvp_verdict() {
  constexpr auto kWhy = transform_verdict<CustomJvpPolicy<Rule>, F>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (!is_callable<Rule>()) {
    return mistake("TL-CALL-002", "the rule is not callable");
  } else if constexpr (Fixed<F> && Fixed<Rule>) {
    return rule_verdict<ResultOf<Rule>, std::pair<ResultOf<F>, ResultOf<F>>>();
  } else {
    return Fine{};
  }
}
template <class F, class Rule>
inline constexpr auto kCustomJvp = custom_jvp_verdict<F, Rule>();

// ---- custom_vjp ----

template <class Forward, class Backward>
struct VjpRules {
  Forward forward;
  Backward backward;
};
/// A tuple of the arguments' types, or the one type.
template <class... A>
struct CotangentsOf {
  using type = std::tuple<A...>;
};
template <class A>
struct CotangentsOf<A> {
  using type = A;
};

template <class P>
struct ResidualsOf {
  using type = Refused;
};
template <class R, class S>
struct ResidualsOf<std::pair<R, S>> {
  using type = S;
};

template <class Forward, class Backward>
struct CustomVjpPolicy {
  using State = VjpRules<Forward, Backward>;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = R;

  /// The rules as functions on leaves. The structure of the residuals is known once the forward
  /// rule has run.
  template <class R, class S, class... A>
  struct Rules {
    State& rules;
    std::tuple<const A&...> arguments;
    std::optional<R> result;
    std::optional<S> residuals;

    static void forward(void* self, const core::Leaves& in, core::Leaves& out) {
      auto& me = *static_cast<Rules*>(self);
      Rebuilder r{.in = in};
      std::apply(
          [&](const A&... like) {
            std::tuple<A...> given{r.take(like)...};
            const std::pair<R, S> y = std::apply(me.rules.forward, given);
            flatten(y, out);
            me.result.emplace(stripped(y.first));
            me.residuals.emplace(stripped(y.second));
          },
          me.arguments);
    }
    static void backward(void* self, const core::Leaves& in, core::Leaves& out) {
      auto& me = *static_cast<Rules*>(self);
      Rebuilder r{.in = in};
      S residuals = r.take(*me.residuals);
      R cotangent = r.take(*me.result);
      const typename CotangentsOf<A...>::type gradients = me.rules.backward(residuals, cotangent);
      flatten(gradients, out);
    }
  };

  /// As in CustomJvpPolicy.
  template <class R, class F, class... A>
  static auto run(F& f, State& state, Where where, const A&... args) {
    using Pair = decltype(state.forward(lvalue<A>()...));
    using S = typename ResidualsOf<Pair>::type;
    check_rule<std::pair<R, S>>(std::type_identity<Pair>{});
    if constexpr (IsMistake<rule_verdict<Pair, std::pair<R, S>>()>) {
      return Refused();
    } else {
      using Due = typename CotangentsOf<A...>::type;
      using Cotangents = decltype(state.backward(lvalue<S>(), lvalue<R>()));
      check_rule<Due>(std::type_identity<Cotangents>{});
      if constexpr (IsMistake<rule_verdict<Cotangents, Due>()>) {
        return Refused();
      } else {
        return run_rules<R, S>(f, state, where, args...);
      }
    }
  }
  template <class R, class S, class F, class... A>
  static R run_rules(F& f, State& state, Where where, const A&... args) {
    using Pairs = Rules<R, S, A...>;
    Callee<R, F, A...> callee(f, args...);
    Pairs rules{state, std::tuple<const A&...>(args...), {}, {}};
    const core::Function forward{&Pairs::forward, &rules, &kTypeIdentity<Pairs>};
    const core::Function backward{&Pairs::backward, &rules, &kTypeIdentity<Pairs*>};
    const core::Leaves out =
        core::custom_vjp(callee.function(), forward, backward, flatten_arguments(args...), where);
    Rebuilder r{.in = out};
    return take_result<R>(r);
  }
};

template <class F, class Forward, class Backward>
consteval auto custom_vjp_verdict() {
  constexpr auto kWhy = transform_verdict<CustomVjpPolicy<Forward, Backward>, F>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (!is_callable<Forward>() || !is_callable<Backward>()) {
    return mistake("TL-CALL-002", "a rule is not callable");
  } else if constexpr (Fixed<F> && Fixed<Forward>) {
    using Residuals = typename ResidualsOf<ResultOf<Forward>>::type;
    if constexpr (std::is_same_v<Residuals, Refused> &&
                  !std::is_same_v<ResultOf<Forward>, Refused>) {
      return mistake("TL-CUSTOM-001", "forward: pair{result, residuals}");
    } else {
      return rule_verdict<ResultOf<Forward>, std::pair<ResultOf<F>, Residuals>>();
    }
  } else {
    return Fine{};
  }
}
template <class F, class Forward, class Backward>
inline constexpr auto kCustomVjp = custom_vjp_verdict<F, Forward, Backward>();

}  // namespace detail

/// f with the derivative that `rule` says: rule(x…, dx…) returns a pair of f's result and its
/// tangent, linear in dx…. Reverse mode transposes the rule. Tangents of integers are zeros.
/// Errors: TL-CUSTOM-001 (a rule returns another type), TL-CALL-001, TL-CALL-002, TL-TREE-001 to
/// 005; at run time TL-CUSTOM-002 (sizes), and what the rule captures of an outer trace is refused
/// where it would need a derivative.
template <class F, class Rule, class R = detail::ResultOf<F>,
          auto Why = detail::kCustomJvp<F, Rule>>
detail::Transform<detail::CustomJvpPolicy<Rule>, F> custom_jvp(F f, Rule rule,
                                                               Where where = Where::current()) {
  return {std::move(f), where, std::move(rule)};
}
template <class F, class Rule, class R = detail::ResultOf<F>,
          auto Why = detail::kCustomJvp<F, Rule>>
  requires IsMistake<Why>
detail::Transform<detail::CustomJvpPolicy<Rule>, F> custom_jvp(F, Rule,
                                                               Where = Where::current()) = delete;

/// f with reverse mode by rules: forward(x…) returns a pair of f's result and any residuals,
/// backward(residuals, cotangent) the cotangent of x, or a tuple for several arguments; an empty
/// tensor stands for zeros. Forward mode transposes the rule. Errors: as custom_jvp.
template <class F, class Forward, class Backward, class R = detail::ResultOf<F>,
          auto Why = detail::kCustomVjp<F, Forward, Backward>>
detail::Transform<detail::CustomVjpPolicy<Forward, Backward>, F> custom_vjp(
    F f, Forward forward, Backward backward, Where where = Where::current()) {
  return {std::move(f), where, {std::move(forward), std::move(backward)}};
}
template <class F, class Forward, class Backward, class R = detail::ResultOf<F>,
          auto Why = detail::kCustomVjp<F, Forward, Backward>>
  requires IsMistake<Why>
detail::Transform<detail::CustomVjpPolicy<Forward, Backward>, F> custom_vjp(
    F, Forward, Backward, Where = Where::current()) = delete;

}  // namespace tlaloc
