// Traced programs as text: C++ that a person can read, and the graph itself. Includes <string>, so
// it stays out of the headers that every user includes.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/transform_types.h"

namespace tlaloc {

/// How printed code names things.
struct SourceOptions {
  std::string function = "f";
  std::vector<std::string> arguments = {};  ///< default: x0, x1, …; fields get their paths
};

namespace core {
/// The text in static storage, as paths of arguments need it. Equal texts share.
const char* interned(const std::string& text);
std::string source_text(const Function& f, const Leaves& args, const SourceOptions& options,
                        Where where);
}  // namespace core

namespace detail {
template <class F, class... A>
using CallResult = std::remove_cvref_t<decltype(std::declval<F&>()(std::declval<Lift<A>&>()...))>;

template <class... A>
core::Leaves named_arguments(const SourceOptions& options, const A&... args) {
  core::Leaves out;
  std::size_t k = 0;
  auto add = [&](const auto& x) {
    out.argument(core::interned(k < options.arguments.size() ? options.arguments[k]
                                                             : "x" + std::to_string(k)));
    flatten(x, out);
    ++k;
  };
  (add(args), ...);
  return out;
}
}  // namespace detail

/// f, or any transform of one, as readable C++: to_source({.function = "root_grad", .arguments =
/// {"a"}}, grad(root), a). The arguments tell types and structure; sizes that their types leave open
/// stay open. The text needs nothing but the standard library. Compiled with -ffp-contract=off it
/// gives the interpreter's bits.
/// Errors: TL-CXX-001 (an operation has no printed form), TL-CXX-002 (an element type has none).
template <class F, class... A>
std::string to_source(const SourceOptions& options, F f, const A&... args) {
  detail::Callee<detail::CallResult<F, A...>, F, detail::Lift<A>...> callee(f, detail::lift(args)...);
  return core::source_text(callee.function(), detail::named_arguments(options, detail::lift(args)...),
                           options, Where{});
}
template <class F, class... A>
  requires(!std::is_same_v<F, SourceOptions>)
std::string to_source(F f, const A&... args) {
  return to_source(SourceOptions{}, std::move(f), args...);
}

/// f, or any transform of one, as text of the IR.
template <class F, class... A>
std::string graph_of(F f, const A&... args) {
  detail::Callee<detail::CallResult<F, A...>, F, detail::Lift<A>...> callee(f, detail::lift(args)...);
  return core::graph_text(callee.function(),
                          detail::named_arguments(SourceOptions{}, detail::lift(args)...), Where{});
}

}  // namespace tlaloc
