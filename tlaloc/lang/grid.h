// Grids and triangles of ones: meshgrid, tri.
#pragma once

#include <tuple>
#include <utility>

#include "tlaloc/lang/core_grid.h"
#include "tlaloc/lang/create.h"

namespace tlaloc {
namespace detail {

template <class A>
consteval auto grid_verdict() {
  constexpr auto kWhy = one_verdict<A, Domain::all, false>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (kKind<A> == Kind::array) {
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  } else if constexpr (kKind<A> == Kind::tensor) {
    if constexpr (A::rank != 1)
      return mistake("TL-RANK-001", "a vector is due");
    else
      return Fine{};
  } else {
    return Fine{};
  }
}
template <class A, class... More>
consteval auto grids_verdict() {
  constexpr auto kWhy = grid_verdict<A>();
  if constexpr (IsMistake<kWhy> || sizeof...(More) == 0)
    return kWhy;
  else
    return grids_verdict<More...>();
}
template <class... A>
inline constexpr auto kGrid = grids_verdict<A...>();

template <class... A>
struct GridOf {
  using type = std::tuple<Like<A>...>;  // of Refused operands
};
template <class... T, auto... D>
struct GridOf<Tensor<T, D>...> {
  using type = std::tuple<Tensor<T, D...>...>;
};
template <class... A>
using Grid = typename GridOf<A...>::type;

}  // namespace detail

/// The coordinates of the grid that vectors span, one tensor per vector: meshgrid(x, y) of [n] and
/// [m] -> {[n, m], [n, m]}, where element (i, j) is x[i] in the first and y[j] in the second
/// (numpy.meshgrid with indexing="ij"). Errors: TL-RANK-001 (no vector), TL-TYPE-002, TL-TYPE-004.
template <class... A, auto Why = detail::kGrid<A...>>
detail::Grid<A...> meshgrid(const A&... vectors) {
  using R = detail::Grid<A...>;
  const core::Ref refs[]{vectors.ref()...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return R(std::tuple_element_t<I, R>(core::meshgrid(
        refs, static_cast<int>(I), detail::labels<std::tuple_element_t<I, R>>(), Where{}))...);
  }(std::make_index_sequence<sizeof...(A)>());
}
template <class... A, auto Why = detail::kGrid<A...>>
  requires IsMistake<Why>
detail::Grid<A...> meshgrid(const A&...) = delete;

/// 1 where column - row <= Diagonal, else 0: tri<float, 3, 3>() (numpy.tri). Errors: as eye.
template <class T, auto Rows, auto Columns, int Diagonal = 0, class L = Omitted,
          auto Why = detail::kCreation<T, L, Rows, Columns>>
detail::Created<T, Rows, Columns> tri(const L& like = {}, Where where = Where::current()) {
  using R = detail::Created<T, Rows, Columns>;
  if constexpr (std::is_same_v<R, Refused>) {
    return {};
  } else {
    const R all = detail::filled<R>(detail::one_ref<T>(), like, where);
    return R(core::triangle(all.ref(), false, Diagonal, R::axes(), where));
  }
}
template <class T, auto Rows, auto Columns, int Diagonal = 0, class L = Omitted,
          auto Why = detail::kCreation<T, L, Rows, Columns>>
  requires IsMistake<Why>
Refused tri(const L& = {}, Where = Where::current()) = delete;

}  // namespace tlaloc
