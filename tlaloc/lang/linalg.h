// Linear algebra over the last two axes; axes in front of them are a batch. diagonals of matrices
// are einsum<"ii->i">(x).
#pragma once

#include "tlaloc/lang/core_linalg.h"
#include "tlaloc/lang/rules_linalg.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class A>
struct SquareRule;
template <auto... A>
struct SquareRule<Dims<A...>> {
  static constexpr rules::Plan plan = rules::square(kSpecs<A...>);
  template <class T>
  using Result = Tensor<T, A...>;
};
template <class A>
inline constexpr auto kSquare = rule_verdict<SquareRule, A, Domain::floating, false>();

template <class A, class B>
struct SolveRule;
template <auto... A, auto... B>
struct SolveRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::solve(kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Tensor<T, B...>;
};
template <class A, class B>
inline constexpr auto kSolve = pair_verdict<SolveRule, A, B, Domain::floating, false>();

template <class A>
struct DiagRule;
template <auto... A>
struct DiagRule<Dims<A...>> {
  static constexpr rules::Plan plan = rules::diag(kSpecs<A...>);
  template <class T>
  using Result = Pick<T, DiagRule, A...>;
};
template <class A>
inline constexpr auto kDiag = rule_verdict<DiagRule, A, Domain::all, false>();

}  // namespace detail

/// The lower L with L Lᵀ = x: [..., n, n]. Reads the lower triangle of x only; NaN where x is not
/// positive definite. Errors: TL-RANK-001, TL-SHAPE-012 (not square), TL-DTYPE-003.
template <class A, auto Why = detail::kSquare<A>>
Like<A> cholesky(const A& x, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::cholesky(x.ref(), detail::labels<R>(), where));
}
template <class A, auto Why = detail::kSquare<A>>
  requires IsMistake<Why>
Refused cholesky(const A&, Where = Where::current()) = delete;

using core::TriangularOptions;
/// The x with a x = b for a triangular a: [..., n, n] by [..., n, m] -> [..., n, m].
/// Errors: TL-RANK-001, TL-SHAPE-012 (a is not square), TL-SHAPE-006 (a batch axis or n differs),
/// TL-DTYPE-001, TL-DTYPE-003.
template <class A, class B, auto Why = detail::kSolve<A, B>>
detail::Paired<detail::SolveRule, A, B> triangular_solve(const A& a, const B& b,
                                                         const TriangularOptions& options = {},
                                                         Where where = Where::current()) {
  using R = detail::Paired<detail::SolveRule, A, B>;
  return R(core::triangular_solve(a.ref(), b.ref(), options, detail::labels<R>(), where));
}
template <class A, class B, auto Why = detail::kSolve<A, B>>
  requires IsMistake<Why>
Refused triangular_solve(const A&, const B&, const TriangularOptions& = {},
                         Where = Where::current()) = delete;

/// The matrix with the vector x on its diagonal and zeros elsewhere: [n] -> [n, n].
/// Errors: TL-RANK-001.
template <class A, auto Why = detail::kDiag<A>>
detail::Ruled<detail::DiagRule, void, A> diag(const A& x, Where where = Where::current()) {
  using R = detail::Ruled<detail::DiagRule, void, A>;
  return R(core::diag(x.ref(), detail::labels<R>(), where));
}
template <class A, auto Why = detail::kDiag<A>>
  requires IsMistake<Why>
Refused diag(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
