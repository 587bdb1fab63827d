// Cutting and growing one axis: slice, split, split_sizes, pad, tile, repeat.
#pragma once

#include <array>
#include <tuple>

#include "tlaloc/lang/core_by_shape.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/reduction.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

template <std::int64_t... V>
struct Numbers {
  static constexpr std::int64_t list[sizeof...(V) + 1]{V...};
};

template <class A, class Selector, class N>
struct SliceRule;
template <auto... A, class Selector, class N>
struct SliceRule<Dims<A...>, Selector, N> {
  static constexpr rules::Over plan =
      rules::slice(kSpecs<A...>, Selector::spec, N::list[0], N::list[1], N::list[2]);
  template <class T>
  using Result = Pick<T, SliceRule, A...>;
};
template <class A, class Selector, class N>
struct SplitRule;
template <auto... A, class Selector, class N>
struct SplitRule<Dims<A...>, Selector, N> {
  static constexpr rules::Over plan = rules::split(kSpecs<A...>, Selector::spec, N::list[0]);
  template <class T>
  using Result = Pick<T, SplitRule, A...>;
};
template <class A, class Selector, class N>
struct SplitSizesRule;
template <auto... A, class Selector, std::int64_t... N>
struct SplitSizesRule<Dims<A...>, Selector, Numbers<N...>> {
  static constexpr rules::Over plan = rules::split_sizes(kSpecs<A...>, Selector::spec, (N + ...));
};
template <class A, class Selector, class N>
struct PadRule;
template <auto... A, class Selector, class N>
struct PadRule<Dims<A...>, Selector, N> {
  static constexpr rules::Over plan =
      rules::pad(kSpecs<A...>, Selector::spec, N::list[0], N::list[1], N::list[2]);
  template <class T>
  using Result = Pick<T, PadRule, A...>;
};
template <class A, class N>
struct TileRule;
template <auto... A, std::int64_t... N>
struct TileRule<Dims<A...>, Numbers<N...>> {
  static constexpr rules::Plan plan =
      rules::tile(kSpecs<A...>, std::span(Numbers<N...>::list, sizeof...(N)));
  template <class T>
  using Result = Pick<T, TileRule, A...>;
};
template <class A, class Selector, class N>
struct RepeatRule;
template <auto... A, class Selector, class N>
struct RepeatRule<Dims<A...>, Selector, N> {
  static constexpr rules::Over plan = rules::repeat(kSpecs<A...>, Selector::spec, N::list[0]);
  template <class T>
  using Result = Pick<T, RepeatRule, A...>;
};

template <template <class...> class Rule, class A, auto Ax, class N>
consteval auto axis_numbers_verdict() {
  if constexpr (!kIsDim<decltype(Ax)>) {
    return mistake("TL-AXIS-004", "an index or an axis is due");
  } else {
    return rule_verdict<Rule, A, Domain::all, true, OneSelector<Omitted, Ax>, N>();
  }
}
/// The verdict on an operation along axis Ax with numbers N.
template <template <class...> class Rule, class A, auto Ax, std::int64_t... N>
inline constexpr auto kCut = axis_numbers_verdict<Rule, A, Ax, Numbers<N...>>();
template <template <class...> class Rule, class A, auto Ax, std::int64_t... N>
using CutTo = Ruled<Rule, void, A, OneSelector<Omitted, Ax>, Numbers<N...>>;

template <auto Ax, class A>
int cut_axis(const A& x, Where where) {
  return place_of<Ax>(x, Omitted{}, where);
}
}  // namespace detail

/// Elements Low, Low + Step, … below High of axis Ax: slice<1, 10, 20>(x), slice<hidden, 0, 64>(h).
/// Negative bounds count from the end where the type has a size; other sizes are checked when they
/// are known. Errors: TL-SHAPE-007 (out of range), TL-BOUND-001, TL-AXIS-001.
template <auto Ax, std::int64_t Low, std::int64_t High, std::int64_t Step = 1, class A,
          auto Why = detail::kCut<detail::SliceRule, A, Ax, Low, High, Step>>
detail::CutTo<detail::SliceRule, A, Ax, Low, High, Step> slice(const A& x,
                                                               Where where = Where::current()) {
  using R = detail::CutTo<detail::SliceRule, A, Ax, Low, High, Step>;
  return R(core::slice(x.ref(), detail::cut_axis<Ax>(x, where), Low, High, Step,
                       detail::labels<R>(), where));
}
template <auto Ax, std::int64_t Low, std::int64_t High, std::int64_t Step = 1, class A,
          auto Why = detail::kCut<detail::SliceRule, A, Ax, Low, High, Step>>
  requires IsMistake<Why>
Refused slice(const A&, Where = Where::current()) = delete;

/// Parts equal parts along axis Ax: auto [q, k, v] = split<-1, 3>(qkv).
/// Errors: TL-SHAPE-008 (not divisible), TL-AXIS-001.
template <auto Ax, int Parts, class A, auto Why = detail::kCut<detail::SplitRule, A, Ax, Parts>>
std::array<detail::CutTo<detail::SplitRule, A, Ax, Parts>, Parts> split(
    const A& x, Where where = Where::current()) {
  using R = detail::CutTo<detail::SplitRule, A, Ax, Parts>;
  std::array<core::Ref, Parts> refs;
  core::split(x.ref(), detail::cut_axis<Ax>(x, where), refs, detail::labels<R>(), where);
  std::array<R, Parts> parts;
  for (int i = 0; i < Parts; ++i) parts[i] = R(std::move(refs[i]));
  return parts;
}
template <auto Ax, int Parts, class A, auto Why = detail::kCut<detail::SplitRule, A, Ax, Parts>>
  requires IsMistake<Why>
