// Making tensors: zeros, ones, full, their _like forms, eye, arange, linspace, tril, triu.
//
// An axis without a size takes it from `like`, a tensor that carries that axis:
// zeros<float, batch, 10>(x). Errors: TL-SHAPE-009 (no size to be had), TL-DTYPE-003 (T is no
// element type), TL-AXIS-004 (neither a size nor an axis).
#pragma once

#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

/// Whether `like` gives the axis a size: by name, or an `any` by its place.
template <class L, auto Ax>
consteval bool has_size(int rank) {
  constexpr core::AxisSpec kSpec = spec_of(Ax);
  if (kSpec.size >= 0 || kKind<L> == Kind::array || kKind<L> == Kind::refused) return true;
  if constexpr (kKind<L> != Kind::tensor) {
    return false;
  } else {
    return kSpec.any ? L::rank == rank : rules::find(kSpecsOf<AxesOf<L>>, kSpec) >= 0;
  }
}
template <class T, class L, auto... D>
consteval auto creation_verdict() {
  if constexpr (!kIsElement<T>) {
    return mistake("TL-DTYPE-003", "no element type");
  } else if constexpr (!(kIsDim<decltype(D)> && ...)) {
    return mistake("TL-AXIS-004", "a size or an axis is due");
  } else if constexpr (kKind<L> == Kind::number ||
                       (kKind<L> == Kind::other && !std::is_same_v<L, Omitted>)) {
    return mistake("TL-TYPE-002", "like is no tensor");
  } else if constexpr (!(has_size<L, D>(sizeof...(D)) && ...)) {
    return mistake("TL-SHAPE-009", "an axis lacks a size: give like");
  } else {
    return Fine{};
  }
}
template <class T, class L, auto... D>
inline constexpr auto kCreation = creation_verdict<T, L, D...>();

template <class T, class L, class V, auto... D>
consteval auto full_verdict() {
  constexpr auto kWhy = creation_verdict<T, L, D...>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (kKind<V> == Kind::other)
    return mistake("TL-TYPE-002", "the value is no scalar");
  else
    return conversion_verdict<V, T, Dims<>>();
}
template <class T, class L, class V, auto... D>
inline constexpr auto kFull = full_verdict<T, L, V, D...>();

template <class T, auto... D>
struct CreatedImpl {
  using type = Refused;
};
template <Element T, auto... D>
  requires(kIsDim<decltype(D)> && ...)
struct CreatedImpl<T, D...> {
  using type = Tensor<T, D...>;
};
/// Tensor<T, D...>, or Refused where there is no such type.
template <class T, auto... D>
using Created = typename CreatedImpl<T, D...>::type;

template <class R, class L>
R filled(const core::Ref& value, const L& like, Where where) {
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else if constexpr (std::is_same_v<L, Omitted>) {
    return R(core::broadcast(value, {}, {}, R::axes(), where));
  } else {
    const core::Ref sizes[]{like.ref()};
    return R(core::broadcast(value, {}, sizes, R::axes(), where));
  }
}
template <class T>
core::Ref zero_ref() {
  if constexpr (kIsElement<T>)
    return core::scalar(dtype_of<T>, 0);
  else
    return {};
}
template <class T>
core::Ref one_ref() {
  if constexpr (kIsElement<T>)
    return core::scalar(dtype_of<T>, 1);
  else
    return {};
}

}  // namespace detail

/// All zeros (false): zeros<float, 3, hidden>(), zeros<float, batch, 10>(x).
template <class T, auto... D, class L = Omitted, auto Why = detail::kCreation<T, L, D...>>
detail::Created<T, D...> zeros(const L& like = {}, Where where = Where::current()) {
  return detail::filled<detail::Created<T, D...>>(detail::zero_ref<T>(), like, where);
}
template <class T, auto... D, class L = Omitted, auto Why = detail::kCreation<T, L, D...>>
  requires IsMistake<Why>
