// StableHLO modules as graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::stablehlo {

/// What a module of the StableHLO project's test convention expects of two values: an operation or
/// custom call `check.expect_…`.
struct Check {
  enum class Kind : std::uint8_t {
    equal,   ///< expect_eq, expect_eq_const: bit for bit, but any NaN equals any NaN
    almost,  ///< expect_almost_eq(_const): |got - expected| <= tolerance
    close    ///< expect_close: min_ulp to max_ulp units in the last place apart
  } kind = Kind::equal;
  std::size_t got = 0, expected = 0;  ///< results of the graph
  double tolerance = 1e-4;
  std::int64_t min_ulp = 0, max_ulp = 3;
  Place place;
};

struct ImportedFunction {
  std::string name;    ///< without its @
  ir::GraphRef graph;  ///< params are labelled by their names, %x as "x"; `?` sizes are entry dims
  std::size_t result_count = 0;  ///< the function's results, in front of what checks compare
  std::vector<Check> checks;
  bool is_public = true;
  Place place;
  /// Why there is no graph: of import_each_function only.
  std::string refusal;
};

/// The function's graph without what only its checks compare.
ir::GraphRef computation(const ImportedFunction& f);

struct ImportedModule {
  std::string name;                         ///< without its @; may be empty
  std::vector<ImportedFunction> functions;  ///< in the text's order

  /// Null when there is none of that name.
  const ImportedFunction* find(std::string_view name) const;
  /// @main, or the only public function. UserError TL-HLO-003 where there is neither.
  const ImportedFunction& main() const;
};

/// Reads a module in StableHLO's pretty or MLIR's generic form. Calls become calls of graphs; what
/// regions read of their surroundings becomes operands. Errors, all at "name:line:column":
/// UserError TL-HLO-001 (no such text), TL-HLO-002 (what Tlaloc lacks: complex numbers, FFT,
/// tokens, quantized types …), and those of ops (TL-SHAPE-001 …). Safe on hostile text: depth and
/// memory are bounded by its length.
ImportedModule import_stablehlo(std::string_view text,
                                const std::string& name_for_errors = "<text>", int first_line = 1);

/// The same of a module that may hold anything: a function that is refused, or that calls one that
/// is, has no graph, and the others are there. What is wrong between functions is a function
/// without a name. Throws for what is no text: bytecode.
ImportedModule import_each_function(std::string_view text,
                                    const std::string& name_for_errors = "<text>",
                                    int first_line = 1);

/// One of several modules in a text.
struct ModuleText {
  std::string_view text;
  int first_line = 1;
};
/// Cuts a text at lines that start with "// -----". What is empty
/// or holds comments only is none.
std::vector<ModuleText> split_modules(std::string_view text);

}  // namespace tlaloc::stablehlo
