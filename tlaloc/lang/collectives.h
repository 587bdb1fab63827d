// Sums and exchanges between the devices of a mesh axis. Not part of tlaloc.h.
//
// A program is written for one device: every device runs it on its own values, and a collective is
// where they meet. Derivatives are those of the map from all devices' operands to all devices'
// results. Axes of several devices are for manual computations (mesh.h); elsewhere a run over more
// than one device is refused (TL-MESH-001). Errors: TL-AXIS-004 (no MeshAxis), TL-DTYPE-003 (bool),
// TL-TYPE-002.
#pragma once

#include "tlaloc/lang/core_collectives.h"
#include "tlaloc/lang/cut.h"

namespace tlaloc {

/// A number of devices under a name. Declare the tag in place:
///   inline constexpr tl::MeshAxis<struct Data, 1> data;
template <class Tag, int Devices = 1>
struct MeshAxis {
  static_assert(Devices >= 1, "TL-TYPE-001: a mesh axis has at least one device");
  static constexpr core::MeshSpec spec{detail::kTagName<Tag>.text, Devices};
};

namespace detail {

/// The devices along a mesh axis; 0 for any other type.
template <class M>
inline constexpr int kDevices = 0;
template <class Tag, int Devices>
inline constexpr int kDevices<MeshAxis<Tag, Devices>> = Devices;

template <class A, class M>
consteval auto collective_verdict() {
  if constexpr (kDevices<M> == 0)
    return mistake("TL-AXIS-004", "a MeshAxis is due");
  else
    return one_verdict<A, Domain::number, false>();
}
template <class A, class M>
inline constexpr auto kCollective = collective_verdict<A, M>();
/// The same along axis Ax, by a rule that takes the number of devices.
template <template <class...> class Rule, class A, class M, auto Ax>
consteval auto exchange_verdict() {
  if constexpr (IsMistake<kCollective<A, M>>)
    return kCollective<A, M>;
  else
    return kCut<Rule, A, Ax, kDevices<M>>;
}
template <template <class...> class Rule, class A, class M, auto Ax>
inline constexpr auto kExchange = exchange_verdict<Rule, A, M, Ax>();
template <template <class...> class Rule, class A, class M, auto Ax>
using Exchanged = CutTo<Rule, A, Ax, kDevices<M>>;

}  // namespace detail

/// On every device the sum (or the extreme) of all devices' x. Equal extremes share a derivative.
template <class A, class M, auto Why = detail::kCollective<A, M>>
Like<A> all_reduce(const A& x, M, Collective reduction = Collective::sum,
                   Where where = Where::current()) {
  using R = Like<A>;
  return R(core::all_reduce(x.ref(), reduction, M::spec, detail::labels<R>(), where));
}
template <class A, class M, auto Why = detail::kCollective<A, M>>
  requires IsMistake<Why>
Refused all_reduce(const A&, M, Collective = Collective::sum, Where = Where::current()) = delete;

/// On every device the devices' parts one after the other along axis Ax, which grows by their
/// number. Errors: also TL-AXIS-001.
template <auto Ax, class A, class M, auto Why = detail::kExchange<detail::RepeatRule, A, M, Ax>>
detail::Exchanged<detail::RepeatRule, A, M, Ax> all_gather(const A& x, M,
                                                           Where where = Where::current()) {
  using R = detail::Exchanged<detail::RepeatRule, A, M, Ax>;
  return R(core::all_gather(x.ref(), detail::cut_axis<Ax>(x, where), M::spec, detail::labels<R>(),
                            where));
}
template <auto Ax, class A, class M, auto Why = detail::kExchange<detail::RepeatRule, A, M, Ax>>
  requires IsMistake<Why>
Refused all_gather(const A&, M, Where = Where::current()) = delete;

/// On device i the i-th part along axis Ax of the sum of all devices' x. Errors: also TL-AXIS-001,
/// TL-SHAPE-008 (no equal parts).
template <auto Ax, class A, class M, auto Why = detail::kExchange<detail::SplitRule, A, M, Ax>>
detail::Exchanged<detail::SplitRule, A, M, Ax> reduce_scatter(const A& x, M,
                                                              Where where = Where::current()) {
  using R = detail::Exchanged<detail::SplitRule, A, M, Ax>;
  return R(core::reduce_scatter(x.ref(), detail::cut_axis<Ax>(x, where), M::spec,
                                detail::labels<R>(), where));
}
template <auto Ax, class A, class M, auto Why = detail::kExchange<detail::SplitRule, A, M, Ax>>
  requires IsMistake<Why>
Refused reduce_scatter(const A&, M, Where = Where::current()) = delete;

}  // namespace tlaloc
