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
template <class F, class C, class X>
inline constexpr auto kScan = scan_verdict<F, Lift<C>, X>();

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
template <auto Length, class F, class C>
inline constexpr auto kRepeat = repeat_verdict<Length, F, Lift<C>>();

template <auto Axis, class Y, class C>
std::pair<C, Widened<Y, Axis>> scan_result(const core::Leaves& out) {
  Rebuilder r{.in = out};
  auto [carry, ys] = take_result<std::pair<C, Y>>(r);
  return {std::move(carry), Widen<Y, Axis>::of(ys)};
}

}  // namespace detail

/// carry, y = f(carry, x) for each element x of xs along axis 0; returns the last carry and the y
/// stacked along that axis: auto [h, hs] = scan(cell, h0, xs). xs is a tree whose leaves all have
/// the axis: a tensor, a tuple of them, a With. The axis keeps its name. Errors: TL-LOOP-004 (the
/// carry's type changes), TL-LOOP-005 (f takes other types), TL-LOOP-006 (f returns no pair),
/// TL-AXIS-001 (a scalar in xs), TL-VMAP-002 (a plain aggregate in xs: use With), TL-CALL-001,
/// TL-CALL-002, TL-TREE-001 to 005; at run time TL-SHAPE-001 (lengths differ).
template <class F, class C, class X, auto Why = detail::kScan<F, C, X>>
auto scan(F f, const C& init, const X& xs, ScanOptions options = {},
          Where where = Where::current()) {
  using Carry = detail::Lift<C>;
  using E = detail::Elements<X>;
  using Result = decltype(f(detail::lvalue<Carry>(), detail::lvalue<typename E::type>()));
  detail::check_step<Carry>(std::type_identity<Result>{});
  using Y = typename detail::StepParts<Result>::Y;
  const Carry first = detail::lift(init);
  const typename E::type element = E::of(xs);
  detail::Callee<std::pair<Carry, Y>, F, Carry, typename E::type> step(f, first, element);
  core::Leaves elements;
  detail::flatten(xs, elements);
  const core::Leaves out = core::scan(step.function(), detail::flatten_arguments(first), elements,
                                      -1, options.reverse, where);
  return detail::scan_result<E::axis, Y, Carry>(out);
}
template <class F, class C, class X, auto Why = detail::kScan<F, C, X>>
  requires IsMistake<Why>
std::pair<Refused, Refused> scan(F, const C&, const X&, ScanOptions = {},
                                 Where = Where::current()) = delete;

/// carry, y = f(carry), Length times: auto [last, path] = scan<100>(step, start). Errors: as scan;
/// TL-SHAPE-009 (Length has no size).
template <auto Length, class F, class C, auto Why = detail::kRepeat<Length, F, C>>
auto scan(F f, const C& init, ScanOptions options = {}, Where where = Where::current()) {
  using Carry = detail::Lift<C>;
  using Result = decltype(f(detail::lvalue<Carry>()));
  detail::check_step<Carry>(std::type_identity<Result>{});
  using Y = typename detail::StepParts<Result>::Y;
  const Carry first = detail::lift(init);
  detail::Callee<std::pair<Carry, Y>, F, Carry> step(f, first);
  const core::Leaves out = core::scan(step.function(), detail::flatten_arguments(first),
                                      core::Leaves(), spec_of(Length).size, options.reverse, where);
  return detail::scan_result<Length, Y, Carry>(out);
}
template <auto Length, class F, class C, auto Why = detail::kRepeat<Length, F, C>>
  requires IsMistake<Why>
std::pair<Refused, Refused> scan(F, const C&, ScanOptions = {}, Where = Where::current()) = delete;

}  // namespace tlaloc
