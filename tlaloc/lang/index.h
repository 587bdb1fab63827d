// Indexing: take, embedding, take_along_axis, one_hot, dynamic_slice, dynamic_update,
// roll, axis_size. x[i] is a member of Tensor.
//
// Indices are integers: a number, or a tensor of any integer type. A negative one counts from the
// end. Out of range is TL-INDEX-001. In a trace, where nobody can tell, it is as in JAX: x[i]
// reads the element at the nearer end, take and embedding give NaN (integers: the least signed, the
// greatest unsigned; bool: true) without a gradient, and scatter (scatter.h) drops the update.
#pragma once

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <auto Ax, class X, class I>
using Taken = typename TakeResult<X, OneSelector<Omitted, Ax>, I>::type;
template <auto Ax, class X, class I>
inline constexpr auto kTakeAt = kTake<X, OneSelector<Omitted, Ax>, I>;

template <class A, class I, class Selector>
struct AlongRule;
template <auto... A, auto... I, class Selector>
struct AlongRule<Dims<A...>, Dims<I...>, Selector> {
  static constexpr rules::Over plan =
      rules::take_along_axis(kSpecs<A...>, Selector::spec, kSpecs<I...>);
  template <class T>
  using Result = Pick<T, AlongRule, A..., I...>;
};
template <auto Ax, class X, class I>
consteval auto along_verdict() {
  constexpr auto kOperand = one_verdict<X, Domain::all, false>();
  constexpr auto kIndices = index_verdict<X, I>();
  if constexpr (IsMistake<kOperand>) {
    return kOperand;
  } else if constexpr (IsMistake<kIndices>) {
    return kIndices;
  } else if constexpr (kKind<X> == Kind::tensor && kKind<I> != Kind::refused) {
    return verdict_of<AlongRule<AxesOf<X>, AxesOf<I>, OneSelector<Omitted, Ax>>>();
  } else {
    return Fine{};
  }
}
template <auto Ax, class X, class I>
inline constexpr auto kTakeAlong = along_verdict<Ax, X, I>();
template <auto Ax, class X, class I>
struct AlongResult {
  using type = std::conditional_t<kKind<X> == Kind::array, Array, Refused>;
};
template <auto Ax, class X, class I>
  requires(kKind<X> == Kind::tensor && kKind<I> == Kind::tensor)
struct AlongResult<Ax, X, I> {
  using type = typename AlongRule<AxesOf<X>, AxesOf<I>,
                                  OneSelector<Omitted, Ax>>::template Result<ElementOf<X>>;
};

}  // namespace detail

/// Along axis Ax: [.., d, ..] by [i...] -> [.., i..., ..]; a scalar index drops the axis
/// (numpy.take). Errors: TL-AXIS-001, TL-DTYPE-003 (no integer).
template <auto Ax, class X, class I, auto Why = detail::kTakeAt<Ax, X, I>>
detail::Taken<Ax, X, I> take(const X& x, const I& indices, Where where = Where::current()) {
  using R = detail::Taken<Ax, X, I>;
  return R(core::take(x.ref(), detail::place_of<Ax>(x, Omitted{}, where),
                      detail::index_ref(indices), detail::labels<R>(), where));
}
template <auto Ax, class X, class I, auto Why = detail::kTakeAt<Ax, X, I>>
  requires IsMistake<Why>
Refused take(const X&, const I&, Where = Where::current()) = delete;

/// Rows of a table: [v, e...] by ids [d...] -> [d..., e...]. Errors: as take.
template <class X, class I, auto Why = detail::kTakeAt<0, X, I>>
detail::Taken<0, X, I> embedding(const X& table, const I& ids, Where where = Where::current()) {
  using R = detail::Taken<0, X, I>;
  return R(core::take(table.ref(), 0, detail::index_ref(ids), detail::labels<R>(), where));
}
template <class X, class I, auto Why = detail::kTakeAt<0, X, I>>
  requires IsMistake<Why>
Refused embedding(const X&, const I&, Where = Where::current()) = delete;

/// result[.., i, ..] = x[.., indices[.., i, ..], ..] along axis Ax; equal ranks, the other axes
/// fit; the result has the indices' shape (numpy.take_along_axis). Errors: TL-RANK-001,
/// TL-SHAPE-006 (another axis differs), TL-AXIS-001, TL-DTYPE-003.
template <auto Ax, class X, class I, auto Why = detail::kTakeAlong<Ax, X, I>>
typename detail::AlongResult<Ax, X, I>::type take_along_axis(const X& x, const I& indices,
                                                             Where where = Where::current()) {
  using R = typename detail::AlongResult<Ax, X, I>::type;
  return R(core::take_along_axis(x.ref(), detail::place_of<Ax>(x, Omitted{}, where),
                                 detail::index_ref(indices), detail::labels<R>(), where));
}
template <auto Ax, class X, class I, auto Why = detail::kTakeAlong<Ax, X, I>>
  requires IsMistake<Why>
