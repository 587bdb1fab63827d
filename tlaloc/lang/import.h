// StableHLO modules as functions: what another framework exported is called, differentiated, mapped
// and compiled like a function written here. Includes <string>. Not part of tlaloc.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/lang/transform_types.h"

namespace tlaloc {

namespace core {
struct ImportedFunction;
std::shared_ptr<const ImportedFunction> import_stablehlo(std::string_view text,
                                                         const std::string& name);
std::size_t argument_count(const ImportedFunction& f);
std::size_t result_count(const ImportedFunction& f);
std::vector<Ref> call_imported(const ImportedFunction& f, const std::vector<Ref>& args,
                               Where where);
/// The result of a function that has one; UserError TL-ARITY-001.
Ref only_result(const ImportedFunction& f, const std::vector<Ref>& args, Where where);
}  // namespace core

namespace detail {
template <class... A>
consteval auto imported_verdict() {
  if constexpr (!((AnyTensor<A> || std::is_same_v<A, Array>) && ...))
    return mistake("TL-TYPE-002", "an imported function takes tensors");
  else
    return Fine{};
}
}  // namespace detail

/// A function of a StableHLO module. A value: copies share the program.
class Imported {
 public:
  explicit Imported(std::shared_ptr<const core::ImportedFunction> f) : function_(std::move(f)) {}

  std::size_t argument_count() const { return core::argument_count(*function_); }
  std::size_t result_count() const { return core::result_count(*function_); }

  /// The function's only result: tl::grad(f)(w, x). Errors: TL-TYPE-002 (an argument that is no
  /// tensor), TL-ARITY-001 (other arguments than it takes, or several results), TL-DTYPE-001,
  /// TL-RANK-001, TL-SHAPE-002 (an argument of another type), and those of a run.
  template <class... A, auto Why = detail::imported_verdict<A...>()>
  Array operator()(const A&... args) const {
    return Array(core::only_result(*function_, {args.ref()...}, Where{}));
  }
  template <class... A, auto Why = detail::imported_verdict<A...>()>
    requires IsMistake<Why>
#ifdef __clang__
  consteval Refused operator()(const A&...) const {  // see Transformed
    return refuse();
  }
#else
  Refused operator()(const A&...) const = delete;
#endif

  /// All results.
  std::vector<Array> results(const std::vector<Array>& args, Where where = Where::current()) const;

 private:
  static Refused refuse();
  std::shared_ptr<const core::ImportedFunction> function_;
};

/// @main of a StableHLO module, or its only public function, as text: in pretty or generic form, as
/// JAX and others export it. Sizes that the module leaves open are those of the arguments. `name`
/// is the text's in errors, which have line and column: TL-HLO-001 to 003, and those of operations.
Imported import_stablehlo(std::string_view text, const std::string& name = "<text>");

}  // namespace tlaloc
