// What the transforms share: signatures of callables, arguments, and calls with their types erased.
//
// A callable with one signature (a lambda without `auto`, a function pointer, a transform of one)
// gets a wrapper that is no template: braces and conversions work at its call, and errors carry no
// instantiation frames. Any other one is called in the wrapper's body, never in a signature, so
// that a mistake inside it is reported in its own line and once.
#pragma once

#include "tlaloc/lang/flatten.h"
#include "tlaloc/lang/trace.h"
#include "tlaloc/lang/with.h"

namespace tlaloc {

/// Arguments to differentiate, by number: grad(f, argnums<0, 2>).
template <int... I>
struct Argnums {};
template <int... I>
inline constexpr Argnums<I...> argnums{};

namespace detail {

/// Types in a row.
template <class... X>
struct Types {};

// ---- signatures ----

template <class R, class... P>
struct Signature {
  using Result = R;
  /// W<F, R, P...>
  template <template <class, class, class...> class W, class F>
  using Wrap = W<F, R, P...>;
};
template <class M>
struct MemberSignature {};
#define TLALOC_SIGNATURE(qualifiers)                  \
  template <class C, class R, class... P>             \
  struct MemberSignature<R (C::*)(P...) qualifiers> { \
    using type = Signature<R, P...>;                  \
  };
TLALOC_SIGNATURE()
TLALOC_SIGNATURE(const)
TLALOC_SIGNATURE(noexcept)
TLALOC_SIGNATURE(const noexcept)
#undef TLALOC_SIGNATURE

/// The signature of a callable; without a member `type` when it has not one. Must fail softly:
/// clang substitutes return types before it looks at constraints.
template <class F>
struct SignatureOf {};
template <class F>
  requires requires { &F::operator(); }
struct SignatureOf<F> : MemberSignature<decltype(&F::operator())> {};
template <class R, class... P>
struct SignatureOf<R (*)(P...)> {
  using type = Signature<R, P...>;
};
template <class R, class... P>
struct SignatureOf<R (*)(P...) noexcept> {
  using type = Signature<R, P...>;
};
template <class F>
concept Fixed = requires { typename SignatureOf<F>::type; };

template <class F>
struct FixedResult {
  using type = void;
};
template <Fixed F>
struct FixedResult<F> {
  using type = typename SignatureOf<F>::type::Result;
};
/// The result of a callable with one signature, else void: not known before the call.
template <class F>
using ResultOf = typename FixedResult<F>::type;

/// Whether a callable takes these arguments, as far as one signature tells. A generic one is not
/// asked: that would instantiate its body away from the call.
template <class F, class... A>
consteval bool takes() {
  if constexpr (Fixed<F>)
    return std::is_invocable_v<F&, A&...>;
  else
    return true;
}

template <class F>
struct HasCall : F {
  struct Other {
    void operator()();
  };
  struct Both : F, Other {};
};
/// Whether F can be called at all, templates included: a second operator() makes the name
/// ambiguous.
template <class F>
consteval bool is_callable() {
  if constexpr (Fixed<F>) {
    return true;
  } else if constexpr (std::is_class_v<F> && !std::is_final_v<F>) {
    return !requires { &HasCall<F>::Both::operator(); };
  } else {
    return std::is_class_v<F>;
  }
}

// ---- arguments ----

template <class X>
struct LiftImpl {
  using type = X;
};
template <Number X>
struct LiftImpl<X> {
  using type = Tensor<X>;
};
/// An argument as a generic callable gets it: numbers become scalars.
template <class X>
using Lift = typename LiftImpl<std::remove_cvref_t<X>>::type;
/// kOwn: as an object of its own, moved from x.
template <bool kOwn = false, class X>
decltype(auto) lift(X& x) {
  if constexpr (Number<std::remove_const_t<X>>)
    return Lift<X>(x);
  else if constexpr (kOwn)
    return std::remove_const_t<X>(std::move(x));
  else
    return std::as_const(x);
}

/// What can be differentiated: anything with tensors, but no bare number and no integer tensor.
template <class X>
consteval auto active_verdict() {
  if constexpr (Number<X>) {
    return mistake("TL-GRAD-003", "a number: take tl::Scalar");
  } else if constexpr (kKind<X> == Kind::tensor) {
    if constexpr (!kIsFloating<ElementOf<X>>)
      return mistake("TL-GRAD-003", "the argument is not floating");
    else
      return Fine{};
  } else {
    return Fine{};
  }
}
template <class N, class... A>
struct Selected;
template <int I, class... A>
struct Selected<Argnums<I>, A...> {
  using type = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<A...>>;
};
template <int... I, class... A>
  requires(sizeof...(I) != 1)
struct Selected<Argnums<I...>, A...> {
  using type = std::tuple<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<A...>>...>;
};
/// The verdict on arguments of a derivative, of which those of number N are active.
template <class N, class... A>
struct ArgumentsVerdict;
template <int... I, class... A>
struct ArgumentsVerdict<Argnums<I...>, A...> {
  static consteval auto get() {
    if constexpr (IsMistake<kTrees<A...>>) {
      return kTrees<A...>;
    } else if constexpr (sizeof...(I) == 0) {
      return mistake("TL-GRAD-004", "no argument is chosen");
    } else if constexpr (!((I >= 0 && I < static_cast<int>(sizeof...(A))) && ...)) {
      return mistake("TL-GRAD-004", "no such argument");
    } else {
      return first_active<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<A...>>...>();
    }
  }