Refused take_along_axis(const X&, const I&, Where = Where::current()) = delete;

namespace detail {
template <class A, class Classes>
struct OneHotRule;
template <auto... A, auto Classes>
struct OneHotRule<Dims<A...>, Dims<Classes>> {
  static constexpr rules::Plan plan = rules::one_hot(kSpecs<A...>, kSpecs<Classes>[0]);
  template <class T>
  using Result = Pick<T, OneHotRule, A..., Classes>;
};
template <class T, class I, auto Classes>
consteval auto one_hot_verdict() {
  if constexpr (!kIsElement<T>) {
    return mistake("TL-DTYPE-003", "no element type");
  } else if constexpr (!kIsDim<decltype(Classes)>) {
    return mistake("TL-AXIS-004", "a size or an axis is due");
  } else {
    return rule_verdict<OneHotRule, I, Domain::integer, false, Dims<Classes>>();
  }
}
template <class T, class I, auto Classes>
inline constexpr auto kOneHot = one_hot_verdict<T, I, Classes>();
}  // namespace detail

/// 1 where the new last axis's index equals the id, else 0: [d...] -> [d..., Classes]. An id out of
/// range gives zeros. Classes is a size or an axis with one: one_hot<10>(y), one_hot<vocab>(y).
/// Errors: TL-SHAPE-009 (Classes has no size), TL-DTYPE-003 (ids are no integers).
template <auto Classes, class T = float, class I, auto Why = detail::kOneHot<T, I, Classes>>
detail::Ruled<detail::OneHotRule, T, I, Dims<Classes>> one_hot(const I& ids,
                                                               Where where = Where::current()) {
  using R = detail::Ruled<detail::OneHotRule, T, I, Dims<Classes>>;
  return R(core::one_hot(ids.ref(), dtype_of<T>, detail::labels<R>(), where));
}
template <auto Classes, class T = float, class I, auto Why = detail::kOneHot<T, I, Classes>>
  requires IsMistake<Why>
Refused one_hot(const I&, Where = Where::current()) = delete;

namespace detail {
template <class A, class Selector, class Size>
struct DynamicSliceRule;
template <auto... A, class Selector, class Size>
struct DynamicSliceRule<Dims<A...>, Selector, Size> {
  static constexpr rules::Over plan =
      rules::dynamic_slice(kSpecs<A...>, Selector::spec, Size::value);
  template <class T>
  using Result = Pick<T, DynamicSliceRule, A...>;
};
template <class I>
consteval auto start_verdict() {
  constexpr auto kWhy = index_verdict<I, I>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (!std::is_same_v<AxesOf<I>, Dims<>>)
    return mistake("TL-RANK-001", "a start is a scalar");
  else
    return Fine{};
}
template <auto Ax, std::int64_t Size, class A, class I>
consteval auto dynamic_slice_verdict() {
  constexpr auto kStart = start_verdict<I>();
  if constexpr (!kIsDim<decltype(Ax)>) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else if constexpr (IsMistake<kStart>) {
    return kStart;
  } else {
    return rule_verdict<DynamicSliceRule, A, Domain::all, true, OneSelector<Omitted, Ax>,
                        std::integral_constant<std::int64_t, Size>>();
  }
}
template <auto Ax, std::int64_t Size, class A, class I>
inline constexpr auto kDynamicSlice = dynamic_slice_verdict<Ax, Size, A, I>();
template <auto Ax, std::int64_t Size, class A>
using DynamicallySliced = Ruled<DynamicSliceRule, void, A, OneSelector<Omitted, Ax>,
                                std::integral_constant<std::int64_t, Size>>;
}  // namespace detail

/// Size elements of axis Ax from `start`, an integer scalar, which is clamped so that they fit
/// (StableHLO's dynamic_slice). Errors: TL-SHAPE-007 (longer than the axis), TL-BOUND-001,
/// TL-AXIS-001, TL-RANK-001, TL-DTYPE-003 (the start).
template <auto Ax, std::int64_t Size, class A, class I,
          auto Why = detail::kDynamicSlice<Ax, Size, A, I>>
