// Reductions. The axes are template indices, negative from the end, or names, or one named
// argument:
//   sum(x)  sum<0>(x)  sum<0, -1>(x)  sum<batch>(x)  sum(x, batch)
// and an Array also takes an int: sum(x, 0). The reduced axes go; with _keep a literal 1 stays.
// Errors: TL-AXIS-001 (no such axis), TL-AXIS-002 (an axis twice), TL-AXIS-004 (not an axis),
// TL-DTYPE-003 (element type), TL-TYPE-002 (not a tensor).
#pragma once

#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/reduction.h"

namespace tlaloc {

/// The sum; of nothing, 0.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> sum(const A& x, K axis = {},
                                                Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::sum, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
  requires IsMistake<Why>
Refused sum(const A&, K = {}, Where = Where::current()) = delete;

/// As sum; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> sum_keep(const A& x, K axis = {},
                                                    Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::sum, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
  requires IsMistake<Why>
Refused sum_keep(const A&, K = {}, Where = Where::current()) = delete;

/// The product; of nothing, 1.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> prod(const A& x, K axis = {},
                                                 Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::prod, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
  requires IsMistake<Why>
Refused prod(const A&, K = {}, Where = Where::current()) = delete;

/// As prod; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> prod_keep(const A& x, K axis = {},
                                                     Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::prod, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
  requires IsMistake<Why>
Refused prod_keep(const A&, K = {}, Where = Where::current()) = delete;

/// The largest; NaN if any is. Of nothing, the lowest value of the type.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> max(const A& x, K axis = {},
                                                Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::max, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
  requires IsMistake<Why>
Refused max(const A&, K = {}, Where = Where::current()) = delete;

/// As max; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> max_keep(const A& x, K axis = {},
                                                    Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::max, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
  requires IsMistake<Why>
Refused max_keep(const A&, K = {}, Where = Where::current()) = delete;

/// The smallest; NaN if any is. Of nothing, the highest value of the type.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> min(const A& x, K axis = {},
                                                Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::min, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, false, K, Over...>>
  requires IsMistake<Why>
Refused min(const A&, K = {}, Where = Where::current()) = delete;

/// As min; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> min_keep(const A& x, K axis = {},
                                                    Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::min, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::number, true, K, Over...>>
  requires IsMistake<Why>
Refused min_keep(const A&, K = {}, Where = Where::current()) = delete;

/// Whether all are true; of nothing, true.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> all_of(const A& x, K axis = {},
                                                   Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::all, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, false, K, Over...>>
  requires IsMistake<Why>
Refused all_of(const A&, K = {}, Where = Where::current()) = delete;

/// As all_of; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> all_of_keep(const A& x, K axis = {},
                                                       Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::all, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, true, K, Over...>>
  requires IsMistake<Why>
Refused all_of_keep(const A&, K = {}, Where = Where::current()) = delete;

/// Whether any is true; of nothing, false.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> any_of(const A& x, K axis = {},
                                                   Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::any, x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, false, K, Over...>>
  requires IsMistake<Why>
Refused any_of(const A&, K = {}, Where = Where::current()) = delete;

/// As any_of; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> any_of_keep(const A& x, K axis = {},
                                                       Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::reduce(core::ReduceOp::any, x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::boolean, true, K, Over...>>
  requires IsMistake<Why>
Refused any_of_keep(const A&, K = {}, Where = Where::current()) = delete;

/// The mean; of nothing, NaN.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
detail::Reduced<A, void, false, K, Over...> mean(const A& x, K axis = {},
                                                 Where where = Where::current()) {
  using R = detail::Reduced<A, void, false, K, Over...>;
  const auto r = detail::reduction<R, false, A, K, Over...>(x, axis, where);
  return R(core::mean(x.ref(), r.over, false, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, false, K, Over...>>
  requires IsMistake<Why>
Refused mean(const A&, K = {}, Where = Where::current()) = delete;

/// As mean; the axes stay, as literal 1s.
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
detail::Reduced<A, void, true, K, Over...> mean_keep(const A& x, K axis = {},
                                                     Where where = Where::current()) {
  using R = detail::Reduced<A, void, true, K, Over...>;
  const auto r = detail::reduction<R, true, A, K, Over...>(x, axis, where);
  return R(core::mean(x.ref(), r.over, true, r.axes, where));
}
template <auto... Over, class A, class K = Omitted,
          auto Why = detail::kReduce<A, Domain::floating, true, K, Over...>>
  requires IsMistake<Why>
Refused mean_keep(const A&, K = {}, Where = Where::current()) = delete;

}  // namespace tlaloc