Refused zeros(const L& = {}, Where = Where::current()) = delete;

/// All ones (true).
template <class T, auto... D, class L = Omitted, auto Why = detail::kCreation<T, L, D...>>
detail::Created<T, D...> ones(const L& like = {}, Where where = Where::current()) {
  return detail::filled<detail::Created<T, D...>>(detail::one_ref<T>(), like, where);
}
template <class T, auto... D, class L = Omitted, auto Why = detail::kCreation<T, L, D...>>
  requires IsMistake<Why>
Refused ones(const L& = {}, Where = Where::current()) = delete;

/// All equal to a number or a scalar: full<float, 3, hidden>(0.5). Errors: also TL-DTYPE-001,
/// TL-DTYPE-002, TL-RANK-001 (the value is no scalar).
template <class T, auto... D, class V, class L = Omitted, auto Why = detail::kFull<T, L, V, D...>>
detail::Created<T, D...> full(const V& value, const L& like = {}, Where where = Where::current()) {
  using R = detail::Created<T, D...>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    return detail::filled<R>(detail::operand_ref<T>(value), like, where);
  }
}
template <class T, auto... D, class V, class L = Omitted, auto Why = detail::kFull<T, L, V, D...>>
  requires IsMistake<Why>
Refused full(const V&, const L& = {}, Where = Where::current()) = delete;

/// Zeros (false) of x's type and sizes.
template <class A, auto Why = detail::kOne<A>>
Like<A> zeros_like(const A& x, Where where = Where::current()) {
  if constexpr (detail::kByShape<Like<A>>) {
    return Like<A>(core::full_like(x.ref(), 0, where));
  } else {
    return detail::filled<A>(detail::zero_ref<ElementOf<A>>(), x, where);
  }
}
template <class A, auto Why = detail::kOne<A>>
  requires IsMistake<Why>
Refused zeros_like(const A&, Where = Where::current()) = delete;

/// Ones (true) of x's type and sizes.
template <class A, auto Why = detail::kOne<A>>
Like<A> ones_like(const A& x, Where where = Where::current()) {
  if constexpr (detail::kByShape<Like<A>>) {
    return Like<A>(core::full_like(x.ref(), 1, where));
  } else {
    return detail::filled<A>(detail::one_ref<ElementOf<A>>(), x, where);
  }
}
template <class A, auto Why = detail::kOne<A>>
  requires IsMistake<Why>
Refused ones_like(const A&, Where = Where::current()) = delete;

/// 1 where column - row = Diagonal, else 0: eye<float, 3, 3>() -> [3, 3].
template <class T, auto Rows, auto Columns, int Diagonal = 0, class L = Omitted,
          auto Why = detail::kCreation<T, L, Rows, Columns>>
detail::Created<T, Rows, Columns> eye(const L& like = {}, Where where = Where::current()) {
  using R = detail::Created<T, Rows, Columns>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    const core::Ref sizes[]{like.ref()};
    const std::size_t given = std::is_same_v<L, Omitted> ? 0 : 1;
    return R(core::eye(dtype_of<T>, Diagonal, {sizes, given}, R::axes(), where));
  }
}
template <class T, auto Rows, auto Columns, int Diagonal = 0, class L = Omitted,
          auto Why = detail::kCreation<T, L, Rows, Columns>>
  requires IsMistake<Why>
Refused eye(const L& = {}, Where = Where::current()) = delete;

namespace detail {
template <class T, class L, class A, class B, auto N>
consteval auto range_verdict() {
  constexpr auto kFirst = full_verdict<T, L, A, N>();
  if constexpr (IsMistake<kFirst>)
    return kFirst;
  else if constexpr (std::is_same_v<T, bool>)
    return domain_mistake<Domain::number>();
  else
    return full_verdict<T, L, B, N>();
}
template <class T, class L, class A, class B, auto N>
inline constexpr auto kRange = range_verdict<T, L, A, B, N>();
template <class T, class V>
core::Ref range_ref(const V& value) {
  if constexpr (kIsElement<T> && (Number<V> || kKind<V> == Kind::tensor))
    return operand_ref<T>(value);
  else
    return {};
}
}  // namespace detail

