// vmap: a function of one example, mapped over an axis.
#pragma once

#include "tlaloc/lang/peel.h"
#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

template <auto In>
struct MappingImpl {
  using type = ByName<In>;
};
template <int I>
struct MappingImpl<I> {
  using type = ByIndex<I>;
};
template <>
struct MappingImpl<unmapped> {
  using type = NotMapped;
};
/// How an argument of type A is mapped by an entry In of vmap's list. A number is shared.
template <class A, auto In>
using Mapping = std::conditional_t<Number<A>, NotMapped, typename MappingImpl<In>::type>;

template <auto In>
inline constexpr bool kIsEntry =
    kIsDim<decltype(In)> || std::is_same_v<std::remove_const_t<decltype(In)>, Unmapped>;

/// The axis that results get in front: the named one, or that of the first argument mapped.
template <class... P>
inline constexpr auto kMappedAxis = first_axis<P...>();

template <class P>
consteval core::AxisSpec spec_or_any() {
  if constexpr (std::is_same_v<std::remove_const_t<decltype(P::axis)>, NoAxis>)
    return {.any = true};
  else
    return spec_of(P::axis);
}
/// The verdict on arguments peeled by P...
template <class... P>
consteval auto peels_verdict() {
  constexpr PeelFault kFault = first_fault<P...>();
  if constexpr (kFault.code != nullptr) {
    return copy_verdict<length(kFault.code) + 1, length(kFault.reason) + 1>(kFault.code,
                                                                            kFault.reason);
  } else if constexpr (std::is_same_v<std::remove_const_t<decltype(kMappedAxis<P...>)>, NoAxis>) {
    return mistake("TL-VMAP-001", "no argument has the axis");
  } else if constexpr (!(rules::fits(spec_of(kMappedAxis<P...>), spec_or_any<P>()) && ...)) {
    return mistake("TL-VMAP-003", "the mapped sizes differ");
  } else {
    return Fine{};
  }
}
template <class F, class... P>
consteval auto vmap_verdict() {
  constexpr auto kWhy = peels_verdict<P...>();
  if constexpr (IsMistake<kWhy>) {
    return kWhy;
  } else if constexpr (!takes<F, typename P::type...>()) {
    return mistake("TL-VMAP-004", "the function takes other types");
  } else {
    return Fine{};
  }
}
template <class F, auto In, class... A>
consteval auto vmap_alike_verdict() {
  if constexpr (IsMistake<kTrees<A...>>)
    return kTrees<A...>;
  else
    return vmap_verdict<F, Peel<A, Mapping<A, In>>...>();
}
template <class F, class Entries, class... A>
struct EachVerdict;
template <class F, auto... In, class... A>
struct EachVerdict<F, Dims<In...>, A...> {
  static consteval auto get() { return vmap_verdict<F, Peel<A, Mapping<A, In>>...>(); }
};
template <class>
inline constexpr std::size_t kEntries = 0;
template <auto... In>
inline constexpr std::size_t kEntries<Dims<In...>> = sizeof...(In);
template <class F, class Entries, class... A>
consteval auto vmap_each_verdict() {
  if constexpr (IsMistake<kTrees<A...>>) {
    return kTrees<A...>;
  } else if constexpr (kEntries<Entries> != sizeof...(A)) {
    return mistake("TL-VMAP-005", "one entry per argument");
  } else {
    return EachVerdict<F, Entries, A...>::get();
  }
}

template <class R, class F, class... P, class... A>
auto run_vmap(F& f, Where where, Types<P...>, const A&... args) {
  constexpr auto kAxis = kMappedAxis<P...>;
  static constexpr core::AxisSpec kSpec = spec_of(kAxis);
  const std::tuple<typename P::type...> like{P::of(args)...};
  std::vector<int> places;
  (P::places(places, args), ...);
  return std::apply(
      [&](const typename P::type&... prototype) {
        Callee<R, F, typename P::type...> callee(f, prototype...);
        const core::Leaves out =
            core::vmap(callee.function(), flatten_arguments(args...), places, kSpec, where);
        Rebuilder r{.in = out};
        return Widen<R, kAxis>::of(take_result<R>(r));
      },
      like);
}

/// The result, once its type is known. A function of its own, so that a result that is no tree is
/// refused by a verdict.
template <class R, class F, class Peels, class... A, auto Why = result_verdict<R>()>
auto vmap_call(std::type_identity<R>, F& f, Where where, Peels peels, const A&... args) {
  return run_vmap<R>(f, where, peels, args...);
}
template <class R, class F, class Peels, class... A, auto Why = result_verdict<R>()>
  requires IsMistake<Why>
