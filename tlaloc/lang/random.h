// Random numbers: JAX's threefry keys and draws, bit for bit.
//
// A key is a value like any other: it can be traced, mapped by vmap, kept in a tree. The same key
// gives the same numbers, so each draw takes a key of its own:
//   auto [k1, k2] = random::split(random::key(42));
//   auto w = random::normal<float, 784, hidden>(k1);
//   auto noise = random::uniform<float, batch, 784>(k2, -1, 1, x);   // x gives the size of batch
//
// Draws of T are laid out as JAX lays them out; see random::Stream for the two ways. Integer
// operations and `uniform` over [0, 1) are exact; over another interval XLA rounds once where we
// round twice; normal and what uses logarithms differ from JAX in the last bits of erf_inv and log.
// Errors are those of create.h; at run time TL-RANDOM-001 (not a key).
#pragma once

#include <array>

#include "tlaloc/lang/create.h"
#include "tlaloc/lang/order.h"
#include "tlaloc/lang/random_core.h"

namespace tlaloc {
namespace detail {

template <class T, Domain Elements, class L, auto... D>
consteval auto draw_verdict() {
  constexpr auto kWhy = creation_verdict<T, L, D...>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (!in_domain(dtype_of<T>, Elements))
    return domain_mistake<Elements>();
  else
    return Fine{};
}
template <class T, Domain Elements, class L, auto... D>
inline constexpr auto kDraw = draw_verdict<T, Elements, L, D...>();

/// Two scalars of type T, or numbers, beside a draw.
template <class T, Domain Elements, class L, class A, class B, auto... D>
consteval auto draw_between_verdict() {
  constexpr auto kWhy = draw_verdict<T, Elements, L, D...>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (IsMistake<full_verdict<T, L, A, D...>()>)
    return full_verdict<T, L, A, D...>();
  else
    return full_verdict<T, L, B, D...>();
}
template <class T, Domain Elements, class L, class A, class B, auto... D>
inline constexpr auto kDrawBetween = draw_between_verdict<T, Elements, L, A, B, D...>();

/// Calls f with the draw's type and sizes.
template <class R, class L, class F>
R draw(const L& like, Where where, F&& f) {
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    const core::Ref sizes[]{like.ref()};
    const std::size_t given = std::is_same_v<L, Omitted> ? 0 : 1;
    return R(f(core::Draw{dtype_of<typename R::element_type>, {sizes, given}, R::axes(), where}));
  }
}
template <class T, class V>
core::Ref bound_ref(const V& value) {
  if constexpr (kIsElement<T> && (Number<V> || kKind<V> == Kind::tensor))
    return operand_ref<T>(value);
  else
    return {};
}

}  // namespace detail

