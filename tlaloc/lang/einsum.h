// einsum with its subscripts in the type: einsum<"bij,bjk->bik">(a, b).
#pragma once

#include "tlaloc/lang/rules_contract.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char chars[N];
  consteval Literal(const char (&text)[N]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
};

namespace detail {

template <Literal Text, class... A>
struct EinsumPlan {
  static constexpr core::AxesSpec operands[]{kSpecsOf<A>...};
  static constexpr rules::Einsum plan = rules::einsum(Text.chars, operands);
};
template <Literal Text, class A, class... B>
consteval auto einsum_verdict() {
  constexpr bool kRefused = kKind<A> == Kind::refused || ((kKind<B> == Kind::refused) || ...);
  constexpr bool kTensors = kKind<A> == Kind::tensor && ((kKind<B> == Kind::tensor) && ...);
  constexpr bool kArray = kKind<A> == Kind::array || ((kKind<B> == Kind::array) || ...);
  if constexpr (kRefused) {
    return Fine{};
  } else if constexpr (kArray) {
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  } else if constexpr (!kTensors) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (!(std::is_same_v<ElementOf<A>, ElementOf<B>> && ...)) {
    return mistake("TL-DTYPE-001", "dtypes differ: cast one");
  } else if constexpr (!in_domain(dtype_of<ElementOf<A>>, Domain::number)) {
    return domain_mistake<Domain::number>();
  } else {
    return verdict_of<EinsumPlan<Text, AxesOf<A>, AxesOf<B>...>>();
  }
}
template <Literal Text, class... A>
inline constexpr auto kEinsum = einsum_verdict<Text, A...>();

template <bool Typed, Literal Text, class A, class... B>
struct EinsumType {
  using type = Refused;
};
template <Literal Text, class A, class... B>
struct EinsumType<true, Text, A, B...>
    : PickJoined<EinsumPlan<Text, AxesOf<A>, AxesOf<B>...>, ElementOf<A>, AxesOf<A>, AxesOf<B>...> {
};

}  // namespace detail

/// The result type of einsum.
template <Literal Text, class... A>
using Einsum = typename detail::EinsumType<((kKind<A> == Kind::tensor) && ...), Text, A...>::type;

/// Einstein summation over one to eight tensors (numpy.einsum with explicit output): one letter per
/// axis, a letter that the result lacks is summed, a letter twice in one operand takes the
/// diagonal. The result's axes keep their names.
/// Errors: TL-EINSUM-001 (the text), TL-EINSUM-002 (number of operands), TL-RANK-001 (letters and
/// rank), TL-SHAPE-003 (one letter, two sizes), TL-DTYPE-001.
template <Literal Text, class A, class... B, auto Why = detail::kEinsum<Text, A, B...>>
Einsum<Text, A, B...> einsum(const A& a, const B&... b) {
  using R = Einsum<Text, A, B...>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    constexpr const rules::Einsum& kPlan = detail::EinsumPlan<Text, AxesOf<A>, AxesOf<B>...>::plan;
    core::Labeled operands[]{{&a.ref(), {}}, {&b.ref(), {}}...};
    for (int i = 0; i < kPlan.operands; ++i) operands[i].labels = kPlan.labels[i];
    return R(core::einsum(operands, kPlan.labels_result, R::axes(), Where{}));
  }
}
template <Literal Text, class A, class... B, auto Why = detail::kEinsum<Text, A, B...>>
  requires IsMistake<Why>
Refused einsum(const A&, const B&...) = delete;

}  // namespace tlaloc
