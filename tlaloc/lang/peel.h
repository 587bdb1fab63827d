// Trees that lose an axis: the arguments of vmap, the elements of scan.
#pragma once

#include <vector>

#include "tlaloc/lang/with.h"

namespace tlaloc {

/// In vmap's list of axes: this argument is shared by all examples.
struct Unmapped {};
inline constexpr Unmapped unmapped{};

namespace detail {

// How an argument is mapped.
template <auto Ax>
struct ByName {
  static constexpr core::AxisSpec spec = spec_of(Ax);
};
template <int I>
struct ByIndex {
  static constexpr core::AxisSpec spec{.size = I};
};
struct NotMapped {};

/// No axis: nothing is mapped.
struct NoAxis {};

/// Why an argument can't be mapped; null code: it can.
struct PeelFault {
  const char* code = nullptr;
  const char* reason = "";
};

/// An argument of type X under mapping S:
///   type          what the function gets
///   of(x)         x under that type; the handles keep their shapes
///   axis          the axis that is mapped, the first found, or NoAxis{}
///   fault         why X can't be mapped so
///   places(o, x)  appends the mapped axis of each leaf, or -1
template <class X, class S>
struct Peel;  // for most X: GeneralPeel

/// Appends -1 for each leaf of a tree that is not mapped.
struct LeafPlaces {
  std::vector<int>& out;

