// Looking at traced programs: graph_of, explain. Includes <string>.
#pragma once

#include <string>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/jit.h"

namespace tlaloc {
namespace detail {

struct GraphPolicy {
  using State = Stateless;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = std::string;

  template <class R, class F, class... A>
  static std::string run(F& f, State&, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    return core::graph_text(callee.function(), flatten_arguments(args...), where);
  }
};

}  // namespace detail

/// The traced program as text of the IR: graph_of(f)(x…), graph_of(grad(f))(x…). Sizes that the
/// types leave open stay symbols. Errors: as jit.
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GraphPolicy, F>>
detail::Transform<detail::GraphPolicy, F> graph_of(F f, Where where = Where::current()) {
  return {std::move(f), where};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::GraphPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::GraphPolicy, F> graph_of(F, Where = Where::current()) = delete;

/// Why a jitted function was traced, each time, and which arrays it captured.
template <class J>
  requires std::is_same_v<typename J::StateType, core::JitCache>
std::string explain(const J& jitted) {
  return core::explain(jitted.state());
}
/// How often it was traced.
template <class J>
  requires std::is_same_v<typename J::StateType, core::JitCache>
std::int64_t traces(const J& jitted) {
  return jitted.state().traces();
}

}  // namespace tlaloc
