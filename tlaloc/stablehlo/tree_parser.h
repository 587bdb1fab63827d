// Operations, blocks and functions of MLIR text; internal to stablehlo.
#pragma once

#include "tlaloc/stablehlo/scanner.h"

namespace tlaloc::stablehlo {

class TreeParser {
 public:
  /// With `each`, what is wrong with one function doesn't stop the others.
  TreeParser(Tree& tree, bool each) : tree_(tree), s_(tree.source, tree.specs), each_(each) {}
  /// The whole text.
  void module();

 private:
  // ---- functions ----
  void declare(const MeshDeclaration& mesh);
  void read_module();
  void refused(Offset at, const UserError& e);
  /// A function or a mesh.
  void module_item();
  void read_item();
  void generic_module();
  void function();
  void generic_function(Offset at);
  void begin_function(Offset at);
  void end_function(Function f);
  void result_types(Function& f);
  /// What may stand behind a param's or result's type: the sharding that it says.
  Attribute value_dictionary();

  // ---- values ----
  struct Definition {
    ValueIndex first = 0, count = 0;
    bool live = false;
  };
  void define(std::string_view name, Offset at, ValueIndex first, ValueIndex count);
  ValueIndex operand();
  /// Behind a %: the name, and the number behind #.
  ValueIndex reference(std::string_view name, Offset at);
  ValueIndex new_value(SpecRef type);
  /// Forgets what was defined since.
  void leave_scope(std::size_t definitions);

  // ---- operations ----
  /// Behind its `{`, up to and with its `}`.
  void block(Block& b);
  /// Behind what may be its label.
  void operations(Block& b);
  /// One or more, up to the closing parenthesis.
  void named_params(Block& b);
  void block_params(Block& b);
  void operation(Block& b);
  struct Result {
    std::string_view name;
    Offset at;
    ValueIndex count;
  };
  /// `(types) -> types`, or the short ways to say it.
  struct Signature {
    std::vector<SpecRef> operands, results;
    bool arrow = false;
  };
  void signature(Signature& s);
  void generic(Operation& op, Signature& s);
  void pretty(Operation& op, Signature& s);
  void constant(Operation& op, Signature& s);
  void call(Operation& op, Signature& s);
  void composite(Operation& op, Signature& s);
  void convolution(Operation& op, Signature& s);
  void reduce(Operation& op, Signature& s);
  void while_loop(Operation& op, Signature& s);
  void branches(Operation& op, Signature& s);
  void slice(Operation& op);
  void manual_computation(Operation& op, Signature& s);
  /// `%a, %b, dims = [0], LT`: what most pretty forms are.
  void items(Operation& op);
  void attribute_dictionary(Operation& op);
  void add(Operation& op, std::string_view name, Attribute value) {
    op.attributes.push_back({name, std::move(value)});
  }
  void regions(Operation& op);
  /// Gives results their types, checks those of operands, and defines the results' names.
  void finish(Operation& op, Signature& s, const std::vector<Result>& results);

  Tree& tree_;
  Scanner s_;
  bool each_;
  std::string_view function_;  // that is read; empty before its name
  int depth_ = 0;
  // Of the function that is read.
  std::vector<SpecRef> types_;
  std::unordered_map<std::string_view, Definition> names_;
  std::vector<Definition*> scope_;  // live definitions, in order
};

}  // namespace tlaloc::stablehlo
