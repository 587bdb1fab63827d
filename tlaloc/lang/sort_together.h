// Sorting several tensors by the order of some of them.
#pragma once

#include <tuple>
#include <utility>

#include "tlaloc/lang/core_sort.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/rules_nn.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <class A, class B>
struct SortedWithRule;
template <auto... A, auto... B>
struct SortedWithRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::same(kSpecs<A...>, kSpecs<B...>);
};
template <class A, class B>
consteval auto sorted_with_verdict() {
  constexpr auto kWhy = one_verdict<B, Domain::number, false>();
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (kKind<B> == Kind::array)
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  else if constexpr (kKind<A> == Kind::tensor && kKind<B> == Kind::tensor)
    return verdict_of<SortedWithRule<AxesOf<A>, AxesOf<B>>>();
  else
    return Fine{};
}
template <class A, class B, class... More>
consteval auto sorted_with_all_verdict() {
  constexpr auto kWhy = sorted_with_verdict<A, B>();
  if constexpr (IsMistake<kWhy> || sizeof...(More) == 0)
    return kWhy;
  else
    return sorted_with_all_verdict<A, More...>();
}
template <auto Ax, int Keys, class A, class... B>
consteval auto sort_together_verdict() {
  constexpr auto kAxis = kAlong<A, Domain::number, Omitted, Ax>;
  if constexpr (IsMistake<kAxis>)
    return kAxis;
  else if constexpr (Keys < 1 || Keys > static_cast<int>(1 + sizeof...(B)))
    return mistake("TL-ATTR-001", "keys: 1 to the number of operands");
  else
    return sorted_with_all_verdict<A, A, B...>();
}
template <auto Ax, int Keys, class... A>
inline constexpr auto kSortTogether = sort_together_verdict<Ax, Keys, A...>();

}  // namespace detail

/// Tensors of one shape, sorted together along axis Ax by the first Keys of them, later ones where
/// earlier ones are equal: auto [ids, times, scores] = sort_together<-1, 2>(id, time, score).
/// Ascending, stable, NaN the largest. Errors: TL-AXIS-001, TL-AXIS-004, TL-RANK-001 and
/// TL-SHAPE-001 (shapes differ), TL-ATTR-001 (Keys), TL-DTYPE-003 (bool), TL-TYPE-002, TL-TYPE-004.
template <auto Ax = -1, int Keys = 1, class... A, auto Why = detail::kSortTogether<Ax, Keys, A...>>
std::tuple<Like<A>...> sort_together(const A&... xs) {
  if constexpr (((kKind<A> == Kind::tensor) && ...)) {
    using First = std::tuple_element_t<0, std::tuple<A...>>;
    constexpr int kAxis =
        detail::KeepRule<AxesOf<First>, detail::OneSelector<Omitted, Ax>>::plan.axes_over[0];
    const core::Ref in[]{xs.ref()...};
    const core::AxesSpec axes[]{detail::labels<A>()...};
    core::Ref out[sizeof...(A)];
    core::sort_together(in, kAxis, Keys, axes, out, Where{});
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Like<A>...>(A(std::move(out[I]))...);
    }(std::index_sequence_for<A...>());
  } else {
    return {};
  }
}
template <auto Ax = -1, int Keys = 1, class... A, auto Why = detail::kSortTogether<Ax, Keys, A...>>
  requires IsMistake<Why>
std::tuple<Like<A>...> sort_together(const A&...) = delete;

}  // namespace tlaloc
