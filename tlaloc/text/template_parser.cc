#include "tlaloc/text/template_parser.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <set>

#include "tlaloc/text/template_lexer.h"

namespace tlaloc::text {
namespace {

using Expr = TemplateExpr;
using Token = TemplateToken;

// Deeper trees than people write; what walks them recurses.
constexpr int kMostDepth = 150;

class Parser {
 public:
  Parser(std::string_view source, const std::string& name)
      : name_(name), tokens_(tokenize_template(source, name)) {}

  Nodes run() {
    Nodes nodes = body({});
    if (current().kind != Token::kEnd) fail("an unexpected tag");
    return nodes;
  }

 private:
  class Deeper {
   public:
    explicit Deeper(Parser& p) : p_(p) {
      if (++p_.depth_ > kMostDepth) p_.fail("something nested too deep");
    }
    ~Deeper() { --p_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser& p_;
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  void next() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  [[noreturn]] void fail(const std::string& message) const { fail(current(), message); }
  [[noreturn]] void fail(const Token& t, const std::string& message) const {
    throw_template_syntax(name_, t.line, t.column, message);
  }
  bool at_name(std::string_view s) const { return current().is(Token::kName, s); }
  bool at_operator(std::string_view s) const { return current().is(Token::kOperator, s); }
  bool skip_name(std::string_view s) { return at_name(s) ? (next(), true) : false; }
  bool skip_operator(std::string_view s) { return at_operator(s) ? (next(), true) : false; }
  void expect_operator(std::string_view s) {
    if (!skip_operator(s)) fail(fmt::format("'{}' is missing", s));
  }
  std::string expect_name() {
    if (current().kind != Token::kName) fail("a name is missing");
    std::string s = current().text;
    next();
    return s;
  }
  void expect_block_end() {
    if (current().kind != Token::kBlockEnd) fail("the end of the tag is missing");
    next();
  }

  std::unique_ptr<Expr> make(Expr::Kind kind, const Token& t) const {
    auto e = std::make_unique<Expr>();
    e->kind = kind;
    e->line = t.line;
    e->column = t.column;
    return e;
  }
  ExprPtr unary(Expr::Kind kind, const Token& t, ExprPtr operand) const {
    auto e = make(kind, t);
    e->items.push_back(std::move(operand));
    return e;
  }
  ExprPtr binary(Expr::Kind kind, const Token& t, ExprPtr left, ExprPtr right) const {
    auto e = make(kind, t);
    e->text = t.text;
    e->items.push_back(std::move(left));
    e->items.push_back(std::move(right));
    return e;
  }

  // Statements.

  /// What stands up to one of the tags `ends`, whose name is then the current token.
  Nodes body(std::initializer_list<std::string_view> ends) {
    const Deeper deeper(*this);
    Nodes nodes;
    for (;;) {
      const Token& t = current();
      if (t.kind == Token::kEnd) {
        if (ends.size() > 0) fail(fmt::format("{{% {} %}} is missing", *(ends.end() - 1)));
        return nodes;
      }
      auto node = std::make_unique<TemplateNode>();
      node->line = t.line;
      node->column = t.column;
      next();
      if (t.kind == Token::kText) {
        node->kind = TemplateNode::kText;
        node->text = t.text;
      } else if (t.kind == Token::kPrintBegin) {
        node->kind = TemplateNode::kPrint;
        node->expr = tuple(true, {});
        if (current().kind != Token::kPrintEnd) fail("the end of the expression is missing");
        next();
      } else {
        for (std::string_view end : ends) {
          if (at_name(end)) return nodes;
        }
        statement(*node);
      }
      nodes.push_back(std::move(node));
    }
  }
  Nodes block(std::initializer_list<std::string_view> ends) {
    skip_operator(":");
    expect_block_end();
    return body(ends);
  }
  /// A block with one end, which is passed.
  Nodes whole_block(std::string_view end) {
    Nodes nodes = block({end});
    next();
    expect_block_end();
    return nodes;
  }

  void statement(TemplateNode& n) {
    const Token& t = current();
    const std::string tag = t.kind == Token::kName ? t.text : "";
    next();
    if (tag == "if") return if_statement(n);
    if (tag == "for") return for_statement(n);
    if (tag == "set") return set_statement(n);
    if (tag == "macro") {
      n.kind = TemplateNode::kMacro;
      n.signature.name = expect_name();
      signature(n.signature);
      n.body = whole_block("endmacro");
      return;
    }
    if (tag == "call") {
      n.kind = TemplateNode::kCallBlock;
      n.signature.name = "caller";
      if (at_operator("(")) signature(n.signature);
      n.expr = expression();
      if (n.expr->kind != Expr::kCall) fail(t, "{% call %} without a call");
      n.body = whole_block("endcall");
      return;
    }
    if (tag == "filter") {
      n.kind = TemplateNode::kFilterBlock;
      n.filter = filters(nullptr, true);
      n.body = whole_block("endfilter");
      return;
    }
    if (tag == "with") return with_statement(n);
    if (tag == "generation") {
      n.kind = TemplateNode::kGeneration;
      n.body = whole_block("endgeneration");
      return;
    }
    if (tag == "break" || tag == "continue") {
      n.kind = tag == "break" ? TemplateNode::kBreak : TemplateNode::kContinue;
      if (loops_ == 0) fail(t, fmt::format("{{% {} %}} outside of a loop", tag));
      return expect_block_end();
    }
    fail(t, fmt::format("the tag '{}', which is not supported here", t.text));
  }

  void if_statement(TemplateNode& n) {
    n.kind = TemplateNode::kIf;
    for (;;) {
      ExprPtr test = tuple(false, {});
      n.branches.emplace_back(std::move(test), block({"elif", "else", "endif"}));
      if (skip_name("elif")) continue;
      if (skip_name("else")) {
        n.otherwise = whole_block("endif");
        return;
      }
      next();
      return expect_block_end();
    }
  }

  void for_statement(TemplateNode& n) {
    n.kind = TemplateNode::kFor;
    n.target = target({"in"}, false);
    if (!skip_name("in")) fail("'in' is missing");
    n.expr = tuple(false, {"recursive"});
    if (skip_name("if")) n.test = expression();
    n.recursive = skip_name("recursive");
    ++loops_;
    n.body = block({"else", "endfor"});
    --loops_;
    if (skip_name("else")) {
      n.otherwise = whole_block("endfor");
      return;
    }
    next();
    expect_block_end();
  }

  void set_statement(TemplateNode& n) {
    n.target = target({}, true);
    if (skip_operator("=")) {
      n.kind = TemplateNode::kSet;
      n.expr = tuple(true, {});
      return expect_block_end();
    }
    n.kind = TemplateNode::kSetBlock;
    n.filter = filters(nullptr, false);
    n.body = whole_block("endset");
  }

  void with_statement(TemplateNode& n) {
    n.kind = TemplateNode::kWith;
    while (current().kind != Token::kBlockEnd && !at_operator(":")) {
      if (!n.targets.empty()) expect_operator(",");
      n.targets.push_back(one_target(false));
      expect_operator("=");
      n.values.push_back(expression());
    }
    n.body = whole_block("endwith");
  }

  void signature(MacroSignature& s) {
    expect_operator("(");
    while (!at_operator(")")) {
      if (!s.parameters.empty()) expect_operator(",");
      s.parameters.push_back(expect_name());
      if (skip_operator("=")) {
        s.defaults.push_back(expression());
      } else if (!s.defaults.empty()) {
        fail("a parameter without a default after one with it");
      }
    }
    next();
  }

  AssignTarget one_target(bool attributes) {
    AssignTarget t;
    if (skip_operator("(")) {
      t = target({}, attributes);
      expect_operator(")");
      return t;
    }
    const Token& at = current();
    t.name = expect_name();
    static const std::set<std::string> kConstants{"true", "false", "none", "True", "False", "None"};
    if (kConstants.contains(t.name)) fail(at, "an assignment to a constant");
    if (attributes && skip_operator(".")) t.attribute = expect_name();
    return t;
  }
  AssignTarget target(std::initializer_list<std::string_view> ends, bool attributes) {
    const Deeper deeper(*this);
    AssignTarget first = one_target(attributes);
    if (!at_operator(",")) return first;
    AssignTarget all;
    all.parts.push_back(std::move(first));
    while (skip_operator(",")) {
      bool done = at_operator("=") || at_operator(")") || current().kind == Token::kBlockEnd;
      for (std::string_view end : ends) done |= at_name(end);
      if (done) break;
      all.parts.push_back(one_target(attributes));
    }
    return all;
  }

  // Expressions.

  ExprPtr expression() { return condition(); }

  /// One expression, or several with commas between, which are a tuple.
  ExprPtr tuple(bool with_condition, std::initializer_list<std::string_view> ends,
                bool in_parentheses = false) {
    const Token& t = current();
    std::vector<ExprPtr> items;
    bool comma = false;
    auto at_end = [&] {
      const Token& c = current();
      bool end = c.kind == Token::kPrintEnd || c.kind == Token::kBlockEnd || at_operator(")");
      for (std::string_view e : ends) end |= at_name(e);
      return end;
    };
    while (!at_end()) {
      items.push_back(with_condition ? condition() : logical_or());
      comma = skip_operator(",");
      if (!comma) break;
    }
    if (items.size() == 1 && !comma) return std::move(items[0]);
    if (items.empty() && !in_parentheses) fail("an expression is missing");
    auto e = make(Expr::kTuple, t);
    e->items = std::move(items);
    return e;
  }

  ExprPtr condition() {
    const Deeper deeper(*this);
    ExprPtr value = logical_or();
    while (at_name("if")) {
      auto e = make(Expr::kCondition, current());
      next();
      e->items.push_back(logical_or());
      e->items.push_back(std::move(value));
      e->items.push_back(skip_name("else") ? condition() : nullptr);
      value = std::move(e);
    }
    return value;
  }

  /// Operators of one level, from left to right.
  template <class Next, class At>
  ExprPtr left_to_right(Expr::Kind kind, Next operand, At at) {
    ExprPtr left = operand();
    int length = 0;
    while (at()) {
      if (++length > kMostDepth) fail("an expression that is too long");
      const Token t = current();
      next();
      left = binary(kind, t, std::move(left), operand());
    }
    return left;
  }

  ExprPtr logical_or() {
    return left_to_right(Expr::kOr, [&] { return logical_and(); }, [&] { return at_name("or"); });
  }
  ExprPtr logical_and() {
    return left_to_right(Expr::kAnd, [&] { return logical_not(); }, [&] { return at_name("and"); });
  }
  ExprPtr logical_not() {
    const Deeper deeper(*this);
    const Token& t = current();
    if (skip_name("not")) return unary(Expr::kNot, t, logical_not());
    return comparison();
  }

  ExprPtr comparison() {
    const Token& t = current();
    ExprPtr first = sum();
    auto e = make(Expr::kCompare, t);
    e->items.push_back(std::move(first));
    for (;;) {
      static const std::set<std::string> kOperators{"==", "!=", "<", ">", "<=", ">="};
      if (current().kind == Token::kOperator && kOperators.contains(current().text)) {
        e->operators.push_back(current().text);
        next();
      } else if (skip_name("in")) {
        e->operators.push_back("in");
      } else if (at_name("not") && ahead().is(Token::kName, "in")) {
        next();
        next();
        e->operators.push_back("not in");
      } else {
        break;
      }
      e->items.push_back(sum());
    }
    if (e->operators.empty()) return std::move(e->items[0]);
    return e;
  }

  ExprPtr sum() {
    return left_to_right(
        Expr::kBinary, [&] { return concatenation(); },
        [&] { return at_operator("+") || at_operator("-"); });
  }
  ExprPtr concatenation() {
    const Token& t = current();
    ExprPtr first = product();
    if (!at_operator("~")) return first;
    auto e = make(Expr::kConcat, t);
    e->items.push_back(std::move(first));
    while (skip_operator("~")) e->items.push_back(product());
    return e;
  }
  ExprPtr product() {
    return left_to_right(
        Expr::kBinary, [&] { return power(); },
        [&] {
          return at_operator("*") || at_operator("/") || at_operator("//") || at_operator("%");
        });
  }
  ExprPtr power() {
    return left_to_right(
        Expr::kBinary, [&] { return signed_value(true); }, [&] { return at_operator("**"); });
  }

  ExprPtr signed_value(bool with_filters) {
    const Deeper deeper(*this);
    const Token& t = current();
    ExprPtr e;
    if (skip_operator("-")) {
      e = unary(Expr::kNegate, t, signed_value(false));
    } else if (skip_operator("+")) {
      e = unary(Expr::kPlus, t, signed_value(false));
    } else {
      e = primary();
    }
    e = postfix(std::move(e));
    return with_filters ? filters_and_tests(std::move(e)) : std::move(e);
  }

  ExprPtr primary() {
    const Token t = current();
    std::unique_ptr<Expr> e;
    switch (t.kind) {
      case Token::kName:
        next();
        if (t.text == "true" || t.text == "True" || t.text == "false" || t.text == "False") {
          e = make(Expr::kBool, t);
          e->integer = t.text == "true" || t.text == "True";
        } else {
          e = make(t.text == "none" || t.text == "None" ? Expr::kNone : Expr::kName, t);
          e->text = t.text;
        }
        return e;
      case Token::kString:
        e = make(Expr::kString, t);
        while (current().kind == Token::kString) {
          e->text += current().text;
          next();
        }
        return e;
      case Token::kInteger:
      case Token::kFloat: {
        next();
        e = make(t.kind == Token::kInteger ? Expr::kInteger : Expr::kFloat, t);
        const char *begin = t.text.data(), *end = begin + t.text.size();
        const auto error = t.kind == Token::kInteger ? std::from_chars(begin, end, e->integer).ec
                                                     : std::from_chars(begin, end, e->number).ec;
        if (error != std::errc()) fail(t, "a number beyond 64 bits");
        return e;
      }
      case Token::kOperator:
        if (skip_operator("(")) {
          ExprPtr inner = tuple(true, {}, true);
          expect_operator(")");
          return inner;
        }
        if (at_operator("[") || at_operator("{")) return collection();
        [[fallthrough]];
      default:
        fail(t.kind == Token::kOperator ? fmt::format("an unexpected '{}'", t.text)
                                        : "an expression is missing");
    }
  }

  ExprPtr collection() {
    const Token t = current();
    next();
    const bool dict = t.text == "{";
    const std::string_view end = dict ? "}" : "]";
    auto e = make(dict ? Expr::kDict : Expr::kList, t);
    while (!at_operator(end)) {
      if (!e->items.empty()) expect_operator(",");
      if (at_operator(end)) break;
      e->items.push_back(expression());
      if (dict) {
        expect_operator(":");
        e->items.push_back(expression());
      }
    }
    next();
    return e;
  }

  ExprPtr postfix(ExprPtr e) {
    for (int length = 0;; ++length) {
      if (length > kMostDepth) fail("an expression that is too long");
      const Token t = current();
      if (at_operator("(")) {
        e = call(std::move(e));
      } else if (skip_operator(".")) {
        if (current().kind == Token::kInteger) {
          auto index = make(Expr::kInteger, current());
          std::from_chars(current().text.data(), current().text.data() + current().text.size(),
                          index->integer);
          next();
          e = binary(Expr::kItem, t, std::move(e), std::move(index));
        } else {
          auto attribute = make(Expr::kAttribute, t);
          attribute->text = expect_name();
          attribute->items.push_back(std::move(e));
          e = std::move(attribute);
        }
      } else if (skip_operator("[")) {
        ExprPtr index = subscript();
        if (at_operator(",")) fail("an index of several parts");
        expect_operator("]");
        e = binary(Expr::kItem, t, std::move(e), std::move(index));
      } else {
        return e;
      }
    }
  }

  ExprPtr subscript() {
    const Token& t = current();
    ExprPtr parts[3];
    int colons = 0;
    while (!at_operator("]") && !at_operator(",")) {
      if (skip_operator(":")) {
        if (++colons > 2) fail("a slice of more than three parts");
      } else {
        if (parts[colons]) fail("']' is missing");
        parts[colons] = expression();
      }
    }
    if (colons == 0) {
      if (!parts[0]) fail("an index is missing");
      return std::move(parts[0]);
    }
    auto e = make(Expr::kSlice, t);
    for (ExprPtr& part : parts) e->items.push_back(std::move(part));
    return e;
  }

  ExprPtr call(ExprPtr callee) {
    auto e = make(Expr::kCall, current());
    e->items.push_back(std::move(callee));
    e->arguments = arguments();
    return e;
  }

  CallArguments arguments() {
    CallArguments a;
    expect_operator("(");
    while (!at_operator(")")) {
      if (!a.positional.empty() || !a.named.empty()) {
        expect_operator(",");
        if (at_operator(")")) break;
      }
      if (at_operator("*") || at_operator("**")) fail("arguments from a list");
      if (current().kind == Token::kName && ahead().is(Token::kOperator, "=")) {
        std::string name = expect_name();
        next();
        a.named.emplace_back(std::move(name), expression());
      } else {
        if (!a.named.empty()) fail("an argument without a name after one with it");
        a.positional.push_back(expression());
      }
    }
    next();
    return a;
  }

  ExprPtr filters_and_tests(ExprPtr e) {
    for (int length = 0;; ++length) {
      if (length > kMostDepth) fail("an expression that is too long");
      if (at_operator("|")) {
        e = filters(std::move(e), false);
      } else if (at_name("is")) {
        e = test(std::move(e));
      } else if (at_operator("(")) {
        e = call(std::move(e));
      } else {
        return e;
      }
    }
  }

  ExprPtr filters(ExprPtr e, bool first_is_bare) {
    for (int length = 0; first_is_bare || skip_operator("|"); ++length) {
      if (length > kMostDepth) fail("an expression that is too long");
      first_is_bare = false;
      auto f = make(Expr::kFilter, current());
      f->text = expect_name();
      if (at_operator("(")) f->arguments = arguments();
      f->items.push_back(std::move(e));
      e = std::move(f);
    }
    return e;
  }

  ExprPtr test(ExprPtr operand) {
    next();
    const bool negated = skip_name("not");
    const Token t = current();
    auto e = make(Expr::kTest, t);
    e->text = expect_name();
    e->items.push_back(std::move(operand));
    const Token& c = current();
    const bool starts_value =
        c.kind == Token::kString || c.kind == Token::kInteger || c.kind == Token::kFloat ||
        at_operator("[") || at_operator("{") ||
        (c.kind == Token::kName && !at_name("else") && !at_name("or") && !at_name("and"));
    if (at_operator("(")) {
      e->arguments = arguments();
    } else if (starts_value) {
      if (at_name("is")) fail("a test of a test");
      e->arguments.positional.push_back(postfix(primary()));
    }
    if (negated) return unary(Expr::kNot, t, std::move(e));
    return e;
  }

  const std::string& name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Nodes parse_template(std::string_view source, const std::string& name) {
  return Parser(source, name).run();
}

}  // namespace tlaloc::text
