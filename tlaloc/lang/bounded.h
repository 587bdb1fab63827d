// Bounded programs: functions over Bounded axes for back ends that want to know all sizes. A few
// bodies, each for the sizes of one bucket, serve every size within the bounds. Includes <string>.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/target.h"

namespace tlaloc {

struct BoundedOptions {
  /// What its type does not say of a Bounded axis.
  struct Sizes {
    std::string axis;                ///< its name: "Length"
    long long least = 1;             ///< smaller sizes are refused
    std::vector<long long> buckets;  ///< ascending, to the bound; empty: 16, 32, … and the bound
  };
  /// An argument that the program fills in itself: how much of a Bounded axis counts. The function
  /// must use it, and nothing else is done about padding along that axis.
  struct Valid {
    int argument = 0;
    std::string axis;
    bool length = false;  ///< a number; else a mask, 1 or true for what counts
  };
  std::vector<Sizes> sizes;
  std::vector<Valid> valid;
  /// Positions of arguments that calls may give up, such as what a training step updates. Each
  /// tensor in them is paired with the first result of its type that is left, in their order, which
  /// takes over its memory.
  std::vector<int> donate;
  /// The arguments' names: a field is called <argument>_<field>.
  std::vector<std::string> arguments;
  /// How many trips a loop without max_trips may have whose derivative is taken; 0: such a loop is
  /// refused.
  long long recorded_trips = 0;
  /// By how much of max(1, |expected|) a padded run may be off; 0: by the results' element types.
  double tolerance = 0;
};

/// A bounded program that runs. A value: copies share what was compiled.
class BoundedProgram {
 public:
  struct Data;
  explicit BoundedProgram(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  /// Of a folder that `write` made, or `tlaloc export-bounded`. Errors: EnvironmentError
  /// TL-FILE-001; UserError TL-BOUNDED-002.
  static BoundedProgram open(const std::string& folder, Target target);
  /// On the default back end.
  static BoundedProgram open(const std::string& folder);

  /// All results for all arguments but those that are filled in, leaf by leaf; they stay on the
  /// device. Bodies are compiled by the first call that needs them. What was exported with `donate`
  /// is given up where the vector was moved here and nobody else holds the array: program(move(v)).
  /// Errors: UserError TL-ARITY-001, TL-SHAPE-002, TL-SHAPE-011
  /// (arguments disagree on a size), TL-BOUND-001 (a size out of bounds), TL-BOUNDED-003 (a file is
  /// not what was exported); what compiling and running throw.
  std::vector<Array> operator()(std::vector<Array> arguments, Where where = Where::current()) const;
  /// How many bodies were compiled.
  std::size_t compiled() const;

 private:
  std::shared_ptr<const Data> data_;
};

/// A bounded program as text.
class BoundedExport {
 public:
  struct Data;
  explicit BoundedExport(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  /// tlaloc-bounded.json, and one StableHLO module for each combination of buckets. All appear
  /// together. EnvironmentError TL-FILE-001.
  void write(const std::string& folder) const;
  std::string manifest() const;
  BoundedProgram program(Target target) const;
  BoundedProgram program() const;  ///< on the default back end

 private:
  std::shared_ptr<const Data> data_;
};

namespace core {
BoundedExport export_bounded(const Function& f, const Leaves& args, const BoundedOptions& options,
                             Where where);
}

namespace detail {

struct BoundedPolicy {
  using State = BoundedOptions;
  template <class... A>
  static constexpr auto arguments = kTrees<A...>;
  template <class R>
  static constexpr auto result = result_verdict<R>();
  template <class R, class... A>
  using Output = BoundedExport;

  template <class R, class F, class... A>
  static BoundedExport run(F& f, State& options, Where where, const A&... args) {
    Callee<R, F, A...> callee(f, args...);
    return core::export_bounded(callee.function(), flatten_arguments(args...), options, where);
  }
};

}  // namespace detail

/// f, or any transform of one, as a bounded program: export_bounded(value_and_grad(f))(x…). Axes of
/// the type Bounded stay open within their bounds; all other sizes are those of the arguments,
/// whose elements serve to check that padding changes no result. What f captures becomes a part of
/// each body. Errors: as jit; TL-BOUNDED-001 (padding would change a result, there are no such
/// axes, or no result is left for a donated argument); TL-BACKEND-001 (what StableHLO can't say).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::BoundedPolicy, F>>
detail::Transform<detail::BoundedPolicy, F> export_bounded(F f, BoundedOptions options = {},
                                                           Where where = Where::current()) {
  return {std::move(f), where, std::move(options)};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::BoundedPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::BoundedPolicy, F> export_bounded(F, BoundedOptions = {},
                                                           Where = Where::current()) = delete;

}  // namespace tlaloc