 private:
  template <class X, class... Y>
  static consteval auto first_active() {
    constexpr auto kWhy = active_verdict<X>();
    if constexpr (IsMistake<kWhy> || sizeof...(Y) == 0)
      return kWhy;
    else
      return first_active<Y...>();
  }
};
template <class N, class... A>
inline constexpr auto kArguments = ArgumentsVerdict<N, A...>::get();

/// The types of the arguments N, or Refused where there are none such.
template <class N, class... A>
struct SelectedOr {
  using type = Refused;
};
template <int... I, class... A>
  requires(((I >= 0 && I < static_cast<int>(sizeof...(A))) && ...))
struct SelectedOr<Argnums<I...>, A...> : Selected<Argnums<I...>, A...> {};
/// The type of a gradient: an argument's own, or a tuple for several.
template <class N, class... A>
using GradientOf = typename SelectedOr<N, A...>::type;

template <class N>
struct Indices;
template <int... I>
struct Indices<Argnums<I...>> {
  static constexpr int list[sizeof...(I) + 1]{I...};
  static constexpr std::span<const int> span{list, sizeof...(I)};
};

// ---- calls ----

/// One address per type.
template <class X>
inline constexpr char kTypeIdentity = 0;

template <class X>
void destroy(void* x) {
  delete static_cast<X*>(x);
}

/// A callable and prototypes of its arguments, as core::Function takes it. R is the callable's
/// result. Borrows both.
template <class R, class F, class... A>
class Callee {
 public:
  explicit Callee(F& f, const A&... prototypes) : f_(f), prototypes_(prototypes...) {}

  core::Function function() {
    return {.call = &call, .self = this, .type = &kTypeIdentity<Callee>};
  }

 private:
  static void call(void* self, const core::Leaves& in, core::Leaves& out) {
    auto& callee = *static_cast<Callee*>(self);
    Rebuilder r{in};
    callee.call_on(r, out, std::index_sequence_for<A...>{});
  }
  template <std::size_t... I>
  void call_on(Rebuilder& r, core::Leaves& out, std::index_sequence<I...>) {
    std::tuple<A...> arguments{r.take(std::get<I>(prototypes_))...};  // braces keep the order
    // A callable whose body is in error can't be called a second time in clang, which has reported
    // the error and would report this call too.
    if constexpr (requires { f_(std::get<I>(arguments)...); }) {
      const R result = f_(std::get<I>(arguments)...);
      flatten(result, out);
      out.keep(new R(stripped(result)), &destroy<R>);
    }
  }

  F& f_;
  std::tuple<const A&...> prototypes_;
};

/// The result tree of a call: structure from the prototype that the call kept.
template <class R>
R take_result(Rebuilder& r) {
  return r.take(*static_cast<const R*>(r.in.kept()));
}
/// Gradients of the arguments N, in the structure of the arguments.
template <class... A>
struct Arguments {
  const std::tuple<const A&...>& all;

