// jit and remat.
#pragma once

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {
namespace detail {

/// A transform that keeps the callable's signature.
struct SamePolicy {
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = R;
};

struct JitPolicy : SamePolicy {
  using State = core::JitCache;
  using UsesUp = void;
  template <class R, class Own, class F, class... A>
  static R run(Own own, F& f, State& cache, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    const core::Leaves out =
        core::jit(cache, callee.function(), flatten_arguments(own, args...), where);
    Rebuilder r{out};
    return take_result<R>(r);
  }
};

/// What stays in memory for the derivative beside the inputs.
struct RematState {
  const char* policy = "nothing";
};
struct RematPolicy : SamePolicy {
  using State = RematState;
  template <class R, class F, class... A>
  static R run(F& f, State& state, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    const core::Leaves out =
        core::remat(callee.function(), flatten_arguments(args...), state.policy, where);
    Rebuilder r{out};
    return take_result<R>(r);
  }
};

}  // namespace detail

/// f compiled: traced once per set of types and structures, then run without tracing. An axis
/// without a size stays symbolic, so that new sizes need no new trace. What f captures is frozen
/// when it is traced. Copies of the result share what was compiled. Errors: TL-CALL-001 (f returns
/// nothing), TL-CALL-002 (f is not callable), TL-TREE-001 to 005.
///
/// A result may be computed in the memory of an argument that f takes by value (a generic f: of one
/// that is an rvalue) and that nobody else holds: state = step(std::move(state), batch) updates in
/// place. After an error such an argument is gone as well.
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JitPolicy, F>>
detail::Transform<detail::JitPolicy, F> jit(F f, Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JitPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::JitPolicy, F> jit(F, Where = Where::current()) = delete;

/// f, whose intermediate values a derivative computes again instead of keeping them. `policy` names
/// what is kept all the same: "nothing", "everything", "dots" (results of matrix products) or
/// "names:a,b" (see checkpoint_name). Errors: as jit; at run time TL-REMAT-001 (an unknown policy).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::RematPolicy, F>>
detail::Transform<detail::RematPolicy, F> remat(F f, const char* policy = "nothing",
                                                Where where = Where::current()) {
  return {std::move(f), where, {policy}};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::RematPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::RematPolicy, F> remat(F, const char* = "nothing",
                                                Where = Where::current()) = delete;

/// x, under a name by which a policy of remat can keep it: checkpoint_name(h, "hidden").
template <class A, auto Why = detail::kOne<A, Domain::all>>
Like<A> checkpoint_name(const A& x, const char* name, Where where = Where::current()) {
  using R = Like<A>;
  return R(core::checkpoint_name(x.ref(), name, detail::labels<R>(), where));
}
template <class A, auto Why = detail::kOne<A, Domain::all>>
  requires IsMistake<Why>
Refused checkpoint_name(const A&, const char*, Where = Where::current()) = delete;

}  // namespace tlaloc