namespace random {

using Key = Tensor<std::uint32_t, 2>;

/// The key of a seed.
inline Key key(std::uint64_t seed) { return Key(core::random_key(seed)); }

/// N keys that are independent of each other and of `k`, which should not be used again:
/// auto [a, b] = split(k).
template <int N = 2>
std::array<Key, N> split(const Key& k, Where where = Where::current()) {
  const core::Ref all = core::random_split(k.ref(), N, {}, where);
  std::array<Key, N> keys;
  for (int i = 0; i < N; ++i) {
    keys[static_cast<std::size_t>(i)] = Key(core::take(all, 0, core::scalar_int(DType::i32, i),
                                                       Key::axes(), where, core::Outside::nearest));
  }
  return keys;
}
/// The same keys as one tensor, for vmap: split_axis<ensemble>(k).
template <auto Ax>
  requires(spec_of(Ax).size >= 0)
Tensor<std::uint32_t, Ax, 2> split_axis(const Key& k, Where where = Where::current()) {
  using R = Tensor<std::uint32_t, Ax, 2>;
  return R(core::random_split(k.ref(), spec_of(Ax).size, R::axes(), where));
}

/// A key from a key and a number, such as a step or the index of a layer, taken modulo 2^32.
template <class I>
  requires std::is_integral_v<I>
Key fold_in(const Key& k, I data, Where where = Where::current()) {
  const core::Ref number =
      core::scalar_int(DType::i64, static_cast<std::int64_t>(static_cast<std::uint32_t>(data)));
  return Key(core::random_fold_in(k.ref(), number, where));
}
template <class T>
  requires std::is_integral_v<T>
Key fold_in(const Key& k, const Tensor<T>& data, Where where = Where::current()) {
  return Key(core::random_fold_in(k.ref(), data.ref(), where));
}

/// Unsigned integers, every bit random.
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::integer, L, D...>>
detail::Created<T, D...> bits(const Key& k, const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(
      like, where, [&](const core::Draw& d) { return core::random_bits(k.ref(), d); });
}
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::integer, L, D...>>
  requires IsMistake<Why>
Refused bits(const Key&, const L& = {}, Where = Where::current()) = delete;

/// In [low, high), numbers or scalars.
template <class T, auto... D, class A = int, class B = int, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::floating, L, A, B, D...>>
detail::Created<T, D...> uniform(const Key& k, const A& low = A(0), const B& high = B(1),
                                 const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(like, where, [&](const core::Draw& d) {
    return core::random_uniform(k.ref(), detail::bound_ref<T>(low), detail::bound_ref<T>(high), d);
  });
}
template <class T, auto... D, class A = int, class B = int, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::floating, L, A, B, D...>>
  requires IsMistake<Why>
Refused uniform(const Key&, const A& = A(0), const B& = B(1), const L& = {},
                Where = Where::current()) = delete;

/// Of mean 0 and variance 1.
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
detail::Created<T, D...> normal(const Key& k, const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(
      like, where, [&](const core::Draw& d) { return core::random_normal(k.ref(), d); });
}
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
  requires IsMistake<Why>
Refused normal(const Key&, const L& = {}, Where = Where::current()) = delete;

/// A normal draw under the condition that it lies in (lower, upper), numbers or scalars.
template <class T, auto... D, class A, class B, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::floating, L, A, B, D...>>
detail::Created<T, D...> truncated_normal(const Key& k, const A& lower, const B& upper,
                                          const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(like, where, [&](const core::Draw& d) {
    return core::random_truncated_normal(k.ref(), detail::bound_ref<T>(lower),
                                         detail::bound_ref<T>(upper), d);
  });
}
template <class T, auto... D, class A, class B, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::floating, L, A, B, D...>>
  requires IsMistake<Why>
Refused truncated_normal(const Key&, const A&, const B&, const L& = {},
                         Where = Where::current()) = delete;

/// Of rate 1: density exp(-x).
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
detail::Created<T, D...> exponential(const Key& k, const L& like = {},
                                     Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(
      like, where, [&](const core::Draw& d) { return core::random_exponential(k.ref(), d); });
}
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
  requires IsMistake<Why>
Refused exponential(const Key&, const L& = {}, Where = Where::current()) = delete;

/// Standard Gumbel: -log(-log u).
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
detail::Created<T, D...> gumbel(const Key& k, const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(
      like, where, [&](const core::Draw& d) { return core::random_gumbel(k.ref(), d); });
}
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
  requires IsMistake<Why>
Refused gumbel(const Key&, const L& = {}, Where = Where::current()) = delete;

/// Density exp(-|x|) / 2.
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
detail::Created<T, D...> laplace(const Key& k, const L& like = {}, Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(
      like, where, [&](const core::Draw& d) { return core::random_laplace(k.ref(), d); });
}
template <class T, auto... D, class L = Omitted,
          auto Why = detail::kDraw<T, Domain::floating, L, D...>>
  requires IsMistake<Why>
Refused laplace(const Key&, const L& = {}, Where = Where::current()) = delete;

/// Integers in [low, high), numbers or scalars; an empty range gives low.
template <class T, auto... D, class A, class B, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::integer, L, A, B, D...>>
detail::Created<T, D...> randint(const Key& k, const A& low, const B& high, const L& like = {},
                                 Where where = Where::current()) {
  return detail::draw<detail::Created<T, D...>>(like, where, [&](const core::Draw& d) {
    // As i64, so that high may be one above T's largest value.
    return core::random_randint(k.ref(), detail::bound_ref<std::int64_t>(low),
                                detail::bound_ref<std::int64_t>(high), d);
  });
}
template <class T, auto... D, class A, class B, class L = Omitted,
          auto Why = detail::kDrawBetween<T, Domain::integer, L, A, B, D...>>
  requires IsMistake<Why>
Refused randint(const Key&, const A&, const B&, const L& = {}, Where = Where::current()) = delete;

/// True with probability p: bernoulli<batch, 10>(k, 0.1, x).
template <auto... D, class L = Omitted, auto Why = detail::kDraw<bool, Domain::boolean, L, D...>>
detail::Created<bool, D...> bernoulli(const Key& k, float p = 0.5f, const L& like = {},
                                      Where where = Where::current()) {
  return detail::draw<detail::Created<bool, D...>>(like, where, [&](const core::Draw& d) {
    return core::random_bernoulli(k.ref(), core::scalar(DType::f32, p), {}, d);
  });
}
template <auto... D, class L = Omitted, auto Why = detail::kDraw<bool, Domain::boolean, L, D...>>
  requires IsMistake<Why>
Refused bernoulli(const Key&, float = 0.5f, const L& = {}, Where = Where::current()) = delete;
/// The same with a probability for each element.
template <class T, auto... D>
  requires(sizeof...(D) > 0 && detail::kIsFloating<T>)
Tensor<bool, D...> bernoulli(const Key& k, const Tensor<T, D...>& p,
                             Where where = Where::current()) {
  int all[sizeof...(D)];
  for (int i = 0; i < static_cast<int>(sizeof...(D)); ++i) all[i] = i;
  const core::Ref sizes[]{p.ref()};
  using R = Tensor<bool, D...>;
  return R(
      core::random_bernoulli(k.ref(), p.ref(), all, {DType::boolean, sizes, R::axes(), where}));
}

/// An index along the last axis of the logits, with probability softmax(logits): [d..., classes] ->
/// [d...].
template <class A, auto Why = detail::kArg<A, false, Omitted, -1>>
detail::Reduced<A, int, false, Omitted, -1> categorical(const Key& k, const A& logits,
                                                        Where where = Where::current()) {
  using R = detail::Reduced<A, int, false, Omitted, -1>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    return R(core::random_categorical(k.ref(), logits.ref(), core::rank(logits.ref()) - 1,
                                      detail::labels<R>(), where));
  }
}
template <class A, auto Why = detail::kArg<A, false, Omitted, -1>>
  requires IsMistake<Why>
Refused categorical(const Key&, const A&, Where = Where::current()) = delete;

/// x with axis Ax (or one given as argument) in random order, the same for every line.
template <auto Ax = 0, class A, class K = Omitted, auto Why = detail::kAlong<A, Domain::all, K, Ax>>
Like<A> permutation(const Key& k, const A& x, K axis = {}, Where where = Where::current()) {
  using R = Like<A>;
  const int place = detail::place_of<Ax>(x, axis, where);
  return R(core::random_permutation(k.ref(), x.ref(), place, detail::labels<R>(), where));
}
template <auto Ax = 0, class A, class K = Omitted, auto Why = detail::kAlong<A, Domain::all, K, Ax>>
  requires IsMistake<Why>
Refused permutation(const Key&, const A&, K = {}, Where = Where::current()) = delete;
/// 0, 1, … N-1 in random order.
template <int N>
Tensor<int, N> permutation(const Key& k, Where where = Where::current()) {
  return permutation(k, arange<N>(), {}, where);
}

}  // namespace random
}  // namespace tlaloc
