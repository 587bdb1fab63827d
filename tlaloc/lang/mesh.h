// Values on a mesh of devices, and functions that each device runs on its parts. Not part of
// tlaloc.h.
//
//   inline constexpr tl::MeshAxis<struct Data, 2> data;
//   inline constexpr tl::MeshAxis<struct Model, 2> model;
//   inline constexpr tl::Mesh mesh(data, model);
//   h = tl::with_sharding(h, tl::sharding(mesh, data, tl::whole));
//
// A sharding says where a value lies and changes nothing of what is computed. A back end with one
// device does the work of all.
#pragma once

#include <array>
#include <tuple>

#include "tlaloc/lang/collectives.h"
#include "tlaloc/lang/core_mesh.h"
#include "tlaloc/lang/transform_types.h"

namespace tlaloc {

/// Devices in a grid, the last axis running fastest.
template <class... Axes>
struct Mesh {
  static_assert(((detail::kDevices<Axes> > 0) && ...), "TL-AXIS-004: a mesh is of MeshAxis");
  constexpr explicit Mesh(Axes...) {}
  static constexpr core::MeshSpec axes[sizeof...(Axes) + 1]{Axes::spec...};
  static constexpr std::size_t rank = sizeof...(Axes);
  template <class A>
  static constexpr bool has = (std::is_same_v<A, Axes> || ...);
};

namespace detail {

/// A mesh axis, or a part of it.
template <class A, int Before, int Size>
struct AxisPart {
  using Axis = A;
  static constexpr int devices = Size ? Size : kDevices<A>;
  static constexpr core::AxisPartSpec spec{A::spec.name, Before, Size};
};
template <class T>
struct AsPart {
  using type = AxisPart<T, 1, 0>;
};
template <class A, int Before, int Size>
struct AsPart<AxisPart<A, Before, Size>> {
  using type = AxisPart<A, Before, Size>;
};

/// How one dimension is cut: along these, the first one outermost.
template <bool Open, int Priority, class... Parts>
struct Along {
  static constexpr int devices = (Parts::devices * ... * 1);
  static constexpr core::AxisPartSpec parts[sizeof...(Parts) + 1]{Parts::spec..., {}};
  static constexpr core::DimShardingSpec spec{{parts, sizeof...(Parts)}, Open, Priority};
  /// Whether all of them are whole axes of the mesh, and no propagation is meant.
  static constexpr bool plain = !Open && Priority < 0 && ((Parts::spec.size == 0) && ...);
  template <class M>
  static constexpr bool fits = (M::template has<typename Parts::Axis> && ...);
  /// Propagation may add axes.
  constexpr Along<true, Priority, Parts...> open() const { return {}; }
  /// Propagated before those of larger numbers.
  template <int P>
  constexpr Along<Open, P, Parts...> priority() const {
    static_assert(P >= 0);
    return {};
  }
};
template <class T>
struct AsAlong {
  using type = Along<false, -1, typename AsPart<T>::type>;
};
template <bool Open, int Priority, class... Parts>
struct AsAlong<Along<Open, Priority, Parts...>> {
  using type = Along<Open, Priority, Parts...>;
};
template <class T>
using AlongOf = typename AsAlong<T>::type;

template <class M, class Replicated, class... D>
struct Sharding;
template <class M, class... R, class... D>
struct Sharding<M, std::tuple<R...>, D...> {
  static constexpr std::size_t rank = sizeof...(D);
  static constexpr bool fits =
      (D::template fits<M> && ...) && (M::template has<typename R::Axis> && ...);
  static constexpr int devices[rank + 1]{D::devices...};
  static constexpr core::DimShardingSpec dims[rank + 1]{D::spec..., {}};
  static constexpr core::AxisPartSpec kept[sizeof...(R) + 1]{R::spec..., {}};
  static constexpr core::ShardingSpec spec{{M::axes, M::rank}, {dims, rank}, {kept, sizeof...(R)}};
  /// Propagation may not use these axes.
  template <class... A>
  constexpr Sharding<M, std::tuple<typename AsPart<A>::type...>, D...> replicated(A...) const {
    return {};
  }
};

/// How an argument or result of a manual computation is cut.
template <class... D>
struct Parts {
  static_assert((D::plain && ...), "TL-MESH-002: parts are along whole axes");
  static constexpr std::size_t rank = sizeof...(D);
  static constexpr int devices[rank + 1]{D::devices...};
  static constexpr core::DimShardingSpec dims[rank + 1]{D::spec..., {}};
  static constexpr core::ShardingSpec spec{{}, {dims, rank}, {}};
  template <class M>
  static constexpr bool fits = (D::template fits<M> && ...);
};

/// A with dimension I and those behind it cut into, or grown to, as many parts as P has devices.
template <template <class...> class Rule, class A, class P, std::size_t I = 0>
consteval auto parts_verdict() {
  if constexpr (I == P::rank) {
    return Fine{};
  } else if constexpr (P::devices[I] == 1) {
    return parts_verdict<Rule, A, P, I + 1>();
  } else if constexpr (IsMistake<kCut<Rule, A, static_cast<int>(I), P::devices[I]>>) {
    return kCut<Rule, A, static_cast<int>(I), P::devices[I]>;
  } else {
    return parts_verdict<Rule, CutTo<Rule, A, static_cast<int>(I), P::devices[I]>, P, I + 1>();
  }
}
template <template <class...> class Rule, class A, class P, std::size_t I = 0>
struct PartsOf {
  using type =
      typename PartsOf<Rule, CutTo<Rule, A, static_cast<int>(I), P::devices[I]>, P, I + 1>::type;
};
template <template <class...> class Rule, class A, class P, std::size_t I>
  requires(I < P::rank && P::devices[I] == 1)
struct PartsOf<Rule, A, P, I> {
  using type = typename PartsOf<Rule, A, P, I + 1>::type;
};
template <template <class...> class Rule, class A, class P, std::size_t I>
  requires(I == P::rank)
struct PartsOf<Rule, A, P, I> {
  using type = A;
};

template <class A, class S>
consteval auto sharding_verdict() {
  constexpr auto kOperand = one_verdict<A, Domain::all, false>();
  if constexpr (IsMistake<kOperand>) {
    return kOperand;
  } else if constexpr (!S::fits) {
    return mistake("TL-MESH-002", "not an axis of this mesh");
  } else if constexpr (kKind<A> == Kind::tensor) {
    if constexpr (A::axes().size() != S::rank)
      return mistake("TL-MESH-002", "one entry per dimension");
    else
      return parts_verdict<SplitRule, A, S>();
  } else {
    return Fine{};
  }
}
template <class A, class S>
inline constexpr auto kSharding = sharding_verdict<A, S>();

/// What a manual computation makes of its arguments and of what its body returns.
template <template <class...> class Rule, class M, class A, class P>
consteval auto manual_verdict() {
  if constexpr (kKind<A> != Kind::tensor) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (!P::template fits<M>) {
    return mistake("TL-MESH-002", "not an axis of this mesh");
  } else if constexpr (A::axes().size() != P::rank) {
    return mistake("TL-MESH-002", "one entry per dimension");
  } else {
    return parts_verdict<Rule, A, P>();
  }
}
/// The first mistake of arguments I and behind.
template <template <class...> class Rule, class M, class A, class P, std::size_t I>
consteval auto manual_verdict_from() {
  if constexpr (I == std::tuple_size_v<A>) {
    return Fine{};
  } else {
    constexpr auto kWhy =
        manual_verdict<Rule, M, std::tuple_element_t<I, A>, std::tuple_element_t<I, P>>();
    if constexpr (IsMistake<kWhy>)
      return kWhy;
    else
      return manual_verdict_from<Rule, M, A, P, I + 1>();
  }
}
template <template <class...> class Rule, class M, class A, class P>
consteval auto manual_verdicts() {
  if constexpr (std::tuple_size_v<A> != std::tuple_size_v<P>) {
    return mistake("TL-MESH-002", "one entry per argument");
  } else {
    return manual_verdict_from<Rule, M, A, P, 0>();
  }
}

}  // namespace detail

/// A dimension that is not cut, and one that propagation decides about.
inline constexpr detail::Along<false, -1> whole;
inline constexpr detail::Along<true, -1> open;
/// A dimension that is cut along several axes, the first one outermost: along(data, model). Its
/// .open() lets propagation add axes, its .priority<1>() says when it is propagated.
template <class... A>
constexpr detail::Along<false, -1, typename detail::AsPart<A>::type...> along(A...) {
  return {};
}
/// `Size` devices behind the first `Before` ones of an axis, in Shardy's terms "axis":(Before)Size.
template <int Before, int Size, class A>
constexpr detail::AxisPart<A, Before, Size> sub_axis(A) {
  static_assert(Before >= 1 && Size >= 2 && detail::kDevices<A> % (Before * Size) == 0,
                "TL-MESH-002: the axis has no such part");
  return {};
}

/// One entry per dimension: an axis, `whole`, `open`, `along(…)`. Its .replicated(axes…) keeps
/// propagation from using these.
template <class... M, class... D>
constexpr detail::Sharding<Mesh<M...>, std::tuple<>, detail::AlongOf<D>...> sharding(Mesh<M...>,
                                                                                     D...) {
  return {};
}

/// x itself, laid out like that; so are its tangent and cotangent. Errors: TL-MESH-002,
/// TL-SHAPE-008 (no equal parts), TL-TYPE-002.
template <class A, class S, auto Why = detail::kSharding<A, S>>
A with_sharding(const A& x, S, Where where = Where::current()) {
  return A(core::sharding_constraint(x.ref(), S::spec, where));
}
template <class A, class S, auto Why = detail::kSharding<A, S>>
  requires IsMistake<Why>
Refused with_sharding(const A&, S, Where = Where::current()) = delete;

/// How an argument or result of a manual computation is cut: an axis, `along(…)` or `whole` per
/// dimension. Along axes that it does not mention every device has all of it.
template <class... D>
constexpr detail::Parts<detail::AlongOf<D>...> parts(D...) {
  return {};
}

namespace detail {

template <class X>
X& lvalue();

template <class T>
struct AsTuple {
  using type = std::tuple<T>;
  static constexpr bool single = true;
};
template <class... T>
struct AsTuple<std::tuple<T...>> {
  using type = std::tuple<T...>;
  static constexpr bool single = false;
};

template <class M, class In, class Out, class F>
class Manual {
  template <class A, class P>
  using Part = typename PartsOf<SplitRule, A, P>::type;
  template <class A, class P>
  using Whole = typename PartsOf<RepeatRule, A, P>::type;
  template <class Is, class... A>
  struct Result;
  template <std::size_t... I, class... A>
  struct Result<std::index_sequence<I...>, A...> {
    using type =
        decltype(std::declval<const F&>()(lvalue<Part<A, std::tuple_element_t<I, In>>>()...));
  };
  template <class... A>
  using ResultOf = typename Result<std::index_sequence_for<A...>, A...>::type;

