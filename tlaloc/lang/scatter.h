// Writing at indices: scatter_add, scatter_mul, scatter_min, scatter_max, scatter_set.
//
// `updates` has the shape that take<Ax>(x, indices) has. A negative index counts from the end; out
// of range is TL-INDEX-001, and in a trace the update is dropped. Errors: TL-SHAPE-001 (updates),
// TL-RANK-001, TL-AXIS-001, TL-AXIS-004, TL-DTYPE-001, TL-DTYPE-003, TL-TYPE-002.
#pragma once

#include "tlaloc/lang/index.h"

namespace tlaloc {
namespace detail {
template <auto Ax, class X, class I, class U>
consteval auto scatter_verdict() {
  constexpr auto kTaken = take_verdict<X, OneSelector<Omitted, Ax>, I>();
  if constexpr (IsMistake<kTaken>) {
    return kTaken;
  } else if constexpr (kKind<U> == Kind::other || kKind<U> == Kind::number) {
    return mistake("TL-TYPE-002", "updates are no tensor");
  } else if constexpr (kKind<X> != Kind::tensor || kKind<I> == Kind::refused) {
    constexpr auto kUpdates = one_verdict<U, Domain::all, false>();
    return kUpdates;
  } else {
    return conversion_verdict<U, ElementOf<X>, AxesOf<Taken<Ax, X, I>>>();
  }
}
template <auto Ax, class X, class I, class U>
inline constexpr auto kScatter = scatter_verdict<Ax, X, I, U>();
template <auto Ax, class X, class I, class U>
Like<X> scatter(core::ScatterOp op, const X& x, const I& indices, const U& updates, Where where) {
  using R = Like<X>;
  return R(core::scatter(op, x.ref(), place_of<Ax>(x, Omitted{}, where), index_ref(indices),
                         updates.ref(), labels<R>(), where));
}
}  // namespace detail

/// x with `updates` added at `indices` along axis Ax; several updates of one place add up.
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
Like<X> scatter_add(const X& x, const I& indices, const U& updates,
                    Where where = Where::current()) {
  return detail::scatter<Ax>(core::ScatterOp::add, x, indices, updates, where);
}
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
  requires IsMistake<Why>
Refused scatter_add(const X&, const I&, const U&, Where = Where::current()) = delete;

/// x with its elements at `indices` along axis Ax multiplied by `updates`, in turn.
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
Like<X> scatter_mul(const X& x, const I& indices, const U& updates,
                    Where where = Where::current()) {
  return detail::scatter<Ax>(core::ScatterOp::mul, x, indices, updates, where);
}
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
  requires IsMistake<Why>
Refused scatter_mul(const X&, const I&, const U&, Where = Where::current()) = delete;

/// x with its elements at `indices` along axis Ax lowered to `updates` where those are less.
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
Like<X> scatter_min(const X& x, const I& indices, const U& updates,
                    Where where = Where::current()) {
  return detail::scatter<Ax>(core::ScatterOp::min, x, indices, updates, where);
}
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
  requires IsMistake<Why>
Refused scatter_min(const X&, const I&, const U&, Where = Where::current()) = delete;

/// x with its elements at `indices` along axis Ax raised to `updates` where those are more.
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
Like<X> scatter_max(const X& x, const I& indices, const U& updates,
                    Where where = Where::current()) {
  return detail::scatter<Ax>(core::ScatterOp::max, x, indices, updates, where);
}
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
  requires IsMistake<Why>
Refused scatter_max(const X&, const I&, const U&, Where = Where::current()) = delete;

/// x with its elements at `indices` along axis Ax replaced by `updates`; of several updates of one
/// place, which one stays is not defined.
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
Like<X> scatter_set(const X& x, const I& indices, const U& updates,
                    Where where = Where::current()) {
  return detail::scatter<Ax>(core::ScatterOp::set, x, indices, updates, where);
}
template <auto Ax, class X, class I, class U, auto Why = detail::kScatter<Ax, X, I, U>>
  requires IsMistake<Why>
Refused scatter_set(const X&, const I&, const U&, Where = Where::current()) = delete;

}  // namespace tlaloc
