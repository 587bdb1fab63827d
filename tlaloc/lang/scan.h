// scan: a loop over the elements of axis 0 that carries a value and collects results.
#pragma once

#include "tlaloc/lang/control.h"
#include "tlaloc/lang/peel.h"

namespace tlaloc {

/// How scan runs.
struct ScanOptions {
  bool reverse = false;  ///< from the last element to the first; results keep their places
};

namespace detail {

template <class R>
struct StepParts {
  static constexpr bool ok = false;
  using Carry = Refused;
  using Y = Refused;
};
template <class C, class Z>
struct StepParts<std::pair<C, Z>> {
  static constexpr bool ok = true;
  using Carry = C;
  using Y = Lift<Z>;
};
template <>
struct StepParts<Refused> {
  static constexpr bool ok = true;
  using Carry = Refused;
  using Y = Refused;
};
template <class R, class C>
consteval auto step_verdict() {
  if constexpr (std::is_void_v<R>) {
    return mistake("TL-CALL-001", "the function returns nothing");
  } else if constexpr (!StepParts<R>::ok) {
    return mistake("TL-LOOP-006", "return std::pair{carry, y}");
  } else {
    constexpr auto kCarry = carry_verdict<typename StepParts<R>::Carry, C>();
    if constexpr (IsMistake<kCarry>)
      return kCarry;
    else
      return kTree<typename StepParts<R>::Y>;
  }
}
template <class C, class R, auto Why = step_verdict<R, C>()>
void check_step(std::type_identity<R>) {}
template <class C, class R, auto Why = step_verdict<R, C>()>
  requires IsMistake<Why>
void check_step(std::type_identity<R>) = delete;

/// The elements of xs: every leaf loses axis 0.
template <class X>
using Elements = Peel<X, ByIndex<0>>;

template <class F, class C, class X>
consteval auto scan_verdict() {
  if constexpr (!is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (IsMistake<kTrees<C, X>>) {
    return kTrees<C, X>;
  } else if constexpr (Elements<X>::fault.code != nullptr) {
    return copy_verdict<length(Elements<X>::fault.code) + 1, length(Elements<X>::fault.reason) + 1>(
        Elements<X>::fault.code, Elements<X>::fault.reason);
  } else if constexpr (std::is_same_v<std::remove_const_t<decltype(Elements<X>::axis)>, NoAxis>) {
    return mistake("TL-LOOP-003", "xs has no leaves");
  } else if constexpr (!takes<F, C, typename Elements<X>::type>()) {
    return mistake("TL-LOOP-005", "the body takes other types");
  } else if constexpr (Fixed<F>) {
    return step_verdict<ResultOf<F>, C>();
  } else {
    return Fine{};
  }
}
template <auto Length, class F, class C>
consteval auto repeat_verdict() {
  if constexpr (!is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (!kIsDim<decltype(Length)>) {
    return mistake("TL-AXIS-004", "a size or an axis is due");
  } else if constexpr (spec_of(Length).size < 0) {
    return mistake("TL-SHAPE-009", "the axis has no size");
  } else if constexpr (IsMistake<kTree<C>>) {
    return kTree<C>;
  } else if constexpr (!takes<F, C>()) {
    return mistake("TL-LOOP-005", "the body takes other types");
  } else if constexpr (Fixed<F>) {
    return step_verdict<ResultOf<F>, C>();
  } else {
    return Fine{};
  }
}
/// Over xs, or a number of times: one of the two.
template <class F, class C, class X, auto... Length>
consteval auto either_verdict() {
  if constexpr (sizeof...(Length) == 1 && std::is_same_v<X, Omitted>) {
    return repeat_verdict<Length..., F, C>();
  } else if constexpr (sizeof...(Length) == 0 && !std::is_same_v<X, Omitted>) {
    return scan_verdict<F, C, X>();
  } else {
    return mistake("TL-LOOP-003", "either xs or one length is due");
  }
}
template <class F, class C, class X, auto... Length>
inline constexpr auto kScan = either_verdict<F, Lift<C>, X, Length...>();

template <auto Axis, class Y, class C>
std::pair<C, Widened<Y, Axis>> scan_result(const core::Leaves& out) {
  Rebuilder r{.in = out};
  auto [carry, ys] = take_result<std::pair<C, Y>>(r);
  return {std::move(carry), Widen<Y, Axis>::of(ys)};
}

}  // namespace detail

/// carry, y = f(carry, x) for each element x of xs along axis 0; returns the last carry and the y
/// stacked along that axis: auto [h, hs] = scan(cell, h0, xs). xs is a tree whose leaves all have
/// the axis: a tensor, a tuple of them, a With. The axis keeps its name. Without xs, carry, y =
/// f(carry) as often as a size says: auto [last, path] = scan<100>(step, start). Errors:
/// TL-LOOP-003 (neither xs nor a length, or both), TL-LOOP-004 (the carry's type changes),
/// TL-LOOP-005 (f takes other types), TL-LOOP-006 (f returns no pair), TL-AXIS-001 (a scalar in
/// xs), TL-VMAP-002 (a plain aggregate in xs: use With), TL-SHAPE-009 (the length has no size),
/// TL-CALL-001, TL-CALL-002, TL-TREE-001 to 005; at run time TL-SHAPE-001 (lengths differ).
template <auto... Length, class F, class C, class X = Omitted,
          auto Why = detail::kScan<F, C, X, Length...>>
auto scan(F f, const C& init, const X& xs = {}, ScanOptions options = {},
          Where where = Where::current()) {
  using Carry = detail::Lift<C>;
  const Carry first = detail::lift(init);
  if constexpr (std::is_same_v<X, Omitted>) {
    using Result = decltype(f(detail::lvalue<Carry>()));
    detail::check_step<Carry>(std::type_identity<Result>{});
    if constexpr (IsMistake<detail::step_verdict<Result, Carry>()>) {
      return std::pair<Refused, Refused>();
    } else {
      using Y = typename detail::StepParts<Result>::Y;
      detail::Callee<std::pair<Carry, Y>, F, Carry> step(f, first);
      const core::Leaves out =
          core::scan(step.function(), detail::flatten_arguments(first), core::Leaves(),
                     (spec_of(Length).size, ...), options.reverse, where);
      return detail::scan_result<(Length, ...), Y, Carry>(out);
    }
  } else {
    using E = detail::Elements<X>;
    using Result = decltype(f(detail::lvalue<Carry>(), detail::lvalue<typename E::type>()));
    detail::check_step<Carry>(std::type_identity<Result>{});
    if constexpr (IsMistake<detail::step_verdict<Result, Carry>()>) {
      return std::pair<Refused, Refused>();
    } else {
      using Y = typename detail::StepParts<Result>::Y;
      const typename E::type element = E::of(xs);
      detail::Callee<std::pair<Carry, Y>, F, Carry, typename E::type> step(f, first, element);
      core::Leaves elements;
      detail::flatten(xs, elements);
      const core::Leaves out = core::scan(step.function(), detail::flatten_arguments(first),
                                          elements, -1, options.reverse, where);
      return detail::scan_result<E::axis, Y, Carry>(out);
    }
  }
}
template <auto... Length, class F, class C, class X = Omitted,
          auto Why = detail::kScan<F, C, X, Length...>>
  requires IsMistake<Why>
std::pair<Refused, Refused> scan(F, const C&, const X& = {}, ScanOptions = {},
                                 Where = Where::current()) = delete;

}  // namespace tlaloc