  /// Of the results too, so that what is wrong with them is an error where f is called.
  template <class... A>
  static consteval auto verdict() {
    constexpr auto kArguments = manual_verdicts<SplitRule, M, std::tuple<A...>, In>();
    if constexpr (IsMistake<kArguments>) {
      return kArguments;
    } else {
      return manual_verdicts<RepeatRule, M, typename AsTuple<ResultOf<A...>>::type, Out>();
    }
  }

 public:
  explicit Manual(F f) : f_(std::move(f)) {}

  template <class... A, auto Why = verdict<A...>()>
  auto operator()(const A&... args) const {
    return run(std::index_sequence_for<A...>{}, args...);
  }
  template <class... A, auto Why = verdict<A...>()>
    requires IsMistake<Why>
#ifdef __clang__
  consteval Refused operator()(const A&...) const {  // see Transformed
    return refuse();
  }
#else
  Refused operator()(const A&...) const = delete;
#endif

 private:
  static Refused refuse();
  template <std::size_t... I, class... A>
  auto run(std::index_sequence<I...>, const A&... args) const {
    using R = ResultOf<A...>;
    const std::tuple<Part<A, std::tuple_element_t<I, In>>...> parts;
    Callee<R, const F, Part<A, std::tuple_element_t<I, In>>...> body(f_, std::get<I>(parts)...);
    const core::ShardingSpec in[]{std::tuple_element_t<I, In>::spec...};
    using Results = typename AsTuple<R>::type;
    return wholes<R, Results>(std::make_index_sequence<std::tuple_size_v<Results>>{}, in,
                              body.function(), flatten_arguments(args...),
                              flatten_arguments(std::get<I>(parts)...));
  }
  template <class R, class Results, std::size_t... K>
  auto wholes(std::index_sequence<K...>, std::span<const core::ShardingSpec> in,
              const core::Function& body, const core::Leaves& args,
              const core::Leaves& parts) const {
    using All =
        std::tuple<Whole<std::tuple_element_t<K, Results>, std::tuple_element_t<K, Out>>...>;
    const core::ShardingSpec out[]{std::tuple_element_t<K, Out>::spec...};
    const core::AxesSpec axes[]{std::tuple_element_t<K, All>::axes()...};
    const core::Leaves y =
        core::manual({{M::axes, M::rank}, in, out, axes}, body, args, parts, Where{});
    All all{std::tuple_element_t<K, All>(y[static_cast<int>(K)])...};
    if constexpr (AsTuple<R>::single) {
      return std::get<0>(all);
    } else {
      return all;
    }
  }
  F f_;
};

}  // namespace detail

/// Each device of the mesh runs f on its parts of the arguments; the results are put together of
/// the devices' ones. `in` and `out` are parts(…), or a std::tuple of these for several arguments
/// or results; f returns a tensor or a std::tuple of tensors. In f, collectives are over the axes
/// of the mesh; what f captures every device has as a whole. Of a result that is not cut
/// along an axis, all devices along it must have the same, which is up to f, as with JAX's
/// shard_map without its check; where they differ, what is read is anybody's. Errors: TL-MESH-001,
/// TL-MESH-002, TL-SHAPE-008 (no equal parts), TL-TYPE-002, TL-CALL-001.
///   auto sums = tl::manual(mesh, tl::parts(data, tl::whole), tl::parts(tl::whole),
///                          [](auto x) { return tl::all_reduce(tl::sum<0>(x), data); });
template <class... M, class In, class Out, class F>
auto manual(Mesh<M...>, In, Out, F f) {
  return detail::Manual<Mesh<M...>, typename detail::AsTuple<In>::type,
                        typename detail::AsTuple<Out>::type, F>(std::move(f));
}

}  // namespace tlaloc
