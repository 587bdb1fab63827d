// What operations of a module's text become; internal to stablehlo.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/axes.h"
#include "tlaloc/stablehlo/import.h"
#include "tlaloc/stablehlo/tree.h"

namespace tlaloc::stablehlo {

/// The numbers that a small array of integers holds, as sizes.
using Sizes = std::optional<std::vector<ir::Dim>>;

/// One function, or one call that is imported in its caller's place.
struct Scope {
  const Function& function;
  ir::Vals values{};                              ///< by ValueIndex; absent before its definition
  std::unordered_map<ValueIndex, Sizes> sizes{};  ///< those that were asked for, and arguments'
  std::vector<ValueIndex> asked_early{};          ///< sizes that wait for an operation's import
  std::vector<Check>* checks = nullptr;           ///< null where checks can't be kept
  ir::Vals compared{};                            ///< by checks
  const ir::ManualAttrs* manual = nullptr;  ///< the computation that devices of a mesh run here
  ir::Val device{};                         ///< which of them it is, from 0; absent unless asked
  bool closed = false;      ///< in a region that may read constants only of what surrounds it
  std::uint32_t trace = 0;  ///< of that region
};

class Importer;

/// One operation while it is imported.
class Site {
 public:
  Site(Importer& importer, Scope& scope, const Operation& op);
  const Operation& op() const { return op_; }
  Scope& scope() const { return scope_; }
  Importer& importer() const { return importer_; }

  // ---- operands and results ----
  std::size_t count() const { return op_.operands.size(); }
  std::span<const ir::Val> in() const { return in_; }
  ir::Val in(std::size_t k) const { return in_[k]; }
  /// Refuses another number of operands.
  void expect_operands(std::size_t n) const;
  void expect_regions(std::size_t n) const;
  SpecRef operand_type(std::size_t k) const { return scope_.function.type(op_.operands[k]); }
  SpecRef result_type(std::size_t k = 0) const;
  DType result_dtype() const { return result_type()->dtype; }
  /// The result's sizes, which the text must state.
  std::vector<ir::Dim> result_shape() const;

  // ---- attributes ----
  using Names = std::initializer_list<std::string_view>;
  const Attribute& attribute(Names names) const;  ///< refused where there is none
  /// Refuses other fields of a dictionary than these.
  void expect_fields(const Attribute& a, Names known) const;
  std::int64_t integer(Names names) const;
  std::int64_t integer_or(Names names, std::int64_t otherwise) const;
  /// One of an array's axes; others are refused.
  int axis(Names names, std::size_t rank) const;
  bool flag_or(Names names, bool otherwise) const;
  /// Integers of a list or of a dense attribute.
  ops::AxisList integers(Names names) const;
  ops::AxisList integers_or(Names names, ops::AxisList otherwise) const;
  /// Numbers of an attribute.
  ops::AxisList integers(const Attribute& a) const;
  /// The last word of an attribute: LT of #stablehlo<comparison_direction LT>, "DEFAULT".
  std::string_view word(Names names, std::string_view otherwise) const;
  static std::string_view word_of(const Attribute* a);  ///< empty where it is none
  /// A name: string, symbol.
  std::string_view text(Names names) const;

  // ---- values that must be known ----
  /// The numbers of operand k. TL-HLO-002 where only a run knows them.
  std::vector<ir::Dim> sizes(std::size_t k) const;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;
  [[noreturn]] void unsupported(const std::string& message, const std::string& hint = "") const;

 private:
  Importer& importer_;
  Scope& scope_;
  const Operation& op_;
  ir::Vals in_;
};

using RaiseFn = ir::Vals (*)(const Site&);
/// Null for operations that nobody knows.
RaiseFn find_raise(std::string_view operation);

class Importer {
 public:
  /// With `each`, functions that are refused have no graph, and the others come in.
  Importer(const Tree& tree, bool each) : tree_(tree), each_(each) {}
  ImportedModule run();
  const Source& source() const { return tree_.source; }

  /// The operations of a block with these params; what its last one returns.
  ir::Vals block(Scope& scope, const Block& b, std::span<const ir::Val> params);
  /// The region as a graph on scalars of these types: a reducer, a comparator. It may read
  /// constants of its surroundings.
  ir::GraphRef scalar_graph(const Site& site, const Block& b, const std::vector<DType>& params);
  /// The only function that a custom call names for its own use.
  ir::GraphRef called_computation(const Site& site);
  ir::Vals call(const Site& site, std::string_view callee, std::string_view name,
                std::vector<ir::CallParam> params, std::int64_t version);
  /// The mesh that the text declares under that name.
  const ir::Mesh& mesh(std::string_view name, Offset at);
  /// Whether operations of the block, or of what it calls, ask which device it is.
  bool asks_for_device(const Block& b) const;
  /// x as `#sdy.sharding<…>` says.
  ir::Val laid_out(ir::Val x, const Attribute& sharding);
  /// What an array of integers holds, where the text tells.
  Sizes sizes(Scope& scope, ValueIndex v);

 private:
  /// Operations that are imported, where calls are imported in their caller's place, and those
  /// that are followed for sizes: so many, and so many for each byte of text.
  static constexpr std::size_t kFreeOperations = std::size_t{1} << 16, kOperationsPerByte = 1;
  struct Built {
    ir::GraphRef graph;
    int depth = 0;           ///< of graphs in graphs
    std::size_t weight = 0;  ///< nodes, were all calls written out
  };
  Sizes sizes(Scope& scope, ValueIndex v, int depth);
  Sizes size_of_axis(Scope& scope, const Operation& op);
  Sizes sizes_of_call(Scope& scope, const Operation& op, std::size_t result, int depth);
  void build(std::size_t function, ImportedFunction* out);
  /// A function's operations, with what it says of its params and results on meshes.
  ir::Vals body(Scope& scope, std::span<const ir::Val> params);
  void order_functions();
  /// What `body` throws is what refuses that function.
  template <class Body>
  void of_function(std::size_t function, const Body& body);
  void check_callee(const Site& site, std::size_t function) const;
  /// Whether calls of it are imported in their caller's place: sizes depend on arguments, or
  /// devices meet in it.
  bool is_inlined(std::size_t function) const { return inlined_[function]; }
  ir::Val value(Scope& scope, ValueIndex v);
  void operation(Scope& scope, const Operation& op);
  void check_results(const Operation& op, Scope& scope, ir::Vals& results);
  void lay_out_results(const Operation& op, Scope& scope, ir::Vals& results);
  friend class Site;

  const Tree& tree_;
  bool each_;
  std::vector<std::string> refused_;  ///< by function: why; empty where it isn't
  std::vector<std::size_t> order_;    ///< functions, callees first
  std::vector<bool> inlined_;
  std::vector<bool> asks_;                                 ///< by function: see asks_for_device
  std::vector<Built> built_;                               ///< by function
  std::unordered_map<std::string_view, ir::Mesh> meshes_;  ///< those that were asked for
  int depth_ = 0, deepest_ = 0;  ///< of regions and calls in the function being built
  std::size_t weight_ = 0, operations_ = 0, followed_ = 0;
  bool asked_early_ = false;  ///< some size asked for now is one of a value that isn't there yet
};

/// The array of a dense attribute. A splat stays one element.
struct DenseValue {
  HostArray value;
  bool splat = false;
};
DenseValue dense_value(const Source& source, const Attribute& a);
/// Numbers of a dense attribute of integers.
std::vector<std::int64_t> dense_integers(const Source& source, const Attribute& a);

}  // namespace tlaloc::stablehlo
