// emit_stablehlo: a function as a StableHLO module. Includes <string>.
#pragma once

#include <string>

#include "tlaloc/lang/jit.h"

namespace tlaloc {

struct StableHloOptions {
  /// Named calls (softmax, attention, …) as stablehlo.composite.
  bool composites = false;
  /// How many trips a loop without max_trips may have whose derivative is taken; 0: such a loop is
  /// refused.
  long long recorded_trips = 0;
};

namespace core {
std::string emit_stablehlo(const Function& f, const Leaves& args, const StableHloOptions& options,
                           Where where);
}

namespace detail {

struct StableHloPolicy {
  using State = StableHloOptions;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = std::string;

  template <class R, class F, class... A>
  static std::string run(F& f, State& options, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    return core::emit_stablehlo(callee.function(), flatten_arguments(args...), options, where);
  }
};

}  // namespace detail

/// f, or any transform of one, as the text of a StableHLO module for the arguments' sizes:
/// emit_stablehlo(grad(f))(x…). Its @main takes the arguments' leaves in order and gives the
/// result's. What f captures becomes a part of it. Errors: as jit; TL-BACKEND-001 (what StableHLO
/// can't say).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::StableHloPolicy, F>>
detail::Transform<detail::StableHloPolicy, F> emit_stablehlo(F f, StableHloOptions options = {},
                                                             Where where = Where::current()) {
  return {std::move(f), where, std::move(options)};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::StableHloPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::StableHloPolicy, F> emit_stablehlo(F, StableHloOptions = {},
                                                             Where = Where::current()) = delete;

}  // namespace tlaloc
