// compile_ahead: a function as an object file with a C header. Includes <string>.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tlaloc/lang/jit.h"

namespace tlaloc {

struct AheadOptions {
  std::string function = "f";     ///< its name in C
  std::string cpu = "x86-64-v2";  ///< what to compile for: "native", "x86-64-v3", "znver4", …
  /// The arguments' names: a field is called <argument>_<field>. Without one, fields have their
  /// own.
  std::vector<std::string> arguments;
};

/// An object file, which a program links without Tlaloc, and what it includes for that.
struct AheadCode {
  std::vector<std::byte> object;
  std::string header;
  /// EnvironmentError TL-FILE-001 where that fails.
  void write(const std::string& object_path, const std::string& header_path) const;
};

namespace core {

AheadCode compile_ahead(const Function& f, const Leaves& args, const AheadOptions& options,
                        Where where);

}  // namespace core

namespace detail {

struct AheadPolicy {
  using State = AheadOptions;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = AheadCode;

  template <class R, class F, class... A>
  static AheadCode run(F& f, State& options, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    return core::compile_ahead(callee.function(), flatten_arguments(args...), options, where);
  }
};

}  // namespace detail

/// f, or any transform of one, as code of its own:
/// compile_ahead(grad(f), {.function = "f_gradient"})(x…).write("f_gradient.o", "f_gradient.h").
/// The arguments tell types and structure; sizes that their types leave open stay open. What f
/// captures becomes a part of the code. Errors: as jit; TL-AOT-001 (an operation can't stand
/// alone), TL-AOT-002 (a name that C does not take, or another CPU), TL-CODEGEN-001 (the library
/// that compiles is missing).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::AheadPolicy, F>>
detail::Transform<detail::AheadPolicy, F> compile_ahead(F f, AheadOptions options = {},
                                                        Where where = Where::current()) {
  return {std::move(f), where, std::move(options)};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::AheadPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::AheadPolicy, F> compile_ahead(F, AheadOptions = {},
                                                        Where = Where::current()) = delete;

}  // namespace tlaloc