detail::DynamicallySliced<Ax, Size, A> dynamic_slice(const A& x, const I& start,
                                                     Where where = Where::current()) {
  using R = detail::DynamicallySliced<Ax, Size, A>;
  return R(core::dynamic_slice(x.ref(), detail::place_of<Ax>(x, Omitted{}, where),
                               detail::index_ref(start), Size, detail::labels<R>(), where));
}
template <auto Ax, std::int64_t Size, class A, class I,
          auto Why = detail::kDynamicSlice<Ax, Size, A, I>>
  requires IsMistake<Why>
Refused dynamic_slice(const A&, const I&, Where = Where::current()) = delete;

namespace detail {
template <class A, class B>
struct UpdateRule;
template <auto... A, auto... B>
struct UpdateRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::dynamic_update(kSpecs<A...>, kSpecs<B...>);
};
template <class A, class B, class... I>
consteval auto update_verdict() {
  constexpr auto kPair = pair_verdict<UpdateRule, A, B, Domain::all, true>();
  if constexpr (IsMistake<kPair>) {
    return kPair;
  } else if constexpr (!((std::is_integral_v<I> || kKind<I> == Kind::refused ||
                          kKind<I> == Kind::tensor || kKind<I> == Kind::array) &&
                         ...)) {
    return mistake("TL-DTYPE-003", "a start is an integer");
  } else if constexpr (kKind<A> == Kind::tensor && !((kKind<I> == Kind::refused) || ...)) {
    if constexpr (sizeof...(I) != A::rank)
      return mistake("TL-RANK-001", "one start per axis");
    else if constexpr ((IsMistake<start_verdict<I>()> || ...))
      return mistake("TL-RANK-001", "a start is an integer scalar");
    else
      return Fine{};
  } else {
    return Fine{};
  }
}
template <class A, class B, class... I>
inline constexpr auto kUpdate = update_verdict<A, B, I...>();
}  // namespace detail

/// x with `block`, of equal rank, written at one integer scalar start per axis, clamped so that it
/// fits (StableHLO's dynamic_update_slice). Errors: TL-RANK-001, TL-SHAPE-007 (the block is
/// longer), TL-DTYPE-001, TL-DTYPE-003 (a start).
template <class A, class B, class... I, auto Why = detail::kUpdate<A, B, I...>>
Like<A> dynamic_update(const A& x, const B& block, const I&... starts) {
  using R = Like<A>;
  const core::Ref places[]{core::Ref(), detail::index_ref(starts)...};
  return R(core::dynamic_update(x.ref(), block.ref(), std::span(places).subspan(1),
                                detail::labels<R>(), Where{}));
}
template <class A, class B, class... I, auto Why = detail::kUpdate<A, B, I...>>
  requires IsMistake<Why>
Refused dynamic_update(const A&, const B&, const I&...) = delete;

namespace detail {
template <auto Ax, class A, class I>
consteval auto roll_verdict() {
  constexpr auto kStart = start_verdict<I>();
  if constexpr (IsMistake<kStart>)
    return kStart;
  else
    return along_verdict<A, Domain::all, Omitted, Ax>();
}
template <auto Ax, class A, class I>
inline constexpr auto kRoll = roll_verdict<Ax, A, I>();
}  // namespace detail

/// Element i of axis Ax moves to (i + shift) mod size; shift is an integer scalar (numpy.roll).
/// Errors: TL-AXIS-001, TL-RANK-001, TL-DTYPE-003 (the shift).
template <auto Ax, class A, class I, auto Why = detail::kRoll<Ax, A, I>>
Like<A> roll(const A& x, const I& shift, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::roll(x.ref(), detail::index_ref(shift), detail::place_of<Ax>(x, Omitted{}, where),
                      detail::labels<R>(), where));
}
template <auto Ax, class A, class I, auto Why = detail::kRoll<Ax, A, I>>
  requires IsMistake<Why>
Refused roll(const A&, const I&, Where = Where::current()) = delete;

/// The size of axis Ax as a scalar of the program, in a trace too: sum(x) / cast<float>(
/// axis_size<batch>(x)). Error: TL-AXIS-001.
template <auto Ax, class A, auto Why = detail::kAlong<A, Domain::all, Omitted, Ax>>
Scalar<std::int64_t> axis_size(const A& x, Where where = Where::current()) {
  return Scalar<std::int64_t>(
      core::axis_size(x.ref(), detail::place_of<Ax>(x, Omitted{}, where), where));
}
template <auto Ax, class A, auto Why = detail::kAlong<A, Domain::all, Omitted, Ax>>
  requires IsMistake<Why>
Refused axis_size(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
