#include "tlaloc/stablehlo/tree_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "tlaloc/stablehlo/mesh_text.h"

namespace tlaloc::stablehlo {

Tree parse_tree(std::string_view text, const std::string& name_for_errors, int first_line,
                bool each) {
  Tree tree;
  if (text.size() >= std::numeric_limits<Offset>::max()) {
    Source({}, name_for_errors, first_line)
        .unsupported(0, "import", "texts of 4 GiB and more are not supported");
  }
  tree.source = Source(text, name_for_errors, first_line);
  if (text.starts_with("ML\xefR")) {
    tree.source.unsupported(0, "import", "this is MLIR bytecode, not text",
                            "make text of it with tools/stablehlo_text.py");
  }
  TreeParser(tree, each).module();
  return tree;
}

// ---- modules and functions ----

void TreeParser::module() {
  if (!each_) return read_module();
  try {
    read_module();
  } catch (const UserError& e) {
    function_ = {};
    refused(s_.at(), e);
  }
}

void TreeParser::refused(Offset at, const UserError& e) {
  Function f;
  f.at = at;
  f.name = function_;
  f.refusal = e.what();
  if (!f.name.empty()) tree_.function_index.emplace(f.name, tree_.functions.size());
  tree_.functions.push_back(std::move(f));
}

void TreeParser::read_module() {
  while (s_.peek() == '#' || s_.peek() == '!') s_.alias();
  if (s_.peek() == '"') {
    generic_module();
  } else if (s_.accept_word("module") || s_.accept_word("builtin.module")) {
    if (s_.peek() == '@') tree_.name = s_.symbol();
    std::vector<NamedAttribute> ignored;
    if (s_.accept_word("attributes")) {
      s_.expect("{");
      s_.fields(ignored, '}');
    }
    s_.expect("{");
    while (!s_.accept('}')) module_item();
    s_.skip_location();
  } else {
    do {
      module_item();
    } while (!s_.at_end() && s_.peek() != '#');
  }
  while (s_.peek() == '#' || s_.peek() == '!') s_.alias();
  if (!s_.at_end()) s_.fail_expected("the end of the module");
}

void TreeParser::generic_module() {
  const Offset at = s_.at();
  if (s_.quoted() != "builtin.module") tree_.source.fail(at, "expected a module");
  s_.expect("(");
  s_.expect(")");
  std::vector<NamedAttribute> properties;
  if (s_.accept("<{")) {
    s_.fields(properties, '}');
    s_.expect(">");
  }
  for (const NamedAttribute& p : properties) {
    if (p.name == "sym_name") tree_.name = p.value.text;
  }
  s_.expect("(");
  s_.expect("{");
  if (s_.accept('^')) {
    s_.suffix_id();
    s_.expect(":");
  }
  while (!s_.accept('}')) module_item();
  s_.expect(")");
  std::vector<NamedAttribute> ignored;
  if (s_.accept('{')) s_.fields(ignored, '}');
  s_.expect(":");
  s_.expect("(");
  s_.expect(")");
  s_.expect("->");
  s_.expect("(");
  s_.expect(")");
  s_.skip_location();
}

void TreeParser::declare(const MeshDeclaration& mesh) {
  if (!tree_.meshes.emplace(mesh.name, mesh).second) {
    tree_.source.fail(mesh.at, "there are two meshes @" + std::string(mesh.name));
  }
}

void TreeParser::module_item() {
  const Offset at = s_.at();
  if (!each_ || s_.at_end()) return read_item();
  try {
    function_ = {};
    read_item();
  } catch (const UserError& e) {
    refused(at, e);
    s_.skip_item(at);
  }
}

void TreeParser::read_item() {
  const Offset at = s_.at();
  if (s_.accept_word("func.func")) {
    function();
  } else if (s_.accept_word("sdy.mesh")) {
    MeshDeclaration mesh;
    mesh.at = at;
    mesh.name = s_.symbol();
    s_.expect("=");
    mesh.text = s_.balanced();
    declare(mesh);
    std::vector<NamedAttribute> ignored;
    if (s_.accept('{')) s_.fields(ignored, '}');
    s_.skip_location();
  } else if (s_.peek() == '"') {
    const std::string_view name = s_.quoted();
    if (name == "func.func") return generic_function(at);
    if (name != "sdy.mesh") {
      tree_.source.unsupported(at, std::string(name), "a module holds functions only");
    }
    for (const char* part : {"(", ")"}) s_.expect(part);
    std::vector<NamedAttribute> fields;
    if (s_.accept("<{")) {
      s_.fields(fields, '}');
      s_.expect(">");
    }
    if (s_.accept('{')) s_.fields(fields, '}');
    MeshDeclaration mesh;
    mesh.at = at;
    for (const NamedAttribute& f : fields) {
      if (f.name == "sym_name") mesh.name = f.value.text;
      if (f.name == "mesh") mesh.text = in_brackets(tree_.source, f.value);
    }
    if (mesh.name.empty() || mesh.text.empty()) {
      tree_.source.fail(at, "a mesh lacks sym_name or mesh");
    }
    declare(mesh);
    for (const char* part : {":", "(", ")", "->", "(", ")"}) s_.expect(part);
    s_.skip_location();
  } else {
    const std::string_view name = s_.word();
    if (name.find('.') == std::string_view::npos) {
      tree_.source.fail(at, "expected a function");
    }
    tree_.source.unsupported(at, std::string(name), "a module holds functions only");
  }
}

void TreeParser::begin_function(Offset) {
  types_.clear();
  names_.clear();
  scope_.clear();
  depth_ = 0;
  s_.unknown_sizes = 0;
}

namespace {

/// How a param or result lies on a mesh, of its dictionary.
Attribute sharding_of(const std::vector<NamedAttribute>& fields) {
  for (const NamedAttribute& f : fields) {
    if (f.name == "sdy.sharding") return f.value;
  }
  return {};
}
/// Of `arg_attrs` or `res_attrs`: one dictionary each.
std::vector<Attribute> shardings_of(const Source& source, const Attribute& list,
                                    std::size_t count) {
  const std::size_t given = list.items.size();
  if (given != count) source.fail(list.at, "attributes of another number of params or results");
  std::vector<Attribute> r;
  for (const Attribute& item : list.items) r.push_back(sharding_of(item.fields));
  return r;
}

}  // namespace

Attribute TreeParser::value_dictionary() {
  std::vector<NamedAttribute> fields;
  if (s_.accept('{')) s_.fields(fields, '}');
  return sharding_of(fields);
}

void TreeParser::result_types(Function& f) {
  if (!s_.accept('(')) {
    f.results.push_back(s_.type());
    f.result_shardings.emplace_back();
    return;
  }
  if (s_.accept(')')) return;
  do {
    f.results.push_back(s_.type());
    f.result_shardings.push_back(value_dictionary());
  } while (s_.accept(','));
  s_.expect(")");
}

void TreeParser::function() {
  Function f;
  f.at = s_.at();
  begin_function(f.at);
  if (s_.accept_word("private") || s_.accept_word("nested")) {
    f.is_public = false;
  } else {
    s_.accept_word("public");
  }
  function_ = f.name = s_.symbol();
  s_.expect("(");
  if (!s_.accept(')')) {
    do {
      const Offset at = s_.at();
      if (!s_.accept('%')) {
        tree_.source.unsupported(at, "@" + std::string(f.name),
                                 "functions without a body are not supported");
      }
      const std::string_view name = s_.suffix_id();
      s_.expect(":");
      const ValueIndex v = new_value(s_.type());
      define(name, at, v, 1);
      f.param_names.push_back(name);
      f.param_shardings.push_back(value_dictionary());
      s_.skip_location();
    } while (s_.accept(','));
    s_.expect(")");
  }
  f.body.param_count = static_cast<ValueIndex>(types_.size());
  if (s_.accept("->")) result_types(f);
  std::vector<NamedAttribute> ignored;
  if (s_.accept_word("attributes")) {
    s_.expect("{");
    s_.fields(ignored, '}');
  }
  if (!s_.accept('{')) {
    tree_.source.unsupported(f.at, "@" + std::string(f.name),
                             "functions without a body are not supported");
  }
  operations(f.body);
  s_.skip_location();
  end_function(std::move(f));
}

void TreeParser::generic_function(Offset at) {
  Function f;
  f.at = at;
  begin_function(at);
  s_.expect("(");
  s_.expect(")");
  std::vector<NamedAttribute> properties;
  if (s_.accept("<{")) {
    s_.fields(properties, '}');
    s_.expect(">");
  }
  for (const NamedAttribute& p : properties) {
    if (p.name == "sym_name") function_ = p.value.text;
  }
  s_.expect("(");
  s_.expect("{");
  block(f.body);
  s_.expect(")");
  if (s_.accept('{')) s_.fields(properties, '}');
  for (const char* part : {":", "(", ")", "->", "(", ")"}) s_.expect(part);
  s_.skip_location();
  const Attribute *type = nullptr, *params_say = nullptr, *results_say = nullptr;
  for (const NamedAttribute& p : properties) {
    if (p.name == "arg_attrs") params_say = &p.value;
    if (p.name == "res_attrs") results_say = &p.value;
    if (p.name == "sym_name") f.name = p.value.text;
    if (p.name == "sym_visibility") f.is_public = p.value.text != "private";
    if (p.name == "function_type") type = &p.value;
  }
  if (f.name.empty() || !type || type->kind != Attribute::Kind::function) {
    tree_.source.fail(at, "a function lacks sym_name or function_type");
  }
  const auto params = static_cast<std::ptrdiff_t>(type->integer);
  f.results.assign(type->types.begin() + params, type->types.end());
  if (!std::equal(types_.begin(), types_.begin() + f.body.param_count, type->types.begin(),
                  type->types.begin() + params)) {
    tree_.source.fail(at, "the function's type is not that of its params");
  }
  for (ValueIndex i = 0; i < f.body.param_count; ++i) f.param_names.emplace_back();
  f.param_shardings.resize(f.body.param_count);
  f.result_shardings.resize(f.results.size());
  if (params_say) {
    f.param_shardings = shardings_of(tree_.source, *params_say, f.body.param_count);
  }
  if (results_say) {
    f.result_shardings = shardings_of(tree_.source, *results_say, f.results.size());
  }
  end_function(std::move(f));
}

namespace {

void collect_definitions(const Block& b, std::vector<const Operation*>& out) {
  for (const Operation& op : b.operations) {
    for (ValueIndex k = 0; k < op.result_count; ++k) out[op.first_result + k] = &op;
    for (const Block& r : op.regions) collect_definitions(r, out);
  }
}

}  // namespace

void TreeParser::end_function(Function f) {
  f.types = std::move(types_);
  f.is_symbolic = s_.unknown_sizes > 0;
  f.text_length = s_.at() - f.at;
  f.definitions.resize(f.types.size());
  collect_definitions(f.body, f.definitions);
  const Operation& last = f.body.operations.back();
  bool same = last.operands.size() == f.results.size();
  for (std::size_t k = 0; same && k < f.results.size(); ++k) {
    same = f.types[last.operands[k]] == f.results[k];
  }
  if (!same) tree_.source.fail(last.at, "the function declares results of other types");
  if (!tree_.function_index.emplace(f.name, tree_.functions.size()).second) {
    tree_.source.fail(f.at, "@" + std::string(f.name) + " is defined twice");
  }
  tree_.functions.push_back(std::move(f));
}

// ---- values ----

ValueIndex TreeParser::new_value(SpecRef type) {
  types_.push_back(type);
  return static_cast<ValueIndex>(types_.size() - 1);
}
void TreeParser::define(std::string_view name, Offset at, ValueIndex first, ValueIndex count) {
  Definition& d = names_[name];
  if (d.live) tree_.source.fail(at, "%" + std::string(name) + " is defined twice");
  d = {first, count, true};
  scope_.push_back(&d);
}
void TreeParser::leave_scope(std::size_t definitions) {
  for (; scope_.size() > definitions; scope_.pop_back()) scope_.back()->live = false;
}
ValueIndex TreeParser::operand() {
  const Offset at = s_.at();
  s_.expect("%");
  return reference(s_.suffix_id(), at);
}
ValueIndex TreeParser::reference(std::string_view name, Offset at) {
  const auto known = names_.find(name);
  if (known == names_.end() || !known->second.live) {
    tree_.source.fail(at, "there is no value %" + std::string(name) + " here");
  }
  const Definition& d = known->second;
  std::int64_t part = 0;
  if (s_.peek() == '#') {
    s_.expect("#");
    part = s_.integer();
  } else if (d.count > 1) {
    tree_.source.fail(at, "%" + std::string(name) + " stands for several results",
                      "say which: %" + std::string(name) + "#0");
  }
  if (part < 0 || part >= d.count) {
    tree_.source.fail(at, "%" + std::string(name) + " has no result " + std::to_string(part));
  }
  return d.first + static_cast<ValueIndex>(part);
}

// ---- blocks ----

void TreeParser::named_params(Block& b) {
  do {
    const Offset at = s_.at();
    s_.expect("%");
    const std::string_view name = s_.suffix_id();
    s_.expect(":");
    define(name, at, new_value(s_.type()), 1);
    s_.skip_location();
    ++b.param_count;
  } while (s_.accept(','));
  s_.expect(")");
}

void TreeParser::block_params(Block& b) {
  b.first_param = static_cast<ValueIndex>(types_.size());
  if (!s_.accept('^')) return;
  s_.suffix_id();
  if (s_.accept('(')) named_params(b);
  s_.expect(":");
}
namespace {

/// Whether it ends a region.
bool is_return(std::string_view operation) {
  return operation == "func.return" || operation == "stablehlo.return" || operation == "sdy.return";
}

}  // namespace

void TreeParser::block(Block& b) {
  const std::size_t scope = scope_.size();
  block_params(b);
  operations(b);
  leave_scope(scope);
}
void TreeParser::operations(Block& b) {
  if (++depth_ > kMaxDepth) s_.fail("regions nest deeper than 64");
  while (!s_.accept('}')) {
    if (!b.operations.empty() && is_return(b.operations.back().name)) {
      if (s_.peek() == '^') {
        tree_.source.unsupported(s_.at(), "region", "regions of several blocks are not supported");
      }
      s_.fail("nothing may follow what the region returns");
    }
    operation(b);
  }
  if (b.operations.empty() || !is_return(b.operations.back().name)) {
    s_.fail("the region returns nothing");
  }
  --depth_;
}
void TreeParser::regions(Operation& op) {
  if (!s_.accept("({")) {
    s_.expect("(");
    s_.expect("{");
  }
  block(op.regions.emplace_back());
  while (s_.accept(',')) {
    s_.expect("{");
    block(op.regions.emplace_back());
  }
  s_.expect(")");
}

// ---- operations ----

void TreeParser::operation(Block& b) {
  std::vector<Result> results;
  if (s_.peek() == '%') {
    do {
      Result r{{}, s_.at(), 1};
      s_.expect("%");
      r.name = s_.suffix_id();
      if (s_.accept(':')) {
        const std::int64_t n = s_.integer();
        if (n < 1 || n > 1'000'000) tree_.source.fail(r.at, "no operation has so many results");
        r.count = static_cast<ValueIndex>(n);
      }
      results.push_back(r);
    } while (s_.accept(','));
    s_.expect("=");
  }
  Operation op;
  op.at = s_.at();
  Signature sig;
  if (s_.peek() == '"') {
    op.name = s_.quoted();
    generic(op, sig);
  } else {
    op.name = s_.word();
    if (op.name.empty()) s_.fail_expected("an operation");
    pretty(op, sig);
  }
  s_.skip_location();
  finish(op, sig, results);
  b.operations.push_back(std::move(op));
}

void TreeParser::generic(Operation& op, Signature& sig) {
  s_.expect("(");
  if (!s_.accept(')')) {
    do {
      op.operands.push_back(operand());
    } while (s_.accept(','));
    s_.expect(")");
  }
  if (s_.accept("<{")) {
    s_.fields(op.attributes, '}');
    s_.expect(">");
  }
  if (s_.peek() == '(') regions(op);
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
  if (!sig.arrow) s_.fail_expected("'->'");
}

void TreeParser::attribute_dictionary(Operation& op) {
  if (s_.accept('{')) s_.fields(op.attributes, '}');
}

void TreeParser::signature(Signature& sig) {
  if (s_.peek() == '(') {
    s_.parenthesized_types(sig.operands);
  } else {
    do {
      sig.operands.push_back(s_.type());
    } while (s_.accept(','));
  }
  if (!s_.accept("->")) return;
  sig.arrow = true;
  s_.types(sig.results);
}

void TreeParser::finish(Operation& op, Signature& sig, const std::vector<Result>& names) {
  refuse_repeated(tree_.source, op.attributes, op.at);
  std::size_t wanted = 0;
  for (const Result& r : names) wanted += r.count;
  if (!sig.arrow) {
    // One type for all, or one per operand; where there are results they are of the same types.
    const bool returns = is_return(op.name);
    if (op.name == "stablehlo.select" && sig.operands.size() == 2) {
      sig.operands.push_back(sig.operands[1]);
      sig.results.push_back(sig.operands[1]);
    } else {
      if (sig.operands.size() == 1 && !returns) {
        sig.results = sig.operands;
        sig.operands.assign(op.operands.size(), sig.operands[0]);
      } else if (!returns) {
        sig.results = sig.operands;
      }
      if (wanted == 0) sig.results.clear();
    }
  }
  if (sig.operands.size() != op.operands.size()) {
    tree_.source.fail(op.at, std::string(op.name) + " has " + std::to_string(op.operands.size()) +
                                 " operands, and types for " + std::to_string(sig.operands.size()));
  }
  for (std::size_t k = 0; k < op.operands.size(); ++k) {
    if (types_[op.operands[k]] != sig.operands[k]) {
      tree_.source.fail(op.at, "operand " + std::to_string(k) + " of " + std::string(op.name) +
                                   " was defined with another type");
    }
  }
  // An operation without a name for its results may have some.
  if (wanted != sig.results.size() && !names.empty()) {
    tree_.source.fail(op.at, std::string(op.name) + " has " + std::to_string(sig.results.size()) +
                                 " results, and names for " + std::to_string(wanted));
  }
  op.first_result = static_cast<ValueIndex>(types_.size());
  op.result_count = static_cast<ValueIndex>(sig.results.size());
  for (SpecRef t : sig.results) new_value(t);
  ValueIndex first = op.first_result;
  for (const Result& r : names) {
    define(r.name, r.at, first, r.count);
    first += r.count;
  }
}

}  // namespace tlaloc::stablehlo
