// Trees whose leaves have more axes in front: per-example gradients, ensembles, Jacobians of trees.
#pragma once

#include "tlaloc/lang/tree_std.h"

namespace tlaloc {

template <class X, auto... B>
class With;

namespace detail {

/// The tree whose leaves have axes B... in front, and such a tree made from an X whose handles are
/// of the longer shapes already ("raw").
template <class X, auto... B>
struct Widen {
  using type = With<X, B...>;
  static type of(const X& raw) { return type(raw); }
};
template <class T, auto... D, auto... B>
struct Widen<Tensor<T, D...>, B...> {
  using type = Tensor<T, B..., D...>;
  static type of(const Tensor<T, D...>& raw) { return type(raw.ref()); }
};
template <auto... B>
struct Widen<Array, B...> {
  using type = Array;
  static type of(const Array& raw) { return raw; }
};
template <auto... B>
struct Widen<Refused, B...> {
  using type = Refused;
  static type of(const Refused& raw) { return raw; }
};
template <Number N, auto... B>
struct Widen<N, B...> {
  using type = N;
  static type of(N raw) { return raw; }
};
template <class X, auto... C, auto... B>
struct Widen<With<X, C...>, B...> {
  using type = With<X, B..., C...>;
  static type of(const With<X, C...>& raw) { return type(raw.raw()); }
};
template <class P, class Q, auto... B>
struct Widen<std::pair<P, Q>, B...> {
  using type = std::pair<typename Widen<P, B...>::type, typename Widen<Q, B...>::type>;
  static type of(const std::pair<P, Q>& raw) {
    return {Widen<P, B...>::of(raw.first), Widen<Q, B...>::of(raw.second)};
  }
};
template <class... P, auto... B>
struct Widen<std::tuple<P...>, B...> {
  using type = std::tuple<typename Widen<P, B...>::type...>;
  static type of(const std::tuple<P...>& raw) {
    return std::apply([](const auto&... part) { return type{widened<B...>(part)...}; }, raw);
  }

 private:
  template <auto... C, class Q>
  static typename Widen<Q, C...>::type widened(const Q& raw) {
    return Widen<Q, C...>::of(raw);
  }
};
template <class P, std::size_t N, auto... B>
struct Widen<std::array<P, N>, B...> {
  using type = std::array<typename Widen<P, B...>::type, N>;
  static type of(const std::array<P, N>& raw) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return type{Widen<P, B...>::of(raw[I])...};
    }(std::make_index_sequence<N>{});
  }
};
template <class P, class A, auto... B>
struct Widen<std::vector<P, A>, B...> {
  using type = std::vector<typename Widen<P, B...>::type>;
  static type of(const std::vector<P, A>& raw) {
    type result;
    result.reserve(raw.size());
    for (const P& part : raw) result.push_back(Widen<P, B...>::of(part));
    return result;
  }
};
template <class P, auto... B>
struct Widen<std::optional<P>, B...> {
  using type = std::optional<typename Widen<P, B...>::type>;
  static type of(const std::optional<P>& raw) {
    return raw.has_value() ? type(Widen<P, B...>::of(*raw)) : std::nullopt;
  }
};

/// Passes on leaves with axes B... in front, and takes them off what comes back.
template <class F, auto... B>
struct WidenedLeaves {
  F& f;

  template <class T, auto... D, class... Y>
  decltype(auto) leaf(const Tensor<T, D...>& x, const Y&... more) {
    if constexpr (std::is_void_v<decltype(f.leaf(Tensor<T, B..., D...>(x.ref()),
                                                 Widen<Y, B...>::of(more)...))>) {
      f.leaf(Tensor<T, B..., D...>(x.ref()), Widen<Y, B...>::of(more)...);
    } else {
      const Tensor<T, B..., D...> y =
          f.leaf(Tensor<T, B..., D...>(x.ref()), Widen<Y, B...>::of(more)...);
      return Tensor<T, D...>(y.ref());
    }
  }
  decltype(auto) leaf(const Array& x, const auto&... more) { return f.leaf(x, more...); }
  template <Number N>
  decltype(auto) leaf(const N& x, const auto&... more) {
    return f.leaf(x, more...);
  }
  void enter(const char* field) { f.enter(field); }
  void enter(std::int64_t index) { f.enter(index); }
  void leave() { f.leave(); }
  void note(std::int64_t structure) { f.note(structure); }
};

}  // namespace detail

/// The tree X with axes B... in front of each leaf; X itself for none.
template <class X, auto... B>
using Widened = typename detail::Widen<X, B...>::type;

/// An aggregate X whose tensors have axes B... in front, which its own field types can't say. Taken
/// apart by member pointers: g[&Mlp::w2] is a Tensor<float, batch, hidden, 10>, g[&Mlp::in] a
/// With<Linear, batch>; fields that are vectors, tuples and so on hold such parts.
template <class X, auto... B>
class With {
 public:
  With() = default;
  /// Adopts an X whose handles are of the longer shapes.
  explicit With(X raw) : raw_(std::move(raw)) {}

  template <class M>
  Widened<M, B...> operator[](M X::* member) const {
    return detail::Widen<M, B...>::of(raw_.*member);
  }
  /// The X with handles of the longer shapes; its types don't tell the truth.
  const X& raw() const { return raw_; }

 private:
  X raw_;
};

template <class X, auto... B>
struct Tree<With<X, B...>> {
  using Whole = With<X, B...>;
  static consteval detail::TreeFault fault() { return detail::fault_of<X>(); }
  template <class F>
  static void each(F& f, const Whole& x) {
    detail::WidenedLeaves<F, B...> widened{f};
    Tree<X>::each(widened, x.raw());
  }
  template <class F, class... Y>
  static Whole map(F& f, const Whole& x, const Y&... more) {
    detail::WidenedLeaves<F, B...> widened{f};
    return Whole(Tree<X>::map(widened, x.raw(), more.raw()...));
  }
};

}  // namespace tlaloc