  template <class X>
  void leaf(const X&) {
    if (!Number<X>) out.push_back(-1);
  }
  void enter(const char*) {}
  void enter(std::int64_t) {}
  void leave() {}
  void note(std::int64_t) {}
};
template <class X>
struct WholePeel {
  using type = X;
  static const X& of(const X& x) { return x; }
  static constexpr NoAxis axis{};
  static constexpr PeelFault fault{};
  static void places(std::vector<int>& out, const X& x) {
    LeafPlaces places{out};
    Tree<X>::each(places, x);
  }
};

/// Whether a type has a leaf with that axis in its own type.
template <class X, class S>
inline constexpr bool kCarries = false;
template <class T, auto... D, class S>
inline constexpr bool kCarries<Tensor<T, D...>, S> = rules::find(kSpecs<D...>, S::spec) != -1;
template <class P, class Q, class S>
inline constexpr bool kCarries<std::pair<P, Q>, S> = kCarries<P, S> || kCarries<Q, S>;
template <class... P, class S>
inline constexpr bool kCarries<std::tuple<P...>, S> = (kCarries<P, S> || ...);
template <class P, std::size_t N, class S>
inline constexpr bool kCarries<std::array<P, N>, S> = kCarries<P, S>;
template <class P, class A, class S>
inline constexpr bool kCarries<std::vector<P, A>, S> = kCarries<P, S>;
template <class P, class S>
inline constexpr bool kCarries<std::optional<P>, S> = kCarries<P, S>;
template <class X, class S, std::size_t... I>
consteval bool fields_carry(std::index_sequence<I...>) {
  return (kCarries<FieldOf<X, I>, S> || ...);
}
template <class X, class S>
  requires(std::is_aggregate_v<X> && std::is_class_v<X> && !requires { std::tuple_size<X>::value; })
inline constexpr bool kCarries<X, S> =
    fields_carry<X, S>(std::make_index_sequence<kFieldCount<X>>{});

/// Aggregates, numbers and whatever else: the types of fields can't lose an axis.
template <class X, class S>
struct GeneralPeel : WholePeel<X> {};
template <class X, auto Ax>
struct GeneralPeel<X, ByName<Ax>> : WholePeel<X> {
  static constexpr PeelFault fault =
      kCarries<X, ByName<Ax>> ? PeelFault{"TL-VMAP-002", "a field has the axis: use With"}
                              : PeelFault{};
};
template <class X, int I>
  requires(!Number<X>)
struct GeneralPeel<X, ByIndex<I>> : WholePeel<X> {
  static constexpr PeelFault fault = {"TL-VMAP-002", "fields keep their axes: use With"};
};
template <class X, class S>
struct Peel : GeneralPeel<X, S> {};

template <class A, class S>
struct DropRule;
template <auto... D, class S>
struct DropRule<Dims<D...>, S> {
  static constexpr rules::Chosen chosen = rules::choose(kSpecs<D...>, S::spec);
  static constexpr rules::Plan plan = [] {
    rules::Plan rest;
    for (int i = 0; i < static_cast<int>(sizeof...(D)); ++i) {
      if (i != chosen.axis) rest.keep(i);
    }
    return rest;
  }();
};
template <class T, auto... D, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<Tensor<T, D...>, S> {
  using X = Tensor<T, D...>;
  using Rule = DropRule<Dims<D...>, S>;
  static constexpr int place = Rule::chosen.axis;
  static constexpr bool by_name = rules::is_named(S::spec);
  using type = std::conditional_t<place >= 0, Pick<T, Rule, D...>, X>;
  static type of(const X& x) { return type(x.ref()); }
  static constexpr auto axis_of() {
    if constexpr (place >= 0) {
      using Places = Slots<std::make_index_sequence<sizeof...(D)>, D...>;
      return AxisOf<place, -1, Places>::value;
    } else {
      return NoAxis{};
    }
  }
  static constexpr auto axis = axis_of();
  static constexpr PeelFault fault =
      place >= 0 || (by_name && rules::find(kSpecs<D...>, S::spec) == -1)
          ? PeelFault{}
          : PeelFault{Rule::chosen.fault.code, "no such axis to map"};
  static void places(std::vector<int>& out, const X&) { out.push_back(place); }
};
template <int I>
struct Peel<Array, ByIndex<I>> {
  using type = Array;
  static const Array& of(const Array& x) { return x; }
  static constexpr Any axis{};
  static constexpr PeelFault fault{};
  static void places(std::vector<int>& out, const Array& x) {
    out.push_back(I < 0 ? I + x.rank() : I);
  }
};

template <class X, class Indices, auto... B>
struct WithoutImpl;
template <class X, std::size_t... I, auto... B>
struct WithoutImpl<X, std::index_sequence<I...>, B...> {
  using Places = Slots<std::make_index_sequence<sizeof...(B)>, B...>;
  template <std::size_t K>
  using Rest = With<X, AxisOf<static_cast<int>(I < K ? I : I + 1), -1, Places>::value...>;
};
/// With<X, B...> without its axis K, X itself when none is left.
template <class X, int K, auto... B>
struct Without {
  using type = typename WithoutImpl<X, std::make_index_sequence<sizeof...(B) - 1>,
                                    B...>::template Rest<static_cast<std::size_t>(K)>;
  static type of(const With<X, B...>& x) { return type(x.raw()); }
};
template <class X, auto B>
struct Without<X, 0, B> {
  using type = X;
  static const X& of(const With<X, B>& x) { return x.raw(); }
};
template <class X, auto... B>
struct Without<X, -1, B...> {
  using type = With<X, B...>;
  static const type& of(const type& x) { return x; }
};
template <class X, auto... B, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<With<X, B...>, S> {
  using Whole = With<X, B...>;
  static constexpr rules::Chosen chosen = rules::choose(kSpecs<B...>, S::spec);
  static constexpr int place = chosen.axis;
  using type = typename Without<X, place, B...>::type;
  static type of(const Whole& x) { return Without<X, place, B...>::of(x); }
  static constexpr auto axis_of() {
    if constexpr (place >= 0) {
      return AxisOf<place, -1, Slots<std::make_index_sequence<sizeof...(B)>, B...>>::value;
    } else {
      return NoAxis{};
    }
  }
  static constexpr auto axis = axis_of();
  static constexpr PeelFault fault =
      place >= 0 || rules::is_named(S::spec)
          ? PeelFault{}
          : PeelFault{"TL-VMAP-002", "fields keep their axes: use With"};
  static void places(std::vector<int>& out, const Whole& x) {
    const std::size_t begin = out.size();
    LeafPlaces none{out};
    Tree<Whole>::each(none, x);
    for (std::size_t i = begin; i < out.size(); ++i) out[i] = place;
  }
};

/// The first axis among parts that is one.
template <class P, class... Q>
constexpr auto first_axis() {
  if constexpr (!std::is_same_v<std::remove_const_t<decltype(P::axis)>, NoAxis>)
    return P::axis;
  else if constexpr (sizeof...(Q) > 0)
    return first_axis<Q...>();
  else
    return NoAxis{};
}
template <class... P>
constexpr PeelFault first_fault() {
  PeelFault fault;
  ((fault.code == nullptr ? void(fault = P::fault) : void()), ...);
  return fault;
}

template <class... P, class S>
  requires(!std::is_same_v<S, NotMapped> && sizeof...(P) > 0)
struct Peel<std::tuple<P...>, S> {
  using X = std::tuple<P...>;
  using type = std::tuple<typename Peel<P, S>::type...>;
  static type of(const X& x) {
    return std::apply([](const P&... part) { return type{Peel<P, S>::of(part)...}; }, x);
  }
  static constexpr auto axis = first_axis<Peel<P, S>...>();
  static constexpr PeelFault fault = first_fault<Peel<P, S>...>();
  static void places(std::vector<int>& out, const X& x) {
    std::apply([&](const P&... part) { (Peel<P, S>::places(out, part), ...); }, x);
  }
};
template <class P, class Q, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<std::pair<P, Q>, S> {
  using X = std::pair<P, Q>;
  using type = std::pair<typename Peel<P, S>::type, typename Peel<Q, S>::type>;
  static type of(const X& x) { return {Peel<P, S>::of(x.first), Peel<Q, S>::of(x.second)}; }
  static constexpr auto axis = first_axis<Peel<P, S>, Peel<Q, S>>();
  static constexpr PeelFault fault = first_fault<Peel<P, S>, Peel<Q, S>>();
  static void places(std::vector<int>& out, const X& x) {
    Peel<P, S>::places(out, x.first);
    Peel<Q, S>::places(out, x.second);
  }
};
template <class P, std::size_t N, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<std::array<P, N>, S> {
  using X = std::array<P, N>;
  using type = std::array<typename Peel<P, S>::type, N>;
  static type of(const X& x) {
    type result;
    for (std::size_t i = 0; i < N; ++i) result[i] = Peel<P, S>::of(x[i]);
    return result;
  }
  static constexpr auto axis = Peel<P, S>::axis;
  static constexpr PeelFault fault = Peel<P, S>::fault;
  static void places(std::vector<int>& out, const X& x) {
    for (const P& part : x) Peel<P, S>::places(out, part);
  }
};
template <class P, class A, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<std::vector<P, A>, S> {
  using X = std::vector<P, A>;
  using type = std::vector<typename Peel<P, S>::type>;
  static type of(const X& x) {
    type result;
    for (const P& part : x) result.push_back(Peel<P, S>::of(part));
    return result;
  }
  static constexpr auto axis = Peel<P, S>::axis;
  static constexpr PeelFault fault = Peel<P, S>::fault;
  static void places(std::vector<int>& out, const X& x) {
    for (const P& part : x) Peel<P, S>::places(out, part);
  }
};
template <class P, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<std::optional<P>, S> {
  using X = std::optional<P>;
  using type = std::optional<typename Peel<P, S>::type>;
  static type of(const X& x) {
    if (!x.has_value()) return std::nullopt;
    return type(Peel<P, S>::of(*x));
  }
  static constexpr auto axis = Peel<P, S>::axis;
  static constexpr PeelFault fault = Peel<P, S>::fault;
  static void places(std::vector<int>& out, const X& x) {
    if (x.has_value()) Peel<P, S>::places(out, *x);
  }
};

}  // namespace detail
}  // namespace tlaloc
