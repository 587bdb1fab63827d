// Products that sum over axes: matmul, contract, inner, outer, tensordot.
#pragma once

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/rules_contract.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class A, class B>
struct MatmulRule;
template <auto... A, auto... B>
struct MatmulRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Contraction plan = rules::matmul(kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Pick<T, MatmulRule, A..., B...>;
};
template <class A, class B, class Over>
struct ContractRule;
template <auto... A, auto... B, auto... Over>
struct ContractRule<Dims<A...>, Dims<B...>, Dims<Over...>> {
  static constexpr rules::Contraction plan =
      rules::contract(kSpecs<A...>, kSpecs<B...>, kSpecs<Over...>);
  template <class T>
  using Result = Pick<T, ContractRule, A..., B...>;
};
template <class A, class B, class Count>
struct TensordotRule;
template <auto... A, auto... B, class Count>
struct TensordotRule<Dims<A...>, Dims<B...>, Count> {
  static constexpr rules::Contraction plan =
      rules::tensordot(kSpecs<A...>, kSpecs<B...>, Count::value);
  template <class T>
  using Result = Pick<T, TensordotRule, A..., B...>;
};
template <class A, class B>
struct InnerRule;
template <auto... A, auto... B>
struct InnerRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Contraction plan = rules::inner(kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Pick<T, InnerRule, A..., B...>;
};
template <class A, class B>
struct OuterRule;
template <auto... A, auto... B>
struct OuterRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Contraction plan = rules::outer(kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Pick<T, OuterRule, A..., B...>;
};

template <template <class...> class Rule, class A, class B, class... X>
inline constexpr auto kProduct = pair_verdict<Rule, A, B, Domain::number, false, X...>();
template <class A, class B>
inline constexpr auto kMatmul = pair_verdict<MatmulRule, A, B, Domain::number, true>();

/// The names in template arguments, or the one given as an argument.
template <class K, auto... Over>
struct ContractedImpl {
  using type = Dims<Over...>;
};
template <AxisValue K, auto... Over>
struct ContractedImpl<K, Over...> {
  using type = Dims<Over..., K{}>;
};
template <class K, auto... Over>
using Contracted = typename ContractedImpl<K, Over...>::type;

template <class A, class B, class K, auto... Over>
consteval auto contract_verdict() {
  constexpr auto kWhy =
      pair_verdict<ContractRule, A, B, Domain::number, false, Contracted<K, Over...>>();
  if constexpr (!std::is_same_v<K, Omitted> && !AxisValue<K>) {
    return mistake("TL-AXIS-004", "not an axis");
  } else if constexpr (std::is_same_v<K, Omitted> && sizeof...(Over) == 0) {
    return mistake("TL-AXIS-004", "the axis to sum over is due");
  } else {
    return kWhy;
  }
}
template <class A, class B, class K, auto... Over>
inline constexpr auto kContract = contract_verdict<A, B, K, Over...>();

template <class R>
R product(const rules::Contraction& plan, const core::Ref& a, const core::Ref& b, Where where) {
  const core::Labeled operands[]{{&a, plan.labels_a}, {&b, plan.labels_b}};
  return R(core::einsum(operands, plan.labels_result, R::axes(), where));
}

}  // namespace detail

/// The result type of matmul.
template <class A, class B>
using Matmul = detail::Paired<detail::MatmulRule, A, B>;

/// The matrix product: [..., m, k] by [..., k, n] -> [..., m, n]. Leading axes broadcast; a vector
/// is one row or column that the result lacks (numpy.matmul).
/// Errors: TL-SHAPE-003 (k), TL-SHAPE-001 (leading axes), TL-RANK-001 (a scalar), TL-DTYPE-001.
template <class A, class B, auto Why = detail::kMatmul<A, B>>
Matmul<A, B> matmul(const A& a, const B& b, Where where = Where::current()) {
  using R = Matmul<A, B>;
  if constexpr (detail::kByShape<R>) {
    return R(core::matmul_by_shape(a.ref(), b.ref(), where));
  } else {
    return detail::product<R>(detail::MatmulRule<AxesOf<A>, AxesOf<B>>::plan, a.ref(), b.ref(),
                              where);
  }
}
template <class A, class B, auto Why = detail::kMatmul<A, B>>
  requires IsMistake<Why>
