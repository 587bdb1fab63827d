// Reductions by any function: over axes, and over windows.
#pragma once

#include "tlaloc/lang/columns.h"
#include "tlaloc/lang/control.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/rules_fold.h"

namespace tlaloc {
namespace detail {

/// The verdict on a function of accumulators and elements, and on what it starts from.
template <class F, class I, class X>
consteval auto fold_verdict() {
  using E = ScalarsOf<X>;
  if constexpr (!is_callable<F>())
    return mistake("TL-CALL-002", "not callable");
  else if constexpr (kRefused<X> || kRefused<I>)
    return Fine{};
  else if constexpr (!std::is_convertible_v<I, E>)
    return mistake("TL-LOOP-004", "init: a scalar for each tensor");
  else if constexpr (!takes<F, E, E>())
    return mistake("TL-LOOP-005", "the function takes other types");
  else if constexpr (Fixed<F>)
    return carry_verdict<ResultOf<F>, E>();
  else
    return Fine{};
}

/// Result types: `Of<A>` for a tensor A, a tuple of them for a tuple.
template <class X, template <class> class Of>
struct EachColumn {
  using type = Of<X>;
};
template <class... P, template <class> class Of>
struct EachColumn<std::tuple<P...>, Of> {
  using type = std::tuple<Of<P>...>;
};

template <class X, class K, auto... Over>
struct FoldOver {
  template <class A>
  using Of = Reduced<A, void, false, K, Over...>;
  using First = typename Columns<X>::First;
  using Result = typename EachColumn<X, Of>::type;
  static consteval auto axes_verdict() {
    if constexpr (IsMistake<kColumns<X>>)
      return kColumns<X>;
    else
      return reduce_verdict<First, Domain::all, false, K, Over...>();
  }
};
template <class F, class I, class X, class K, auto... Over>
consteval auto reduce_by_verdict() {
  constexpr auto kAxes = FoldOver<X, K, Over...>::axes_verdict();
  if constexpr (IsMistake<kAxes>)
    return kAxes;
  else
    return fold_verdict<F, I, X>();
}
template <class F, class I, class X, class K, auto... Over>
inline constexpr auto kReduceBy = reduce_by_verdict<F, I, X, K, Over...>();

template <Window... W>
struct WindowList {
  static constexpr Window list[sizeof...(W) + 1]{W..., Window{}};
  static constexpr std::span<const Window> span{list, sizeof...(W)};
};
template <class A, class W>
struct FoldWindowsRule;
template <auto... A, class W>
struct FoldWindowsRule<Dims<A...>, W> {
  static constexpr rules::Plan plan = rules::fold_windows(kSpecs<A...>, W::span);
  template <class T>
  using Result = Pick<T, FoldWindowsRule, A...>;
};
template <class X, class W>
struct FoldWindows {
  template <class A>
  using Of = Ruled<FoldWindowsRule, void, A, W>;
  using Result = typename EachColumn<X, Of>::type;
};
template <class F, class I, class X, class W>
consteval auto reduce_window_verdict() {
  if constexpr (IsMistake<kColumns<X>>) {
    return kColumns<X>;
  } else {
    using First = typename Columns<X>::First;
    constexpr auto kWindows = rule_verdict<FoldWindowsRule, First, Domain::all, false, W>();
    if constexpr (IsMistake<kWindows>)
      return kWindows;
    else
      return fold_verdict<F, I, X>();
  }
}
template <class F, class I, class X, class W>
inline constexpr auto kReduceWindow = reduce_window_verdict<F, I, X, W>();

/// Whether there is something to fold, and a function that folds it; if not, that has been said.
template <class I, class X, class Next>
inline constexpr bool kFolds = !kRefused<X> && !kRefused<I> && !kRefused<Next> &&
                               !IsMistake<carry_verdict<Next, ScalarsOf<X>>()>;

/// Calls run(function, elements, init, xs) of the core with everything flattened.
template <class R, class F, class I, class X, class Run>
R run_fold(F& f, const I& init, const X& x, const Run& run) {
  using E = ScalarsOf<X>;
  const E element, start = init;
  Callee<E, F, E, E> callee(f, element, element);
  const core::Leaves out = run(callee.function(), flatten_arguments(element, element),
                               flatten_arguments(start), flatten_arguments(x));
  Rebuilder r{.in = out};
  return r.take(R());
}

}  // namespace detail

/// x, a tensor or a tuple of tensors of one shape, folded over the axes Over (or one axis given as
/// argument; none: all): acc = f(acc, element) from `init`, in row-major order (lax.reduce).
///   auto [value, place] = reduce<0>(later, std::tuple(-1.0, 0), std::tuple(x, places))
/// An accumulator is a scalar, or a tuple of scalars for a tuple. f is made of elementwise
/// operations; it may capture numbers, but no traced value. Errors: those of sum;
/// TL-RANK-001 and TL-SHAPE-001 (shapes of a tuple differ), TL-CALL-001, TL-CALL-002, TL-LOOP-004
/// (`init` or a result is of another type), TL-LOOP-005 (f takes other types), TL-TYPE-004; at run
/// time TL-REGION-001.
template <auto... Over, class F, class I, class X, class K = Omitted,
          auto Why = detail::kReduceBy<F, I, X, K, Over...>>
typename detail::FoldOver<X, K, Over...>::Result reduce(F f, const I& init, const X& x,
                                                        [[maybe_unused]] K axis = {},
                                                        Where where = Where::current()) {
  using Fold = detail::FoldOver<X, K, Over...>;
  using E = detail::ScalarsOf<X>;
  using R = typename Fold::Result;
  // f is called here, so that an error in it names the fewest callers.
  using Next = decltype(f(detail::lvalue<E>(), detail::lvalue<E>()));
  detail::check_carry<E>(std::type_identity<Next>{});
  if constexpr (detail::kFolds<I, X, Next>) {
    return detail::run_fold<R>(f, init, x, [&](const auto&... leaves) {
      using Rule = detail::ReduceRule<AxesOf<typename Fold::First>, detail::Selectors<K, Over...>,
                                      std::false_type>;
      return core::fold(leaves..., Rule::plan.axes_over, where);
    });
  } else {
    return R();
  }
}
template <auto... Over, class F, class I, class X, class K = Omitted,
          auto Why = detail::kReduceBy<F, I, X, K, Over...>>
  requires IsMistake<Why>
Refused reduce(F, const I&, const X&, K = {}, Where = Where::current()) = delete;

/// The same over each window; one Window per axis (lax.reduce_window):
///   reduce_window<Window{}, Window{.size = 3, .stride = 2}>(f, 0.0, x)
/// `init` is also what padding and gaps hold, so it should change nothing. An axis without a size
/// becomes `any`, unless its window changes nothing or is `same` with stride 1. Errors: TL-RANK-001
/// (one window per axis), TL-SHAPE-007 (sizes, strides, dilations below 1), and those of reduce.
template <Window... W, class F, class I, class X,
          auto Why = detail::kReduceWindow<F, I, X, detail::WindowList<W...>>>
typename detail::FoldWindows<X, detail::WindowList<W...>>::Result reduce_window(
    F f, const I& init, const X& x, Where where = Where::current()) {
  using Windows = detail::WindowList<W...>;
  using E = detail::ScalarsOf<X>;
  using R = typename detail::FoldWindows<X, Windows>::Result;
  using Next = decltype(f(detail::lvalue<E>(), detail::lvalue<E>()));
  detail::check_carry<E>(std::type_identity<Next>{});
  if constexpr (detail::kFolds<I, X, Next>) {
    return detail::run_fold<R>(f, init, x, [&](const auto&... leaves) {
      return core::fold_windows(leaves..., Windows::span, where);
    });
  } else {
    return R();
  }
}
template <Window... W, class F, class I, class X,
          auto Why = detail::kReduceWindow<F, I, X, detail::WindowList<W...>>>
  requires IsMistake<Why>
Refused reduce_window(F, const I&, const X&, Where = Where::current()) = delete;

}  // namespace tlaloc