std::array<Refused, (Parts > 0 ? Parts : 1)> split(const A&, Where = Where::current()) = delete;

namespace detail {
template <std::int64_t Size, auto Ax, class A>
using PartOf = CutTo<SliceRule, A, Ax, 0, Size, 1>;
template <auto Ax, class A, std::int64_t... Sizes>
std::tuple<PartOf<Sizes, Ax, A>...> parts_of(const A& x, Where where) {
  const int axis = cut_axis<Ax>(x, where);
  std::int64_t low = 0;
  auto part = [&]<class R>(std::type_identity<R>, std::int64_t size) {
    low += size;
    return R(core::slice(x.ref(), axis, low - size, low, 1, labels<R>(), where));
  };
  return {part(std::type_identity<PartOf<Sizes, Ax, A>>{}, Sizes)...};  // braces keep the order
}
}  // namespace detail

/// Parts of the given sizes along axis Ax, which they must fill: auto [a, b] =
/// split_sizes<1, 4, 6>(x). Errors: TL-SHAPE-008 (the sum differs), TL-AXIS-001.
template <auto Ax, std::int64_t... Sizes, class A,
          auto Why = detail::kCut<detail::SplitSizesRule, A, Ax, Sizes...>>
std::tuple<detail::PartOf<Sizes, Ax, A>...> split_sizes(const A& x,
                                                        Where where = Where::current()) {
  return detail::parts_of<Ax, A, Sizes...>(x, where);
}
template <auto Ax, std::int64_t... Sizes, class A,
          auto Why = detail::kCut<detail::SplitSizesRule, A, Ax, Sizes...>>
  requires IsMistake<Why>
std::array<Refused, sizeof...(Sizes)> split_sizes(const A&, Where = Where::current()) = delete;

/// Low elements of `value` before and High behind axis Ax, Interior between elements; negative
/// amounts cut: pad<1, 2, 0>(x). Source: the StableHLO specification of `pad`.
/// Errors: TL-SHAPE-007 (less than nothing is left), TL-AXIS-001.
template <auto Ax, std::int64_t Low, std::int64_t High, std::int64_t Interior = 0, class A,
          class V = int, auto Why = detail::kCut<detail::PadRule, A, Ax, Low, High, Interior>>
detail::CutTo<detail::PadRule, A, Ax, Low, High, Interior> pad(const A& x, const V& value = {},
                                                               Where where = Where::current()) {
  using R = detail::CutTo<detail::PadRule, A, Ax, Low, High, Interior>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    const int axis = detail::cut_axis<Ax>(x, where);
    std::int64_t low[kMaxRank]{}, high[kMaxRank]{}, interior[kMaxRank]{};
    low[axis] = Low;
    high[axis] = High;
    interior[axis] = Interior;
    const auto n = static_cast<std::size_t>(core::rank(x.ref()));
    core::Ref filler;
    if constexpr (std::is_same_v<R, Array>) {
      filler = detail::array_ref(value, x);
    } else {
      filler = Tensor<ElementOf<A>>(value).ref();
    }
    return R(
        core::pad(x.ref(), {low, n}, {high, n}, {interior, n}, filler, detail::labels<R>(), where));
  }
}
template <auto Ax, std::int64_t Low, std::int64_t High, std::int64_t Interior = 0, class A,
          class V = int, auto Why = detail::kCut<detail::PadRule, A, Ax, Low, High, Interior>>
  requires IsMistake<Why>
Refused pad(const A&, const V& = {}, Where = Where::current()) = delete;

namespace detail {
template <class A, std::int64_t... N>
inline constexpr auto kTile = rule_verdict<TileRule, A, Domain::all, true, Numbers<N...>>();
}  // namespace detail

/// Axis i Counts[i] times in a row, as a whole (numpy.tile): tile<2, 1>(x).
/// Errors: TL-RANK-001 (one count per axis), TL-SHAPE-007 (a negative count).
template <std::int64_t... Counts, class A, auto Why = detail::kTile<A, Counts...>>
detail::Ruled<detail::TileRule, void, A, detail::Numbers<Counts...>> tile(
    const A& x, Where where = Where::current()) {
  using R = detail::Ruled<detail::TileRule, void, A, detail::Numbers<Counts...>>;
  return R(core::tile(x.ref(), {detail::Numbers<Counts...>::list, sizeof...(Counts)},
                      detail::labels<R>(), where));
}
template <std::int64_t... Counts, class A, auto Why = detail::kTile<A, Counts...>>
  requires IsMistake<Why>
Refused tile(const A&, Where = Where::current()) = delete;

/// Each element of axis Ax Count times in a row (numpy.repeat): repeat<0, 4>(heads).
/// Errors: TL-SHAPE-007 (a negative count), TL-AXIS-001.
template <auto Ax, std::int64_t Count, class A,
          auto Why = detail::kCut<detail::RepeatRule, A, Ax, Count>>
detail::CutTo<detail::RepeatRule, A, Ax, Count> repeat(const A& x, Where where = Where::current()) {
  using R = detail::CutTo<detail::RepeatRule, A, Ax, Count>;
  return R(
      core::repeat(x.ref(), detail::cut_axis<Ax>(x, where), Count, detail::labels<R>(), where));
}
template <auto Ax, std::int64_t Count, class A,
          auto Why = detail::kCut<detail::RepeatRule, A, Ax, Count>>
  requires IsMistake<Why>
Refused repeat(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