Refused matmul(const A&, const B&, Where = Where::current()) = delete;

/// The result type of contract.
template <class A, class B, class K, auto... Over>
using ContractedTo = detail::Paired<detail::ContractRule, A, B, detail::Contracted<K, Over...>>;

/// Sums over named axes that both operands carry: contract(h, w, hidden), contract<head, width>(q,
/// k). Other shared names are batch axes. The result has a's axes, then those of b that a lacks.
/// Errors: TL-AXIS-003 (not in both), TL-AXIS-002 (a shared name stands twice), TL-SHAPE-003 (one
/// name, two sizes), TL-AXIS-004 (no axis given).
template <auto... Over, class A, class B, class K = Omitted,
          auto Why = detail::kContract<A, B, K, Over...>>
ContractedTo<A, B, K, Over...> contract(const A& a, const B& b, K = {},
                                        Where where = Where::current()) {
  using R = ContractedTo<A, B, K, Over...>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    using Rule = detail::ContractRule<AxesOf<A>, AxesOf<B>, detail::Contracted<K, Over...>>;
    return detail::product<R>(Rule::plan, a.ref(), b.ref(), where);
  }
}
template <auto... Over, class A, class B, class K = Omitted,
          auto Why = detail::kContract<A, B, K, Over...>>
  requires IsMistake<Why>
Refused contract(const A&, const B&, K = {}, Where = Where::current()) = delete;

/// Sums over the last Count axes of a and the first Count of b, in order: [a..., k...] by
/// [k..., b...] -> [a..., b...] (numpy.tensordot). Errors: TL-RANK-001, TL-SHAPE-003, TL-DTYPE-001.
template <
    int Count = 2, class A, class B,
    auto Why = detail::kProduct<detail::TensordotRule, A, B, std::integral_constant<int, Count>>>
detail::Paired<detail::TensordotRule, A, B, std::integral_constant<int, Count>> tensordot(
    const A& a, const B& b, Where where = Where::current()) {
  using Amount = std::integral_constant<int, Count>;
  using R = detail::Paired<detail::TensordotRule, A, B, Amount>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    return detail::product<R>(detail::TensordotRule<AxesOf<A>, AxesOf<B>, Amount>::plan, a.ref(),
                              b.ref(), where);
  }
}
template <
    int Count = 2, class A, class B,
    auto Why = detail::kProduct<detail::TensordotRule, A, B, std::integral_constant<int, Count>>>
  requires IsMistake<Why>
Refused tensordot(const A&, const B&, Where = Where::current()) = delete;

/// Sums over the last axis of both: [a..., k] by [b..., k] -> [a..., b...] (numpy.inner).
/// Errors: TL-SHAPE-003, TL-RANK-001 (a scalar), TL-DTYPE-001.
template <class A, class B, auto Why = detail::kProduct<detail::InnerRule, A, B>>
detail::Paired<detail::InnerRule, A, B> inner(const A& a, const B& b,
                                              Where where = Where::current()) {
  using R = detail::Paired<detail::InnerRule, A, B>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    return detail::product<R>(detail::InnerRule<AxesOf<A>, AxesOf<B>>::plan, a.ref(), b.ref(),
                              where);
  }
}
template <class A, class B, auto Why = detail::kProduct<detail::InnerRule, A, B>>
  requires IsMistake<Why>
Refused inner(const A&, const B&, Where = Where::current()) = delete;

/// All products: [a...] by [b...] -> [a..., b...]. Errors: TL-RANK-002 (rank above 12),
/// TL-DTYPE-001.
template <class A, class B, auto Why = detail::kProduct<detail::OuterRule, A, B>>
detail::Paired<detail::OuterRule, A, B> outer(const A& a, const B& b,
                                              Where where = Where::current()) {
  using R = detail::Paired<detail::OuterRule, A, B>;
  if constexpr (detail::kByShape<R>) {
    return R();
  } else {
    return detail::product<R>(detail::OuterRule<AxesOf<A>, AxesOf<B>>::plan, a.ref(), b.ref(),
                              where);
  }
}
template <class A, class B, auto Why = detail::kProduct<detail::OuterRule, A, B>>
  requires IsMistake<Why>
Refused outer(const A&, const B&, Where = Where::current()) = delete;

}  // namespace tlaloc
