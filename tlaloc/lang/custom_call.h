// Calls of the host's own code from programs: a C++ function on concrete tensors, registered under
// a name. Not part of tlaloc.h.
#pragma once

#include <string>
#include <utility>

#include "tlaloc/lang/core_custom_call.h"
#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

/// The verdict on a host function: it takes and returns tensors.
template <class F, class R, class... P>
struct HostFunction {
  static consteval auto get() {
    if constexpr (!((AnyTensor<std::remove_cvref_t<P>> ||
                     std::is_same_v<std::remove_cvref_t<P>, Array>) &&
                    ...))
      return mistake("TL-TYPE-002", "the function takes no tensors");
    else
      return result_verdict<R>();
  }
  static void call(F& f, const core::Leaves& in, core::Leaves& out) {
    Rebuilder r{in};
    std::tuple<std::remove_cvref_t<P>...> args{r.take(std::remove_cvref_t<P>())...};
    flatten<R>(std::apply(f, args), out);
  }
  static core::Leaves params() { return flatten_arguments(std::remove_cvref_t<P>()...); }
};
template <class F>
consteval auto host_function_verdict() {
  if constexpr (!Fixed<F>)
    return mistake("TL-CALL-002", "a function with one signature");
  else
    return SignatureOf<F>::type::template Wrap<HostFunction, F>::get();
}

/// The verdict on a call: R is a tree of tensors.
template <class R, class... A>
consteval auto custom_call_verdict() {
  if constexpr (IsMistake<kTree<R>>)
    return kTree<R>;
  else if constexpr (Number<R> || std::is_same_v<R, Array>)
    return mistake("TL-TYPE-002", "custom_call<Tensor<...>> is due");
  else
    return kTrees<A...>;
}

}  // namespace detail

/// Registers f, a function with one signature on concrete tensors, under `name`, in place of an
/// earlier one:
///   register_custom_call("median", [](Tensor<double, any> x) { … return Tensor<double>(…); });
/// It may read its arguments with data() and item(), must be pure, and may run any number of times
/// or, where its result is not needed, not at all. Errors: TL-CALL-002 (no one signature),
/// TL-TYPE-002 (it takes no tensors), TL-CALL-001, TL-TREE-001 to 005.
template <class F, auto Why = detail::host_function_verdict<F>()>
void register_custom_call(std::string name, F f) {
  using Host = typename detail::SignatureOf<F>::type::template Wrap<detail::HostFunction, F>;
  core::register_custom_call(std::move(name), Host::params(),
                             [f = std::move(f)](const core::Leaves& in, core::Leaves& out) mutable {
                               Host::call(f, in, out);
                             });
}
template <class F, auto Why = detail::host_function_verdict<F>()>
  requires IsMistake<Why>
void register_custom_call(std::string, F) = delete;

/// Calls what is registered under `name`, also from traced code, where it runs when the program
/// does: custom_call<Tensor<double>>("median", x). R is a tensor, or a tree of tensors; a size that
/// it lacks is that of an argument's axis of that name or place. Under vmap it runs once per lane.
/// It has no derivative: give one by custom_jvp or custom_vjp. Errors: TL-TYPE-002 (R), TL-TREE-001
/// to 005; at run time TL-SHAPE-009 (a size that no argument has), TL-CUSTOM-004 (nothing is
/// registered), TL-CUSTOM-002 (it takes or returns something else), TL-DTYPE-001, TL-RANK-001,
/// TL-SHAPE-002 (it takes other tensors), TL-GRAD-003 (in a derivative).
template <class R, class... A, auto Why = detail::custom_call_verdict<R, detail::Lift<A>...>()>
R custom_call(const char* name, const A&... args) {
  core::Leaves results;
  detail::flatten(R(), results);
  const core::Leaves out = core::custom_call(
      name, detail::flatten_arguments(static_cast<const detail::Lift<A>&>(detail::lift(args))...),
      results, Where{});
  detail::Rebuilder r{.in = out};
  return r.take(R());
}
template <class R, class... A, auto Why = detail::custom_call_verdict<R, detail::Lift<A>...>()>
  requires IsMistake<Why>
Refused custom_call(const char*, const A&...) = delete;

}  // namespace tlaloc
