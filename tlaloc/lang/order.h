// Orders and running totals along one axis: cumsum and its like, sort, argsort, argmax, argmin,
// top_k. The axis is a template index or name, or an argument: cumsum<0>(x), cumsum(x, len); none
// means the last. Errors: TL-AXIS-001, TL-AXIS-004, TL-DTYPE-003 (bool).
#pragma once

#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// Inclusive running sums; from the end when `reverse`.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
Like<A> cumsum(const A& x, K axis = {}, bool reverse = false, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::cumulative(core::CumulativeOp::sum, x.ref(), place, reverse, detail::labels<R>(),
                            where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused cumsum(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// Inclusive running products; from the end when `reverse`.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
Like<A> cumprod(const A& x, K axis = {}, bool reverse = false, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::cumulative(core::CumulativeOp::prod, x.ref(), place, reverse, detail::labels<R>(),
                            where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused cumprod(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// The largest so far; NaN stays.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
Like<A> cummax(const A& x, K axis = {}, bool reverse = false, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::cumulative(core::CumulativeOp::max, x.ref(), place, reverse, detail::labels<R>(),
                            where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused cummax(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// The smallest so far; NaN stays.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
Like<A> cummin(const A& x, K axis = {}, bool reverse = false, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::cumulative(core::CumulativeOp::min, x.ref(), place, reverse, detail::labels<R>(),
                            where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused cummin(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// log of the running sums of eˣ, without overflow.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
Like<A> cumlogsumexp(const A& x, K axis = {}, bool reverse = false,
                     Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::cumulative(core::CumulativeOp::logsumexp, x.ref(), place, reverse,
                            detail::labels<R>(), where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
  requires IsMistake<Why>
Refused cumlogsumexp(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// In ascending order unless `descending`; stable; NaN counts as the largest.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
Like<A> sort(const A& x, K axis = {}, bool descending = false, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::sort(x.ref(), place, descending, detail::labels<R>(), where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused sort(const A&, K = {}, bool = false, Where = Where::current()) = delete;

/// The positions that sort, as int.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
WithElement<A, int> argsort(const A& x, K axis = {}, bool descending = false,
                            Where where = Where::current()) {
  using R = WithElement<A, int>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::argsort(x.ref(), place, descending, detail::labels<R>(), where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::number, K, Ax>>
  requires IsMistake<Why>
Refused argsort(const A&, K = {}, bool = false, Where = Where::current()) = delete;

namespace detail {
/// argmax and argmin take one axis, or none: then the position counts all elements.
template <class A, bool Keep, class K, auto... Over>
consteval auto arg_verdict() {
  if constexpr (sizeof...(Over) > 1)
    return mistake("TL-AXIS-004", "one axis, or none");
  else
    return reduce_verdict<A, Domain::number, Keep, K, Over...>();
}
template <class A, bool Keep, class K, auto... Over>
inline constexpr auto kArg = arg_verdict<A, Keep, K, Over...>();
template <class R, bool Keep, class A, class K, auto... Over>
R arg_extreme(bool largest, const A& x, K axis, Where where) {
  constexpr bool kAll = std::is_same_v<K, Omitted> && sizeof...(Over) == 0;
  const auto r = reduction<R, Keep, A, K, Over...>(x, axis, where);
  const std::span<const int> over = r.over;
  return R(core::arg_extreme(largest, x.ref(), kAll ? -1 : over[0], Keep, r.axes, where));
}
}  // namespace detail

/// The position of the largest element as int, the first of equals; NaN wins. Without an axis: of
/// all elements in row-major order. Errors: also TL-AXIS-004 (several axes).
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, false, K, Over...>>
detail::Reduced<A, int, false, K, Over...> argmax(const A& x, K axis = {},
                                                  Where where = Where::current()) {
  using R = detail::Reduced<A, int, false, K, Over...>;
  return detail::arg_extreme<R, false, A, K, Over...>(true, x, axis, where);
}
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, false, K, Over...>>
  requires IsMistake<Why>
Refused argmax(const A&, K = {}, Where = Where::current()) = delete;

/// As argmax; the axis stays, as a literal 1.
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, true, K, Over...>>
detail::Reduced<A, int, true, K, Over...> argmax_keep(const A& x, K axis = {},
                                                      Where where = Where::current()) {
  using R = detail::Reduced<A, int, true, K, Over...>;
  return detail::arg_extreme<R, true, A, K, Over...>(true, x, axis, where);
}
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, true, K, Over...>>
  requires IsMistake<Why>
Refused argmax_keep(const A&, K = {}, Where = Where::current()) = delete;

/// The same for the smallest.
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, false, K, Over...>>
detail::Reduced<A, int, false, K, Over...> argmin(const A& x, K axis = {},
                                                  Where where = Where::current()) {
  using R = detail::Reduced<A, int, false, K, Over...>;
  return detail::arg_extreme<R, false, A, K, Over...>(false, x, axis, where);
}
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, false, K, Over...>>
  requires IsMistake<Why>
Refused argmin(const A&, K = {}, Where = Where::current()) = delete;

/// As argmin; the axis stays, as a literal 1.
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, true, K, Over...>>
detail::Reduced<A, int, true, K, Over...> argmin_keep(const A& x, K axis = {},
                                                      Where where = Where::current()) {
  using R = detail::Reduced<A, int, true, K, Over...>;
  return detail::arg_extreme<R, true, A, K, Over...>(false, x, axis, where);
}
template <auto... Over, class A, class K = Omitted, auto Why = detail::kArg<A, true, K, Over...>>
  requires IsMistake<Why>
Refused argmin_keep(const A&, K = {}, Where = Where::current()) = delete;

namespace detail {
template <class A, class Size>
struct TopRule;
template <auto... A, class Size>
struct TopRule<Dims<A...>, Size> {
  static constexpr rules::Over plan = rules::top_k(kSpecs<A...>, Size::value);
  template <class T>
  using Result = Pick<T, TopRule, A...>;
};
template <class A, int K>
inline constexpr auto kTop =
    rule_verdict<TopRule, A, Domain::number, true, std::integral_constant<int, K>>();
template <class A, class T, int K>
using Top = Ruled<TopRule, T, A, std::integral_constant<int, K>>;
}  // namespace detail

/// The K largest of the last axis in descending order, and their positions as int:
/// auto [values, positions] = top_k<5>(logits): [..., n] -> [..., K] twice.
/// Errors: TL-SHAPE-007 (K above the size), TL-AXIS-001 (rank 0).
template <int K, class A, auto Why = detail::kTop<A, K>>
std::pair<detail::Top<A, void, K>, detail::Top<A, int, K>> top_k(const A& x,
                                                                 Where where = Where::current()) {
  using V = detail::Top<A, void, K>;
  using P = detail::Top<A, int, K>;
  core::Ref values, positions;
  core::top_k(x.ref(), K, values, positions, detail::labels<V>(), where);
  return {V(std::move(values)), P(std::move(positions))};
}
template <int K, class A, auto Why = detail::kTop<A, K>>
  requires IsMistake<Why>
std::pair<Refused, Refused> top_k(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
