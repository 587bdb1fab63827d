// Composites: named calls that back ends may claim as a whole. Softmax, losses, normalization.
#pragma once

#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/rules_nn.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// eˣ / Σ eˣ along one axis, without overflow; the last axis unless another is named:
/// softmax<0>(x), softmax(x, classes). Errors: TL-AXIS-001, TL-AXIS-004, TL-DTYPE-003.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
Like<A> softmax(const A& x, K axis = {}, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::softmax(x.ref(), place, detail::labels<R>(), where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
  requires IsMistake<Why>
Refused softmax(const A&, K = {}, Where = Where::current()) = delete;

/// log softmax(x), without cancellation. As softmax.
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
Like<A> log_softmax(const A& x, K axis = {}, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::log_softmax(x.ref(), place, detail::labels<R>(), where));
}
template <auto Ax = -1, class A, class K = Omitted,
          auto Why = detail::kAlong<A, Domain::floating, K, Ax>>
  requires IsMistake<Why>
Refused log_softmax(const A&, K = {}, Where = Where::current()) = delete;

namespace detail {
template <class A, class I>
struct CrossEntropyRule;
template <auto... A, auto... I>
struct CrossEntropyRule<Dims<A...>, Dims<I...>> {
  static constexpr rules::Plan plan = rules::cross_entropy(kSpecs<A...>, kSpecs<I...>);
  template <class T>
  using Result = Pick<T, CrossEntropyRule, A..., I...>;
};
template <class A, class I>
consteval auto cross_entropy_verdict() {
  constexpr auto kLogits = one_verdict<A, Domain::floating, false>();
  constexpr auto kIds = index_verdict<A, I>();
  if constexpr (IsMistake<kLogits>) {
    return kLogits;
  } else if constexpr (IsMistake<kIds>) {
    return kIds;
  } else if constexpr (kKind<A> == Kind::tensor && kKind<I> != Kind::refused) {
    return verdict_of<CrossEntropyRule<AxesOf<A>, AxesOf<I>>>();
  } else {
    return Fine{};
  }
}
template <class A, class I>
inline constexpr auto kCrossEntropy = cross_entropy_verdict<A, I>();
template <class A, class I, Kind KA = kKind<A>, Kind KI = kKind<I>>
struct CrossEntropyResult {
  using type = std::conditional_t<KA == Kind::array, Array, Refused>;
};
template <class A, class I, Kind KI>
  requires(KI == Kind::tensor || KI == Kind::number)
struct CrossEntropyResult<A, I, Kind::tensor, KI> {
  using type = typename CrossEntropyRule<AxesOf<A>, AxesOf<I>>::template Result<ElementOf<A>>;
};
}  // namespace detail

/// The loss of each example: -log softmax(logits)[id] over the last axis, [d..., classes] by ids
/// [d...] -> [d...]. The usual training loss is its mean: mean(cross_entropy(logits, ids)).
/// Errors: TL-RANK-001, TL-SHAPE-006 (d... differ), TL-DTYPE-003 (logits not floating, ids no
/// integers).
template <class A, class I, auto Why = detail::kCrossEntropy<A, I>>
typename detail::CrossEntropyResult<A, I>::type cross_entropy(const A& logits, const I& ids,
                                                              Where where = Where::current()) {
  using R = typename detail::CrossEntropyResult<A, I>::type;
  return R(core::cross_entropy(logits.ref(), detail::index_ref(ids), detail::labels<R>(), where));
}
template <class A, class I, auto Why = detail::kCrossEntropy<A, I>>
  requires IsMistake<Why>
Refused cross_entropy(const A&, const I&, Where = Where::current()) = delete;

namespace detail {
template <class A, class S>
struct LastAxisRule;
template <auto... A, auto... S>
struct LastAxisRule<Dims<A...>, Dims<S...>> {
  static constexpr rules::Plan plan = rules::last_axis(kSpecs<A...>, kSpecs<S...>);
};
/// A scale or bias of a normalization: a vector of x's last axis, or nothing.
template <class A, class S>
consteval auto norm_verdict() {
  constexpr auto kOperand = one_verdict<A, Domain::floating, false>();
  if constexpr (IsMistake<kOperand>) {
    return kOperand;
  } else if constexpr (std::is_same_v<S, Omitted>) {
    if constexpr (kKind<A> == Kind::tensor)
      return verdict_of<KeepRule<AxesOf<A>, OneSelector<Omitted, -1>>>();
    else
      return Fine{};
  } else {
    return pair_verdict<LastAxisRule, A, S, Domain::floating, true>();
  }
}
template <class A, class S, class B>
consteval auto layer_norm_verdict() {
  constexpr auto kScale = norm_verdict<A, S>();
  if constexpr (IsMistake<kScale>)
    return kScale;
  else
    return norm_verdict<A, B>();
}
template <class A, class S, class B>
inline constexpr auto kLayerNorm = layer_norm_verdict<A, S, B>();
}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) over the last axis, times scale, plus bias, vectors of
/// that axis that may be left out (Ba et al. 2016, arXiv:1607.06450). Errors: TL-SHAPE-001 (scale
/// or bias), TL-RANK-001, TL-DTYPE-001, TL-DTYPE-003.
template <class A, class S = Omitted, class B = Omitted, auto Why = detail::kLayerNorm<A, S, B>>
Like<A> layer_norm(const A& x, const S& scale = {}, const B& bias = {}, double epsilon = 1e-5,
                   Where where = Where::current()) {
  using R = Like<A>;
  return R(core::layer_norm(x.ref(), scale.ref(), bias.ref(), epsilon, detail::labels<R>(), where));
}
template <class A, class S = Omitted, class B = Omitted, auto Why = detail::kLayerNorm<A, S, B>>
  requires IsMistake<Why>
Refused layer_norm(const A&, const S& = {}, const B& = {}, double = 1e-5,
                   Where = Where::current()) = delete;

/// x / sqrt(mean x² + epsilon) over the last axis, times scale, a vector of that axis that may be
/// left out (Zhang and Sennrich 2019, arXiv:1910.07467). Errors: as layer_norm.
template <class A, class S = Omitted, auto Why = detail::kLayerNorm<A, S, Omitted>>
Like<A> rms_norm(const A& x, const S& scale = {}, double epsilon = 1e-6,
                 Where where = Where::current()) {
  using R = Like<A>;
  return R(core::rms_norm(x.ref(), scale.ref(), epsilon, detail::labels<R>(), where));
}
template <class A, class S = Omitted, auto Why = detail::kLayerNorm<A, S, Omitted>>
  requires IsMistake<Why>
Refused rms_norm(const A&, const S& = {}, double = 1e-6, Where = Where::current()) = delete;

}  // namespace tlaloc
