// Sorting several tensors together, and sorting by a comparator.
#pragma once

#include <tuple>
#include <utility>

#include "tlaloc/lang/columns.h"
#include "tlaloc/lang/control.h"
#include "tlaloc/lang/core_fold.h"
#include "tlaloc/lang/reduction.h"

namespace tlaloc {
namespace detail {

template <auto Ax, int Keys, class A, class... B>
consteval auto sort_together_verdict() {
  constexpr auto kAxis = kAlong<A, Domain::number, Omitted, Ax>;
  if constexpr (IsMistake<kAxis>)
    return kAxis;
  else if constexpr (Keys < 1 || Keys > static_cast<int>(1 + sizeof...(B)))
    return mistake("TL-ATTR-001", "keys: 1 to the number of operands");
  else
    return same_shape_verdict<Domain::number, A, A, B...>();
}
template <auto Ax, int Keys, class... A>
inline constexpr auto kSortTogether = sort_together_verdict<Ax, Keys, A...>();

template <auto Ax, class F, class X>
consteval auto sort_by_verdict() {
  using E = ScalarsOf<X>;
  if constexpr (IsMistake<kColumns<X>>)
    return kColumns<X>;
  else if constexpr (IsMistake<kAlong<typename Columns<X>::First, Domain::all, Omitted, Ax>>)
    return kAlong<typename Columns<X>::First, Domain::all, Omitted, Ax>;
  else if constexpr (!is_callable<F>())
    return mistake("TL-CALL-002", "not callable");
  else if constexpr (kRefused<X>)
    return Fine{};
  else if constexpr (!takes<F, E, E>())
    return mistake("TL-LOOP-005", "the comparator takes other types");
  else
    return condition_result_verdict<FixedOr<F, bool>>();
}
template <auto Ax, class F, class X>
inline constexpr auto kSortBy = sort_by_verdict<Ax, F, X>();

/// X; Refused where X is nothing that can be sorted.
template <class X>
using SortedBy = std::conditional_t<IsMistake<kColumns<X>>, Refused, X>;
template <auto Ax, class A>
inline constexpr int kSortAxis = KeepRule<AxesOf<A>, OneSelector<Omitted, Ax>>::plan.axes_over[0];

}  // namespace detail

/// Tensors of one shape, sorted together along axis Ax by the first Keys of them, later ones where
/// earlier ones are equal: auto [ids, times, scores] = sort_together<-1, 2>(id, time, score).
/// Ascending, stable, NaN the largest. Errors: TL-AXIS-001, TL-AXIS-004, TL-RANK-001 and
/// TL-SHAPE-001 (shapes differ), TL-ATTR-001 (Keys), TL-DTYPE-003 (bool), TL-TYPE-002, TL-TYPE-004.
template <auto Ax = -1, int Keys = 1, class... A, auto Why = detail::kSortTogether<Ax, Keys, A...>>
std::tuple<Like<A>...> sort_together(const A&... xs) {
  using R = std::tuple<Like<A>...>;
  if constexpr (detail::kRefused<R>) {
    return {};
  } else {
    const R all(xs...);
    const core::Leaves out =
        core::sort_together(detail::flatten_arguments(all),
                            detail::kSortAxis<Ax, std::tuple_element_t<0, R>>, Keys, Where{});
    detail::Rebuilder r{.in = out};
    return r.take(all);
  }
}
template <auto Ax = -1, int Keys = 1, class... A, auto Why = detail::kSortTogether<Ax, Keys, A...>>
  requires IsMistake<Why>
std::tuple<Like<A>...> sort_together(const A&...) = delete;

/// x, a tensor or a tuple of tensors of one shape, sorted along axis Ax so that no element stands
/// before one that should come first: before(a, b) says of two elements whether a comes first.
///   sort_by<0>([](auto a, auto b) { return abs(a) < abs(b); }, x)
/// An element of a tuple is a tuple of scalars. Stable. `before` is made of elementwise operations;
/// it may capture numbers, but no traced value. Errors: as sort_together; TL-CALL-002, TL-LOOP-005
/// (`before` takes other types), TL-COND-001 (it returns no bool); at run time TL-REGION-001.
template <auto Ax = -1, class F, class X, auto Why = detail::kSortBy<Ax, F, X>>
detail::SortedBy<X> sort_by(F before, const X& x, Where where = Where::current()) {
  if constexpr (!detail::kRefused<X>) {
    using E = detail::ScalarsOf<X>;
    using Holds = decltype(before(detail::lvalue<E>(), detail::lvalue<E>()));
    detail::check_condition(std::type_identity<Holds>{});
    if constexpr (!IsMistake<detail::condition_result_verdict<Holds>()> &&
                  !detail::kRefused<Holds>) {
      const E element;
      detail::Callee<Tensor<bool>, F, E, E> callee(before, element, element);
      const core::Leaves out =
          core::sort_by(callee.function(), detail::flatten_arguments(element, element),
                        detail::flatten_arguments(x),
                        detail::kSortAxis<Ax, typename detail::Columns<X>::First>, where);
      detail::Rebuilder r{.in = out};
      return r.take(x);
    }
  }
  return {};
}
template <auto Ax = -1, class F, class X, auto Why = detail::kSortBy<Ax, F, X>>
  requires IsMistake<Why>
Refused sort_by(F, const X&, Where = Where::current()) = delete;

}  // namespace tlaloc
