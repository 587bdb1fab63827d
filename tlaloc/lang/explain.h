// explain: what a function became, what it costs, why it was traced. Includes <string>.
#pragma once

#include "tlaloc/lang/graph_of.h"
#include "tlaloc/runtime/report.h"

namespace tlaloc {

/// What Tlaloc made of a function; fields for programs, text() and << for people.
using Explanation = runtime::Report;

namespace core {

/// While alive, compiled functions that this thread runs tell how, and traces of this thread keep
/// the user's line of every operation. An inner one hides an outer one.
class ExplainScope {
 public:
  /// UserError TL-BACKEND-001 in a scope of check_nan.
  ExplainScope();
  ~ExplainScope();
  ExplainScope(const ExplainScope&) = delete;
  ExplainScope& operator=(const ExplainScope&) = delete;
  /// Of the compiled function that ran first. UserError TL-BACKEND-001 if none did.
  Explanation take();

 private:
  friend void tell(Explanation);
  Explanation explanation_;
  bool told_ = false;
  ExplainScope* outer_ = nullptr;
};
/// Whether this thread is in a scope.
bool explaining();
/// To the innermost scope.
void tell(Explanation e);

}  // namespace core

/// Runs f on these arguments, compiled, and says how: which operations share a kernel, with their
/// lines; what each kernel reads, writes and takes; where values lie; and why f was traced, each
/// time, and on a device for which sizes it was compiled. A function that jit made is looked at as
/// it is: of one that was traced already, operators have no line. f runs several times, unless it
/// has effects. Errors: as jit; TL-BACKEND-001 (in a scope of check_nan, or within another trace).
template <class F, class... A, auto Why = detail::kTransform<detail::JitPolicy, F>>
  requires(sizeof...(A) > 0)
Explanation explain(F f, const A&... args) {
  core::ExplainScope scope;
  if constexpr (requires { requires std::is_same_v<typename F::StateType, core::JitCache>; }) {
    static_cast<void>(f(args...));
    Explanation e = scope.take();
    e.traces.insert(e.traces.begin(), core::explain(f.state()));
    return e;
  } else {
    const auto jitted = jit(std::move(f));
    static_cast<void>(jitted(args...));
    Explanation e = scope.take();
    e.traces.insert(e.traces.begin(), core::explain(jitted.state()));
    return e;
  }
}

}  // namespace tlaloc
