// hessian.
#pragma once

#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"

namespace tlaloc {
namespace detail {

/// Second derivatives by the leaves of an aggregate: h[&Mlp::w][&Mlp::b] has the axes of w, then
/// those of b. Fields of nested aggregates are chained before the second index:
/// h[&Mlp::in][&Linear:: w] is a With<Mlp, …>.
template <class Root, class Part>
class Pairs {
 public:
  /// One tree of second derivatives per leaf of `like`, and where Part's leaves begin.
  Pairs(std::vector<Root> rows, Part like, std::size_t begin)
      : rows_(std::move(rows)), like_(std::move(like)), begin_(begin) {}

  template <class M>
  auto operator[](M Part::* member) const {
    const M& part = like_.*member;
    const std::size_t begin = begin_ + leaves_before(&part);
    if constexpr (AnyTensor<M>) {
      return row(part, begin);
    } else {
      return Pairs<Root, M>(rows_, part, begin);
    }
  }

 private:
  struct LeafCounter {
    std::size_t count = 0;

    template <class X>
    void leaf(const X&) {
      if (!Number<X>) ++count;
    }
    void enter(const char*) {}
    void enter(std::int64_t) {}
    void leave() {}
    void note(std::int64_t) {}
  };
  /// The number of leaves in the fields before the one at that address.
  std::size_t leaves_before(const void* wanted) const {
    LeafCounter counter;
    bool passed = false;
    auto count = [&]<class M>(const M& field) {
      passed = passed || static_cast<const void*>(&field) == wanted;
      if (!passed) Tree<M>::each(counter, field);
    };
    std::apply([&](const auto&... field) { (count(field), ...); }, fields(like_));
    return counter.count;
  }
  template <class T, auto... D>
  Widened<Root, D...> row(const Tensor<T, D...>&, std::size_t i) const {
    return Widen<Root, D...>::of(rows_.at(i));
  }

  std::vector<Root> rows_;
  Part like_;
  std::size_t begin_;
};

template <class X>
struct HessianOf {
  static constexpr bool ok = false;
  using type = Refused;
};
template <class T, auto... D>
struct HessianOf<Tensor<T, D...>> {
  static constexpr bool ok = true;
  using type = Tensor<T, D..., D...>;
  static type take(Rebuilder& r, const Tensor<T, D...>&) { return type(r.in[r.next++]); }
};
template <class X>
  requires(
      std::is_aggregate_v<X> && !Value<X> && requires { kFieldCount<X>; } &&
      !requires { std::tuple_size<X>::value; })
struct HessianOf<X> {
  static constexpr bool ok = true;
  using type = Pairs<X, X>;
  static type take(Rebuilder& r, const X& like) {
    std::vector<X> rows;
    while (r.next < r.in.size()) rows.push_back(r.take(like));
    return type(std::move(rows), stripped(like), 0);
  }
};

template <class N>
struct HessianPolicy;
template <int I>
struct HessianPolicy<Argnums<I>> : DerivativePolicy<Argnums<I>> {
  template <class... A>
  static consteval auto arguments_verdict() {
    constexpr auto kWhy = kArguments<Argnums<I>, A...>;
    if constexpr (IsMistake<kWhy>)
      return kWhy;
    else if constexpr (!HessianOf<GradientOf<Argnums<I>, A...>>::ok)
      return mistake("TL-JAC-002", "one tensor or aggregate is due");
    else
      return Fine{};
  }
  template <class... A>
  static constexpr auto arguments = arguments_verdict<A...>();
  template <class R>
  static constexpr auto result = loss_verdict<R>();
  template <class R, class... A>
  using Output = typename HessianOf<GradientOf<Argnums<I>, A...>>::type;
  template <class R, class F, class... A>
  static Output<R, A...> run(F& f, Stateless&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    const core::Leaves out = core::hessian(callee.function(), flatten_arguments(args...),
                                           Indices<Argnums<I>>::span, where);
    Rebuilder r{.in = out, .zero_numbers = true};
    return HessianOf<GradientOf<Argnums<I>, A...>>::take(
        r, std::get<static_cast<std::size_t>(I)>(std::tie(args...)));
  }
};

}  // namespace detail

/// The second derivatives of a loss by one argument: a tensor [a...] gives [a..., a...]; an
/// aggregate gives pairs of leaves, h[&Mlp::w][&Mlp::b]: [w..., b...]. Errors: TL-JAC-002 (another
/// kind of argument), TL-GRAD-001, as vjp.
template <class F, int I = 0, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::HessianPolicy<Argnums<I>>, F>>
detail::Transform<detail::HessianPolicy<Argnums<I>>, F> hessian(F f, Argnums<I> = {},
                                                                Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, int I = 0, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::HessianPolicy<Argnums<I>>, F>>
  requires IsMistake<Why>
detail::Transform<detail::HessianPolicy<Argnums<I>>, F> hessian(F, Argnums<I> = {},
                                                                Where = Where::current()) = delete;

}  // namespace tlaloc
