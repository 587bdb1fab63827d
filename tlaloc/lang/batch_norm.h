// Batch normalization. Channels are the last axis, as in convolutions: [n, spatial..., c].
#pragma once

#include "tlaloc/lang/composites.h"
#include "tlaloc/lang/core_batch_norm.h"

namespace tlaloc {
namespace detail {

template <class A>
struct BatchStatisticsRule;
template <auto... A>
struct BatchStatisticsRule<Dims<A...>> {
  static constexpr rules::Plan plan = rules::channels(kSpecs<A...>);
  template <class T>
  using Result = Pick<T, BatchStatisticsRule, A...>;
};
template <class A>
inline constexpr auto kBatchStatistics =
    rule_verdict<BatchStatisticsRule, A, Domain::floating, false>();

template <class A, class M, class V, class S, class B>
consteval auto batch_norm_verdict() {
  constexpr auto kOperand = kBatchStatistics<A>;
  constexpr auto kMean = norm_verdict<A, M>();
  constexpr auto kVariance = norm_verdict<A, V>();
  if constexpr (IsMistake<kOperand>)
    return kOperand;
  else if constexpr (IsMistake<kMean>)
    return kMean;
  else if constexpr (IsMistake<kVariance>)
    return kVariance;
  else
    return layer_norm_verdict<A, S, B>();
}
template <class A, class M, class V, class S, class B>
inline constexpr auto kBatchNorm = batch_norm_verdict<A, M, V, S, B>();

}  // namespace detail

/// The mean and the variance (over n, not n - 1) of each channel, over all axes but the last:
/// [n, ..., c] -> {[c], [c]}. Training normalizes by them and keeps running averages of them:
///   const auto [mean, variance] = batch_statistics(x);
///   const auto y = batch_norm(x, mean, variance, scale, bias);
/// Errors: TL-RANK-001 (no axis beside the channels), TL-DTYPE-003, TL-TYPE-004.
template <class A, auto Why = detail::kBatchStatistics<A>>
auto batch_statistics(const A& x, Where where = Where::current()) {
  using R = detail::Ruled<detail::BatchStatisticsRule, void, A>;
  const core::BatchStatistics s = core::batch_statistics(x.ref(), detail::labels<R>(), where);
  return std::pair(R(s.mean), R(s.variance));
}
template <class A, auto Why = detail::kBatchStatistics<A>>
  requires IsMistake<Why>
std::pair<Refused, Refused> batch_statistics(const A&, Where = Where::current()) = delete;

/// (x - mean) / sqrt(variance + epsilon) · scale + bias, with vectors of the last axis of x; scale
/// and bias may be left out (Ioffe and Szegedy 2015, arXiv:1502.03167). Mean and variance are the
/// batch's own (see batch_statistics) or running averages of them. Errors: TL-SHAPE-001 (a vector
/// of another size), TL-RANK-001, TL-DTYPE-001, TL-DTYPE-003, TL-TYPE-004.
template <class A, class M, class V, class S = Omitted, class B = Omitted,
          auto Why = detail::kBatchNorm<A, M, V, S, B>>
Like<A> batch_norm(const A& x, const M& mean, const V& variance, const S& scale = {},
                   const B& bias = {}, double epsilon = 1e-5, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::batch_norm(x.ref(), {mean.ref(), variance.ref()}, scale.ref(), bias.ref(), epsilon,
                            detail::labels<R>(), where));
}
template <class A, class M, class V, class S = Omitted, class B = Omitted,
          auto Why = detail::kBatchNorm<A, M, V, S, B>>
  requires IsMistake<Why>
Refused batch_norm(const A&, const M&, const V&, const S& = {}, const B& = {}, double = 1e-5,
                   Where = Where::current()) = delete;

}  // namespace tlaloc
