// Traced programs as C++ that a person can read. Includes <string>.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/jit.h"

namespace tlaloc {

/// What printed code looks like.
enum class SourceMode : std::uint8_t {
  automatic,  ///< tensor where there are matrices and the public API can say it, else plain
  plain,      ///< loops over numbers and vectors: needs nothing but the standard library
  tensor      ///< calls of tl::…, one per operation: needs <tlaloc/tlaloc.h>
};

struct SourceOptions {
  std::string function = "f";
  std::vector<std::string> arguments = {};  ///< default: x0, x1, …; fields keep their own paths
  SourceMode mode = SourceMode::automatic;
};

namespace core {
std::string source_text(const Function& f, const Leaves& args, const SourceOptions& options,
                        Where where);
}  // namespace core

namespace detail {

struct SourcePolicy {
  using State = SourceOptions;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = std::string;

  template <class R, class F, class... A>
  static std::string run(F& f, State& options, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    return core::source_text(callee.function(), flatten_arguments(args...), options, where);
  }
};

}  // namespace detail

/// f, or any transform of one, as C++: to_source(grad(f), {.function = "f_gradient"})(x…). The
/// arguments tell types and structure; sizes that their types leave open stay open. Either mode
/// gives the interpreter's bits; plain code when compiled with -ffp-contract=off.
/// Errors: as jit; TL-CXX-001 (an operation has no printed form in that mode), TL-CXX-002 (an
/// element type has none).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::SourcePolicy, F>>
detail::Transform<detail::SourcePolicy, F> to_source(F f, SourceOptions options = {},
                                                     Where where = Where::current()) {
  return {std::move(f), where, std::move(options)};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::SourcePolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::SourcePolicy, F> to_source(F, SourceOptions = {},
                                                     Where = Where::current()) = delete;

}  // namespace tlaloc