Refused vmap_call(std::type_identity<R>, F&, Where, Peels, const A&...) = delete;

template <class X>
X& lvalue();
Refused refuse();

/// All arguments mapped alike.
template <class F, auto In>
class VmappedAlike {
 public:
  VmappedAlike(F f, Where where) : f_(std::move(f)), where_(where) {}
  template <class... A, auto Why = vmap_alike_verdict<F, In, Lift<A>...>()>
  auto operator()(const A&... a) const {
    return vmap_call(std::type_identity<decltype(f_(
                         lvalue<typename Peel<Lift<A>, Mapping<A, In>>::type>()...))>{},
                     f_, where_, Types<Peel<Lift<A>, Mapping<A, In>>...>{}, lift(a)...);
  }
  template <class... A, auto Why = vmap_alike_verdict<F, In, Lift<A>...>()>
    requires IsMistake<Why>
#ifdef __clang__
  consteval Refused operator()(const A&...) const {  // see Transformed
    return refuse();
  }
#else
  Refused operator()(const A&...) const = delete;
#endif

 private:
  mutable F f_;
  Where where_;
};

/// One entry per argument.
template <class F, auto... In>
class VmappedEach {
 public:
  VmappedEach(F f, Where where) : f_(std::move(f)), where_(where) {}
  template <class... A, auto Why = vmap_each_verdict<F, Dims<In...>, Lift<A>...>()>
  auto operator()(const A&... a) const {
    return vmap_call(std::type_identity<decltype(f_(
                         lvalue<typename Peel<Lift<A>, Mapping<A, In>>::type>()...))>{},
                     f_, where_, Types<Peel<Lift<A>, Mapping<A, In>>...>{}, lift(a)...);
  }
  template <class... A, auto Why = vmap_each_verdict<F, Dims<In...>, Lift<A>...>()>
    requires IsMistake<Why>
#ifdef __clang__
  consteval Refused operator()(const A&...) const {  // see Transformed
    return refuse();
  }
#else
  Refused operator()(const A&...) const = delete;
#endif

 private:
  mutable F f_;
  Where where_;
};

template <class F, auto... In>
struct VmappedImpl {
  using type = VmappedEach<F, In...>;
};
template <class F, auto In>
struct VmappedImpl<F, In> {
  using type = VmappedAlike<F, In>;
};
template <class F, auto... In>
using Vmapped = typename VmappedImpl<F, In...>::type;

template <class F, auto... In>
consteval auto mapping_verdict() {
  if constexpr (!is_callable<F>()) {
    return mistake("TL-CALL-002", "not callable");
  } else if constexpr (sizeof...(In) == 0) {
    return mistake("TL-VMAP-001", "no axis is given");
  } else if constexpr (!(kIsEntry<In> && ...)) {
    return mistake("TL-AXIS-004", "an axis, index or tl::unmapped");
  } else if constexpr (std::is_void_v<ResultOf<F>> && Fixed<F>) {
    return mistake("TL-CALL-001", "the function returns nothing");
  } else {
    return Fine{};
  }
}
template <class F, auto... In>
inline constexpr auto kVmap = mapping_verdict<F, In...>();

}  // namespace detail

/// f mapped over an axis, which its arguments lose and its results gain in front:
///   vmap<batch>(f)(model, x)         every argument that carries the axis is mapped, others are
///   shared vmap<0>(f)(x, y)                 axis 0 of every argument vmap<unmapped, 0, -1>(f)(m,
///   x, y)   one entry per argument
/// Results are trees whose leaves have the axis in front: With for aggregates. An aggregate
/// argument is mapped as a With: vmap<batch>(f)(per_example_models, x). Errors: TL-VMAP-001
/// (nothing to map), TL-VMAP-002 (an aggregate's own fields carry the axis), TL-VMAP-003 (sizes
/// differ), TL-VMAP-004 (f takes other types), TL-VMAP-005 (entries and arguments differ in
/// number), TL-AXIS-001, TL-CALL-001, TL-CALL-002, TL-TREE-001 to 005.
template <auto... In, class F, auto Why = detail::kVmap<F, In...>>
detail::Vmapped<F, In...> vmap(F f, Where where = Where::current()) {
  return {std::move(f), where};
}
template <auto... In, class F, auto Why = detail::kVmap<F, In...>>
  requires IsMistake<Why>
Refused vmap(F, Where = Where::current()) = delete;

}  // namespace tlaloc