  template <int I>
  auto take(Argnums<I>, Rebuilder& r) const {
    r.zero_numbers = true;
    return r.take(std::get<static_cast<std::size_t>(I)>(all));
  }
  template <int... I>
    requires(sizeof...(I) != 1)
  auto take(Argnums<I...>, Rebuilder& r) const {
    r.zero_numbers = true;
    return GradientOf<Argnums<I...>, A...>{r.take(std::get<static_cast<std::size_t>(I)>(all))...};
  }
};

// ---- wrappers ----
//
// A Policy says what a transform makes of a callable with result R and arguments A...:
//   State                      held by the wrapper, shared by its calls
//   arguments<A...>            the verdict on the arguments
//   result<R>                  the verdict on the result
//   Output<R, A...>            what a call returns
//   run<R>(f, state, where, a...)
//   run<R>(Owned<...>, f, state, where, a...)
//                              instead, of one that may use arguments up: those that the callable
//                              takes by value, or that a generic one is passed as rvalues

struct Stateless {};

/// Whether a policy may use arguments up.
template <class Policy>
inline constexpr bool kUsesUp = requires { typename Policy::UsesUp; };

/// The verdict on a result that must be a tree.
template <class R>
consteval auto result_verdict() {
  if constexpr (std::is_void_v<R>)
    return mistake("TL-CALL-001", "the function returns nothing");
  else
    return kTree<R>;
}

/// Refuses a result that is known only in the call.
template <class Policy, class R, auto Why = Policy::template result<R>>
std::type_identity<R> checked(std::type_identity<R> result) {
  return result;
}
template <class Policy, class R, auto Why = Policy::template result<R>>
  requires IsMistake<Why>
std::type_identity<Refused> checked(std::type_identity<R>) = delete;

/// The verdict on a callable with one signature.
template <class Policy>
struct FixedVerdict {
  template <class F, class R, class... P>
  struct On {
    static consteval auto get() {
      if constexpr (IsMistake<Policy::template result<R>>)
        return Policy::template result<R>;
      else
        return Policy::template arguments<std::remove_cvref_t<P>...>;
    }
  };
};

template <class Policy>
struct Transformed {
  using State = typename Policy::State;

  template <class F, class R, class... P>
  class Typed {
   public:
    Typed(F f, Where where, State state = {})
        : f_(std::move(f)), state_(std::move(state)), where_(where) {}
    typename Policy::template Output<R, std::remove_cvref_t<P>...> operator()(P... a) const {
      if constexpr (!IsMistake<FixedVerdict<Policy>::template On<F, R, P...>::get()>) {
        using Own = Owned<!std::is_reference_v<P>...>;
        if constexpr (kUsesUp<Policy>)
          return Policy::template run<R>(Own{}, f_, state_, where_, std::as_const(a)...);
        else
          return Policy::template run<R>(f_, state_, where_, std::as_const(a)...);
      } else {
        throw 0;  // never: refused where it was made
      }
    }
    using StateType = State;
    const State& state() const { return state_; }

   private:
    mutable F f_;
    mutable State state_;
    Where where_;
  };

  template <class F>
  class Generic {
   public:
    Generic(F f, Where where, State state = {})
        : f_(std::move(f)), state_(std::move(state)), where_(where) {}
    template <class... A, auto Why = Policy::template arguments<Lift<A>...>>
    auto operator()(A&&... a) const {
      // f is called here, not in a signature, so that an error in its body names the fewest
      // callers; and in one statement with all the rest, which clang drops then.
      return run(checked<Policy>(std::type_identity<decltype(f_(lvalue<Lift<A>>()...))>{}),
                 Owned<owns<A>()...>{}, static_cast<const Lift<A>&>(lift<owns<A>()>(a))...);
    }
    template <class... A, auto Why = Policy::template arguments<Lift<A>...>>
      requires IsMistake<Why>
#ifdef __clang__
    // clang reports a deleted call operator twice; one that can't be evaluated at compile time,
    // once.
    consteval Refused operator()(A&&...) const {
      return refuse();
    }
#else
    Refused operator()(A&&...) const = delete;
#endif
    using StateType = State;
    const State& state() const { return state_; }

   private:
    static Refused refuse();
    template <class X>
    static X& lvalue();
    /// Whether an argument that was passed as A&& is the call's own.
    template <class A>
    static consteval bool owns() {
      return kUsesUp<Policy> && !std::is_reference_v<A> && !std::is_const_v<A>;
    }
    template <class R, class Own, class... A>
    auto run(std::type_identity<R>, [[maybe_unused]] Own own, const A&... a) const {
      if constexpr (std::is_same_v<R, Refused>)
        return Refused();
      else if constexpr (kUsesUp<Policy>)
        return Policy::template run<R>(own, f_, state_, where_, a...);
      else
        return Policy::template run<R>(f_, state_, where_, a...);
    }

    mutable F f_;
    mutable State state_;
    Where where_;
  };
};

template <class Policy, class F>
struct TransformedImpl {
  using type = typename Transformed<Policy>::template Generic<F>;
};
template <class Policy, Fixed F>
struct TransformedImpl<Policy, F> {
  using type = typename SignatureOf<F>::type::template Wrap<Transformed<Policy>::template Typed, F>;
};
/// The callable that a transform makes of F.
template <class Policy, class F>
using Transform = typename TransformedImpl<Policy, F>::type;

template <class Policy, class F>
consteval auto transform_verdict() {
  if constexpr (!is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (Fixed<F>) {
    return SignatureOf<F>::type::template Wrap<FixedVerdict<Policy>::template On, F>::get();
  } else {
    return Fine{};
  }
}
/// The verdict on a callable to transform.
template <class Policy, class F>
inline constexpr auto kTransform = transform_verdict<Policy, F>();

}  // namespace detail
}  // namespace tlaloc