/// start + step · i for i in [0, N): arange<10>(), arange<len, float>(0, 0.5, x). start and step
/// are numbers or scalars. Errors: also TL-DTYPE-001, TL-DTYPE-002.
template <auto N, class T = int, class A = int, class B = int, class L = Omitted,
          auto Why = detail::kRange<T, L, A, B, N>>
detail::Created<T, N> arange(const A& start = A(0), const B& step = B(1), const L& like = {},
                             Where where = Where::current()) {
  using R = detail::Created<T, N>;
  const core::Ref sizes[]{like.ref()};
  const std::size_t given = std::is_same_v<L, Omitted> ? 0 : 1;
  return R(core::arange(detail::range_ref<T>(start), detail::range_ref<T>(step), {sizes, given},
                        R::axes(), where));
}
template <auto N, class T = int, class A = int, class B = int, class L = Omitted,
          auto Why = detail::kRange<T, L, A, B, N>>
  requires IsMistake<Why>
Refused arange(const A& = A(0), const B& = B(1), const L& = {}, Where = Where::current()) = delete;

namespace detail {
template <class T, class A, class B, auto N>
consteval auto linspace_verdict() {
  constexpr auto kWhy = range_verdict<T, Omitted, A, B, N>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (!kIsFloating<T>)
    return domain_mistake<Domain::floating>();
  else
    return Fine{};
}
template <class T, class A, class B, auto N>
inline constexpr auto kLinspace = linspace_verdict<T, A, B, N>();
}  // namespace detail

/// N numbers from start to stop, both included, at equal distance (numpy.linspace).
/// Errors: also TL-DTYPE-003 (T is not floating).
template <auto N, class T = float, class A, class B, auto Why = detail::kLinspace<T, A, B, N>>
detail::Created<T, N> linspace(const A& start, const B& stop, Where where = Where::current()) {
  using R = detail::Created<T, N>;
  return R(
      core::linspace(detail::range_ref<T>(start), detail::range_ref<T>(stop), R::axes(), where));
}
template <auto N, class T = float, class A, class B, auto Why = detail::kLinspace<T, A, B, N>>
  requires IsMistake<Why>
Refused linspace(const A&, const B&, Where = Where::current()) = delete;

namespace detail {
template <class A>
consteval auto matrix_verdict() {
  constexpr auto kWhy = one_verdict<A, Domain::all, false>();
  if constexpr (IsMistake<kWhy> || kKind<A> != Kind::tensor) {
    return kWhy;
  } else {
    if constexpr (A::rank < 2)
      return mistake("TL-RANK-001", "[..., rows, columns] is due");
    else
      return Fine{};
  }
}
template <class A>
inline constexpr auto kMatrix = matrix_verdict<A>();
}  // namespace detail

/// x with zeros above a diagonal of the last two axes: column - row > Diagonal.
/// Error: TL-RANK-001.
template <int Diagonal = 0, class A, auto Why = detail::kMatrix<A>>
Like<A> tril(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::triangle(x.ref(), false, Diagonal, detail::labels<R>(), where));
}
template <int Diagonal = 0, class A, auto Why = detail::kMatrix<A>>
  requires IsMistake<Why>
Refused tril(const A&, Where = Where::current()) = delete;

/// x with zeros below a diagonal of the last two axes: column - row < Diagonal. Error: TL-RANK-001.
template <int Diagonal = 0, class A, auto Why = detail::kMatrix<A>>
Like<A> triu(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::triangle(x.ref(), true, Diagonal, detail::labels<R>(), where));
}
template <int Diagonal = 0, class A, auto Why = detail::kMatrix<A>>
  requires IsMistake<Why>
Refused triu(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
