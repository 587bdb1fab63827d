// The pretty forms of operations.
#include "tlaloc/stablehlo/tree_parser.h"

namespace tlaloc::stablehlo {

void TreeParser::items(Operation& op) {
  // `compare LT, %a, %b, FLOAT` has words whose names are left out.
  static constexpr std::string_view kLeftOut[] = {"comparison_direction", "compare_type"};
  std::size_t words = 0;
  do {
    const char c = s_.peek();
    if (c == '%') {
      op.operands.push_back(operand());
      continue;
    }
    const Offset at = s_.at();
    const bool dense = s_.peek("dense<");
    const std::string_view name = dense ? std::string_view() : s_.word();
    if (dense) {
      add(op, "value", s_.attribute());
    } else if (name.empty()) {
      s_.fail_expected("an operand or an attribute");
    } else if (s_.accept('=')) {
      add(op, name, s_.named_value());
    } else {
      Attribute word;
      word.kind = Attribute::Kind::word;
      word.at = at;
      word.text = name;
      if (words == std::size(kLeftOut))
        tree_.source.fail(at, "expected an operand or an attribute");
      add(op, kLeftOut[words++], std::move(word));
    }
  } while (s_.accept(','));
}

void TreeParser::pretty(Operation& op, Signature& sig) {
  const std::string_view name = op.name;
  if (name == "return" || name == "call") {
    // Their dialect is left out within functions.
    op.name = name == "call" ? "func.call" : "func.return";
  }
  if (op.name == "func.call") return call(op, sig);
  if (name == "stablehlo.constant" || name == "chlo.constant") return constant(op, sig);
  if (name == "stablehlo.custom_call") return call(op, sig);
  if (name == "stablehlo.composite") return composite(op, sig);
  if (name == "stablehlo.convolution" || name == "stablehlo.dynamic_conv") {
    return convolution(op, sig);
  }
  if (name == "stablehlo.reduce") return reduce(op, sig);
  if (name == "stablehlo.while") return while_loop(op, sig);
  if (name == "sdy.manual_computation") return manual_computation(op, sig);
  if (name.find('.') == std::string_view::npos && op.name == name) {
    tree_.source.fail(op.at, "'" + std::string(name) + "' is no operation");
  }

  if (s_.accept('(')) {  // chlo.top_k(%x, k = 2)
    if (!s_.accept(')')) {
      items(op);
      s_.expect(")");
    }
  } else if (s_.peek() != ':' && s_.peek() != '{' && s_.peek() != '}') {
    items(op);
  }
  if (s_.peek() == '[') slice(op);
  if (s_.peek() == '<') add(op, "sharding", s_.opaque());
  attribute_dictionary(op);
  if (s_.accept(':')) {
    signature(sig);
  } else if (const Attribute* value = op.find("value"); value && value->type) {
    sig.operands.push_back(value->type);  // check.expect_eq_const %x, dense<0> : tensor<i32>
  }
}

void TreeParser::constant(Operation& op, Signature& sig) {
  attribute_dictionary(op);
  Attribute value = s_.attribute();
  if (value.kind != Attribute::Kind::dense || !value.type) {
    tree_.source.fail(value.at, "expected dense<…> : tensor<…>");
  }
  sig.arrow = true;
  sig.results.push_back(value.type);
  add(op, "value", std::move(value));
}

void TreeParser::call(Operation& op, Signature& sig) {
  Attribute callee;
  callee.kind = Attribute::Kind::symbol;
  callee.at = s_.at();
  callee.text = s_.symbol();
  add(op, op.name == "func.call" ? "callee" : "call_target_name", std::move(callee));
  s_.expect("(");
  if (!s_.accept(')')) {
    do {
      op.operands.push_back(operand());
    } while (s_.accept(','));
    s_.expect(")");
  }
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
  if (!sig.arrow) s_.fail_expected("'->'");
}

void TreeParser::composite(Operation& op, Signature& sig) {
  Attribute name;
  name.kind = Attribute::Kind::string;
  name.at = s_.at();
  name.text = s_.quoted();
  add(op, "name", std::move(name));
  if (s_.peek() == '%') items(op);
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
}

void TreeParser::convolution(Operation& op, Signature& sig) {
  s_.expect("(");
  items(op);
  s_.expect(")");
  s_.expect_word("dim_numbers");
  s_.expect("=");
  Attribute dims;
  dims.kind = Attribute::Kind::word;
  dims.at = s_.at();
  const char* start = tree_.source.text.data() + dims.at;
  s_.balanced();
  s_.expect("x");
  s_.balanced();
  s_.expect("->");
  s_.balanced();
  dims.text = {start, tree_.source.text.data() + s_.at()};
  add(op, "dimension_numbers", std::move(dims));
  while (s_.accept(',')) {
    const std::string_view name = s_.expect_word_of("an attribute's name");
    s_.expect("=");
    add(op, name, s_.named_value());
  }
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
}

void TreeParser::reduce(Operation& op, Signature& sig) {
  // Operands stand in pairs with what they start from.
  std::vector<ValueIndex> starts;
  do {
    s_.expect("(");
    op.operands.push_back(operand());
    s_.expect_word("init");
    s_.expect(":");
    starts.push_back(operand());
    s_.expect(")");
  } while (s_.accept(','));
  const std::size_t count = starts.size();
  op.operands.insert(op.operands.end(), starts.begin(), starts.end());
  std::string_view applied;
  if (s_.accept_word("applies")) applied = s_.expect_word_of("an operation");
  s_.expect_word("across");
  s_.expect_word("dimensions");
  s_.expect("=");
  add(op, "dimensions", s_.attribute());
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
  s_.skip_location();
  const std::size_t scope = scope_.size();
  Block& b = op.regions.emplace_back();
  b.first_param = static_cast<ValueIndex>(types_.size());
  b.param_count = static_cast<ValueIndex>(2 * count);
  auto scalar = [&](std::size_t k) { return types_[op.operands[count + k]]; };
  for (std::size_t k = 0; k < 2 * count; ++k) new_value(scalar(k % count));
  if (!applied.empty()) {
    Operation body;
    body.name = applied;
    body.at = op.at;
    body.operands = {b.first_param, b.first_param + 1};
    body.first_result = new_value(scalar(0));
    body.result_count = 1;
    Operation returned;
    returned.name = "stablehlo.return";
    returned.at = op.at;
    returned.operands = {body.first_result};
    returned.first_result = static_cast<ValueIndex>(types_.size());
    b.operations.push_back(std::move(body));
    b.operations.push_back(std::move(returned));
    if (count != 1) tree_.source.fail(op.at, "one operation can't reduce several operands");
    return;
  }
  // `reducer(%a: T, %b: T) (%c: U, %d: U) { … }`: each operand's two params stand together.
  s_.expect_word("reducer");
  for (std::size_t k = 0; k < count; ++k) {
    s_.expect("(");
    for (std::size_t side = 0; side < 2; ++side) {
      if (side) s_.expect(",");
      const Offset at = s_.at();
      s_.expect("%");
      const std::string_view name = s_.suffix_id();
      s_.expect(":");
      if (s_.type() != scalar(k)) tree_.source.fail(at, "the param is of another type");
      s_.skip_location();
      define(name, at, b.first_param + static_cast<ValueIndex>(side * count + k), 1);
    }
    s_.expect(")");
  }
  s_.expect("{");
  operations(b);
  leave_scope(scope);
}

void TreeParser::while_loop(Operation& op, Signature& sig) {
  struct Carry {
    std::string_view name;
    Offset at;
  };
  std::vector<Carry> carries;
  s_.expect("(");
  if (!s_.accept(')')) {
    do {
      const Offset at = s_.at();
      s_.expect("%");
      carries.push_back({s_.suffix_id(), at});
      s_.expect("=");
      op.operands.push_back(operand());
    } while (s_.accept(','));
    s_.expect(")");
  }
  if (s_.accept(':')) signature(sig);
  sig.arrow = true;
  sig.results = sig.operands;
  if (sig.operands.size() != op.operands.size()) {
    tree_.source.fail(op.at, "the loop's carries and their types differ in number");
  }
  if (s_.accept_word("attributes")) {
    s_.expect("{");
    s_.fields(op.attributes, '}');
  }
  for (const char* part : {"cond", "do"}) {
    s_.expect_word(part);
    s_.expect("{");
    const std::size_t scope = scope_.size();
    Block& b = op.regions.emplace_back();
    b.first_param = static_cast<ValueIndex>(types_.size());
    b.param_count = static_cast<ValueIndex>(carries.size());
    for (std::size_t k = 0; k < carries.size(); ++k) {
      define(carries[k].name, carries[k].at, new_value(sig.operands[k]), 1);
    }
    operations(b);
    leave_scope(scope);
  }
}

void TreeParser::slice(Operation& op) {
  // [start:limit:stride, …]
  Attribute start, limit, stride;
  for (Attribute* a : {&start, &limit, &stride}) {
    a->kind = Attribute::Kind::integers;
    a->at = s_.at();
  }
  s_.expect("[");
  if (!s_.accept(']')) {
    do {
      start.integers.push_back(s_.integer());
      s_.expect(":");
      limit.integers.push_back(s_.integer());
      stride.integers.push_back(s_.accept(':') ? s_.integer() : 1);
    } while (s_.accept(','));
    s_.expect("]");
  }
  add(op, "start_indices", std::move(start));
  add(op, "limit_indices", std::move(limit));
  add(op, "strides", std::move(stride));
}

void TreeParser::manual_computation(Operation& op, Signature& sig) {
  s_.expect("(");
  if (!s_.accept(')')) {
    do {
      op.operands.push_back(operand());
    } while (s_.accept(','));
    s_.expect(")");
  }
  for (const char* name : {"in_shardings", "out_shardings", "manual_axes"}) {
    s_.expect_word(name);
    s_.expect("=");
    Attribute a;
    a.kind = Attribute::Kind::word;
    a.at = s_.at();
    const char* start = tree_.source.text.data() + a.at;
    s_.balanced();
    a.text = {start, tree_.source.text.data() + s_.at()};
    add(op, name, std::move(a));
  }
  const std::size_t scope = scope_.size();
  Block& b = op.regions.emplace_back();
  b.first_param = static_cast<ValueIndex>(types_.size());
  s_.expect("(");
  if (!s_.accept(')')) named_params(b);
  s_.expect("{");
  operations(b);
  leave_scope(scope);
  attribute_dictionary(op);
  s_.expect(":");
  signature(sig);
  if (!sig.arrow) s_.fail_expected("'->'");
}

}  // namespace tlaloc::stablehlo
