// Composites of transformers: attention, rotary position embedding, gated units.
#pragma once

#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/rules_nn.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// What attention hides and how it scales.
using AttentionOptions = core::AttentionOptions;

namespace detail {
template <class Q, class K, class V, class M>
struct AttentionRule;
template <auto... Q, auto... K, auto... V, class M>
struct AttentionRule<Dims<Q...>, Dims<K...>, Dims<V...>, M> {
  static constexpr rules::Plan plan =
      rules::attention(kSpecs<Q...>, kSpecs<K...>, kSpecs<V...>, kSpecsOf<M>);
  template <class T>
  using Result = Pick<T, AttentionRule, Q..., V...>;
};
template <class Q, class K, class V, class M>
consteval auto attention_verdict() {
  constexpr bool kRefused = kKind<Q> == Kind::refused || kKind<K> == Kind::refused ||
                            kKind<V> == Kind::refused || kKind<M> == Kind::refused;
  constexpr bool kNoMask = std::is_same_v<M, Omitted>;
  if constexpr (kRefused) {
    return Fine{};
  } else if constexpr (!Value<Q> || !Value<K> || !Value<V> || !(Value<M> || kNoMask)) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (kKind<Q> != kKind<K> || kKind<Q> != kKind<V> ||
                       !(kNoMask || kKind<M> == kKind<Q>)) {
    return mistake("TL-TYPE-003", "Array meets Tensor: use tl::as");
  } else if constexpr (kKind<Q> == Kind::array) {
    return Fine{};
  } else if constexpr (!std::is_same_v<ElementOf<Q>, ElementOf<K>> ||
                       !std::is_same_v<ElementOf<Q>, ElementOf<V>> ||
                       !(kNoMask || std::is_same_v<ElementOf<M>, bool> ||
                         std::is_same_v<ElementOf<M>, ElementOf<Q>>)) {
    return mistake("TL-DTYPE-001", "dtypes differ: cast one");
  } else if constexpr (!kIsFloating<ElementOf<Q>>) {
    return domain_mistake<Domain::floating>();
  } else {
    return verdict_of<AttentionRule<AxesOf<Q>, AxesOf<K>, AxesOf<V>, AxesOf<M>>>();
  }
}
template <class Q, class K, class V, class M>
inline constexpr auto kAttention = attention_verdict<Q, K, V, M>();
template <class Q, class K, class V, Kind KQ = kKind<Q>>
struct AttentionResult {
  using type = std::conditional_t<KQ == Kind::array, Array, Refused>;
};
template <class Q, class K, class V>
  requires(kKind<K> == Kind::tensor && kKind<V> == Kind::tensor)
struct AttentionResult<Q, K, V, Kind::tensor> {
  using type = typename AttentionRule<AxesOf<Q>, AxesOf<K>, AxesOf<V>,
                                      Dims<>>::template Result<ElementOf<Q>>;
};
}  // namespace detail

/// softmax(q kᵀ scale + mask) v (Vaswani et al. 2017, arXiv:1706.03762). q: [..., queries, width],
/// k: [..., keys, width], v: [..., keys, value width] -> [..., queries, value width]. The leading
/// axes of k and v fit those of q, but the last of them may be a divisor of q's, if both have
/// sizes: grouped queries. The mask broadcasts to [..., queries, keys]: bool keeps where true,
/// floating is added. Errors: TL-SHAPE-003 (width), TL-SHAPE-006 (keys, leading axes), TL-SHAPE-001
/// (mask), TL-RANK-001, TL-DTYPE-001, TL-DTYPE-003.
template <class Q, class K, class V, class M = Omitted, auto Why = detail::kAttention<Q, K, V, M>>
typename detail::AttentionResult<Q, K, V>::type attention(const Q& q, const K& k, const V& v,
                                                          const AttentionOptions& options = {},
                                                          const M& mask = {},
                                                          Where where = Where::current()) {
  using R = typename detail::AttentionResult<Q, K, V>::type;
  return R(
      core::attention(q.ref(), k.ref(), v.ref(), mask.ref(), options, detail::labels<R>(), where));
}
template <class Q, class K, class V, class M = Omitted, auto Why = detail::kAttention<Q, K, V, M>>
  requires IsMistake<Why>
Refused attention(const Q&, const K&, const V&, const AttentionOptions& = {}, const M& = {},
                  Where = Where::current()) = delete;

namespace detail {
template <class A, class P>
struct RopeRule;
template <auto... A, auto... P>
struct RopeRule<Dims<A...>, Dims<P...>> {
  static constexpr rules::Plan plan = rules::rope(kSpecs<A...>, kSpecs<P...>);
};
template <class A, class P>
consteval auto rope_verdict() {
  constexpr auto kOperand = one_verdict<A, Domain::floating, false>();
  constexpr auto kPositions = index_verdict<A, P>();
  if constexpr (IsMistake<kOperand>) {
    return kOperand;
  } else if constexpr (IsMistake<kPositions>) {
    return kPositions;
  } else if constexpr (kKind<A> == Kind::tensor && kKind<P> != Kind::refused) {
    return verdict_of<RopeRule<AxesOf<A>, AxesOf<P>>>();
  } else {
    return Fine{};
  }
}
template <class A, class P>
inline constexpr auto kRope = rope_verdict<A, P>();
}  // namespace detail

/// Rotary position embedding of the last axis, of even width, at integer positions that broadcast
/// to x without that axis: pair i turns by position · base^(-2i / width) (Su et al. 2021,
/// arXiv:2104.09864). Pairs are (i, i + width / 2), or (2i, 2i + 1) when `interleaved`.
/// Errors: TL-SHAPE-008 (odd width), TL-SHAPE-001 (positions), TL-RANK-001, TL-DTYPE-003.
template <class A, class P, auto Why = detail::kRope<A, P>>
Like<A> rope(const A& x, const P& positions, double base = 10000, bool interleaved = false,
             Where where = Where::current()) {
  using R = Like<A>;
  return R(core::rope(x.ref(), detail::index_ref(positions), base, interleaved, detail::labels<R>(),
                      where));
}
template <class A, class P, auto Why = detail::kRope<A, P>>
  requires IsMistake<Why>
Refused rope(const A&, const P&, double = 10000, bool = false, Where = Where::current()) = delete;

namespace detail {
template <class A, class B>
struct SameRule;
template <auto... A, auto... B>
struct SameRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::same(kSpecs<A...>, kSpecs<B...>);
  template <class T>
  using Result = Pick<T, SameRule, A..., B...>;
};
template <class A, class B>
inline constexpr auto kSame = pair_verdict<SameRule, A, B, Domain::floating, true>();
}  // namespace detail

/// silu(gate) · up of one shape (Shazeer 2020, arXiv:2002.05202). Errors: TL-SHAPE-001,
/// TL-RANK-001, TL-DTYPE-001, TL-DTYPE-003.
template <class A, class B, auto Why = detail::kSame<A, B>>
detail::Paired<detail::SameRule, A, B> swiglu(const A& gate, const B& up,
                                              Where where = Where::current()) {
  using R = detail::Paired<detail::SameRule, A, B>;
  return R(core::swiglu(gate.ref(), up.ref(), detail::labels<R>(), where));
}
template <class A, class B, auto Why = detail::kSame<A, B>>
  requires IsMistake<Why>
Refused swiglu(const A&, const B&, Where = Where::current()) = delete;

}  // namespace tlaloc
