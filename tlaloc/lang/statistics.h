// Statistics: reductions that are composites. Axes and errors as in reduce.h.
#pragma once

#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/reduction.h"

namespace tlaloc {

/// The variance: the sum of squared deviations over n - ddof (numpy.var).
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> var(const A& x, K axis = {}, int ddof = 0,
                                                Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::variance(x.ref(), r.over, ddof, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
  requires IsMistake<Why>
Refused var(const A&, K = {}, int = 0, Where = Where::current()) = delete;

/// As var; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> var_keep(const A& x, K axis = {}, int ddof = 0,
                                                    Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::variance(x.ref(), r.over, ddof, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
  requires IsMistake<Why>
Refused var_keep(const A&, K = {}, int = 0, Where = Where::current()) = delete;

/// The standard deviation, sqrt(var(x)).
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> stddev(const A& x, K axis = {}, int ddof = 0,
                                                   Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::unary(core::UnaryOp::sqrt,
                       core::variance(x.ref(), r.over, ddof, false, r.axes, where), r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
  requires IsMistake<Why>
Refused stddev(const A&, K = {}, int = 0, Where = Where::current()) = delete;

/// As stddev; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> stddev_keep(const A& x, K axis = {}, int ddof = 0,
                                                       Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::unary(core::UnaryOp::sqrt,
                       core::variance(x.ref(), r.over, ddof, true, r.axes, where), r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
  requires IsMistake<Why>
Refused stddev_keep(const A&, K = {}, int = 0, Where = Where::current()) = delete;

/// The Euclidean norm sqrt(Σ x²); its gradient at 0 is 0.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> norm(const A& x, K axis = {},
                                                 Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::norm(x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
  requires IsMistake<Why>
Refused norm(const A&, K = {}, Where = Where::current()) = delete;

/// As norm; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> norm_keep(const A& x, K axis = {},
                                                     Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::norm(x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
  requires IsMistake<Why>
Refused norm_keep(const A&, K = {}, Where = Where::current()) = delete;

/// log Σ eˣ, without overflow.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> logsumexp(const A& x, K axis = {},
                                                      Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::logsumexp(x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
  requires IsMistake<Why>
Refused logsumexp(const A&, K = {}, Where = Where::current()) = delete;

/// As logsumexp; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> logsumexp_keep(const A& x, K axis = {},
                                                          Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::logsumexp(x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
  requires IsMistake<Why>
Refused logsumexp_keep(const A&, K = {}, Where = Where::current()) = delete;

}  // namespace tlaloc
