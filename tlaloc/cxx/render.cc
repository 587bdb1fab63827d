#include "tlaloc/cxx/render.h"

#include <algorithm>
#include <limits>

#include "tlaloc/cxx/includes.h"
#include "tlaloc/cxx/names.h"

namespace tlaloc::cxx {
namespace {

constexpr std::size_t kColumns = 100;

class Renderer {
 public:
  Renderer(const Function& f, std::vector<std::string> names)
      : f_(f),
        names_(std::move(names)),
        reads_(f.vars.size()),
        writes_(f.vars.size()),
        declared_(f.vars.size()) {
    count(f.body);
  }

  std::string run() {
    std::string params;
    for (VarId p : f_.params) {
      if (!params.empty()) params += ", ";
      params += parameter(p) + " " + names_[p];
      declared_[p] = true;
    }
    line(f_.result_type + " " + f_.name + "(" + params + ") {");
    ++depth_;
    block(f_.body);
    --depth_;
    line("}");
    return std::move(text_);
  }

 private:
  void count(const Block& b) {
    for (const Stmt& s : b) {
      each_read(s, [&](VarId v) { ++reads_[v]; });
      each_write(s, [&](VarId v) { ++writes_[v]; });
      if (s.kind == Stmt::Kind::declare) ++writes_[s.target];
      each_block(s, [&](const Block& inner) { count(inner); });
    }
  }
  /// Arrays that are only read come by reference.
  std::string parameter(VarId p) const {
    const Var& v = f_.vars[p];
    const std::string unused = reads_[p] ? "" : "[[maybe_unused]] ";
    return unused + (v.array && writes_[p] == 0 ? "const " + v.type + "&" : v.type);
  }

  // ---- expressions ----

  std::string operand(const Expr& e, bool parentheses) const {
    const std::string s = text(e);
    return parentheses ? "(" + s + ")" : s;
  }
  std::string text(const Expr& e) const {
    using K = Expr::Kind;
    auto sub = [&](std::size_t k) -> const Expr& { return *e.args[k]; };
    switch (e.kind) {
      case K::var:
        return names_[e.var];
      case K::literal:
        return e.text;
      case K::prefix:
        return e.text + operand(sub(0), sub(0).level < Level::prefix ||
                                            (e.text == "-" && text(sub(0)).starts_with('-')));
      case K::infix: {
        // Left to right: what stands on the right must bind more tightly. Mixed logic and bit
        // operators get parentheses that the grammar does not need and the reader does.
        const bool bits = e.level >= Level::bit_or && e.level <= Level::bit_and;
        auto clear = [&](const Expr& x) {
          if (x.kind != K::infix) return false;
          return (e.level == Level::logical_or && x.level == Level::logical_and) ||
                 ((bits || e.level == Level::shift) && x.level != e.level) ||
                 (e.level == Level::equality && x.level == Level::relational);
        };
        return operand(sub(0), sub(0).level < e.level || clear(sub(0))) + " " + e.text + " " +
               operand(sub(1), sub(1).level <= e.level || clear(sub(1)));
      }
      case K::ternary:
        return operand(sub(0), sub(0).level <= Level::ternary) + " ? " +
               operand(sub(1), sub(1).level <= Level::ternary) + " : " +
               operand(sub(2), sub(2).level <= Level::ternary);
      case K::call:
        return e.text + "(" + list_of(e.args, 0) + ")";
      case K::list:
        return e.text + "{" + list_of(e.args, 0) + "}";
      case K::method:
        return text(sub(0)) + "." + e.text + "(" + list_of(e.args, 1) + ")";
      case K::field:
        return text(sub(0)) + "." + e.text;
      case K::index:
        return text(sub(0)) + "[" + text(sub(1)) + "]";
    }
    return "";
  }
  std::string list_of(const Exprs& args, std::size_t first) const {
    std::string r;
    for (std::size_t k = first; k < args.size(); ++k) r += (k > first ? ", " : "") + text(*args[k]);
    return r;
  }
  std::string negated(const Expr& e) const {
    static const std::pair<const char*, const char*> opposite[] = {
        {"==", "!="}, {"!=", "=="}, {"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}};
    for (const auto& [op, other] : opposite) {
      if (e.kind == Expr::Kind::infix && e.text == op) {
        return text(*e.args[0]) + " " + other + " " + text(*e.args[1]);
      }
    }
    return e.kind == Expr::Kind::infix || e.kind == Expr::Kind::ternary ? "!(" + text(e) + ")"
                                                                        : "!" + text(e);
  }

  // ---- statements ----

  void block(const Block& b) {
    for (const Stmt& s : b) statement(s);
  }
  void nested(const std::string& head, const Block& b) {
    line(head + " {");
    ++depth_;
    block(b);
    --depth_;
  }
  void statement(const Stmt& s) {
    using K = Stmt::Kind;
    switch (s.kind) {
      case K::declare:
        declared_[s.target] = true;
        line(f_.vars[s.target].type + " " + names_[s.target] + ";");
        break;
      case K::assign:
        assign(s);
        break;
      case K::store:
        update(names_[s.target] + "[" + text(*s.position) + "]", *s.value, [&](const Expr& e) {
          return e.kind == Expr::Kind::index && is_var(*e.args[0]) && e.args[0]->var == s.target &&
                 same(*e.args[1], *s.position);
        });
        break;
      case K::set:
        line(text(*s.position) + " = " + text(*s.value) + ";");
        break;
      case K::push:
        line(names_[s.target] + ".push_back(" + text(*s.value) + ");");
        break;
      case K::append: {
        const std::string &to = names_[s.target], from = text(*s.value);
        line(to + ".insert(" + to + ".end(), " + from + ".begin(), " + from + ".end());");
        break;
      }
      case K::loop:
        nested("while (" + text(*s.value) + ")", s.body);
        line("}");
        break;
      case K::count: {
        const std::string& i = names_[s.target];
        std::string step = s.step == 1    ? "++" + i
                           : s.step == -1 ? "--" + i
                           : s.step < 0   ? i + " -= " + std::to_string(-s.step)
                                          : i + " += " + std::to_string(s.step);
        declared_[s.target] = true;
        nested("for (" + f_.vars[s.target].type + " " + i + " = " + text(*s.position) + "; " +
                   text(*s.value) + "; " + step + ")",
               s.body);
        line("}");
        break;
      }
      case K::branch:
        nested("if (" + text(*s.value) + ")", s.body);
        if (!s.other.empty()) nested("} else", s.other);
        line("}");
        break;
      case K::require:
        line("if (" + negated(*s.value) + ") throw " + s.text + ";");
        break;
      case K::unpack: {
        std::string names;
        for (VarId v : s.params) names += (names.empty() ? "" : ", ") + names_[v];
        line(std::string("const auto") + (is_var(*s.value) ? "&" : "") + " [" + names +
             "] = " + text(*s.value) + ";");
        break;
      }
      case K::lambda: {
        std::string params;
        for (VarId v : s.params)
          params += (params.empty() ? "const auto& " : ", const auto& ") + names_[v];
        nested("const auto " + names_[s.target] + " = [&]" +
                   (params.empty() ? "" : "(" + params + ")"),
               s.body);
        line("};");
        break;
      }
      case K::leave:
        line("if (" + negated(*s.value) + ") break;");
        break;
      case K::result:
        if (s.moves.size() == 1) {
          line("return " + text(*s.moves[0].value) + ";");
        } else {
          Exprs values;
          for (const Assignment& m : s.moves) values.push_back(m.value);
          line("return {" + list_of(values, 0) + "};");
        }
        break;
      case K::parallel:
        break;  // ordered before
    }
  }
  void assign(const Stmt& s) {
    const std::string& name = names_[s.target];
    const Var& var = f_.vars[s.target];
    if (declared_[s.target]) {
      update(name, *s.value, [&](const Expr& e) { return is_var(e) && e.var == s.target; });
      return;
    }
    declared_[s.target] = true;
    const std::string type = (writes_[s.target] == 1 ? "const " : "") + var.type;
    const Expr& e = *s.value;
    // std::vector<double> v(n) rather than v = std::vector<double>(n).
    if (e.text == var.type && e.kind == Expr::Kind::call) {
      line(type + " " + name + "(" + list_of(e.args, 0) + ");");
    } else if (e.text == var.type && e.kind == Expr::Kind::list) {
      line(type + " " + name + (e.args.empty() ? "" : " = {" + list_of(e.args, 0) + "}") + ";");
    } else {
      line(type + " " + name + " = " + text(e) + ";");
    }
  }
  /// target = e, or the short form: x += e for x = x + e.
  template <class IsTarget>
  void update(const std::string& target, const Expr& e, const IsTarget& is_target) {
    if (e.kind == Expr::Kind::infix && e.level >= Level::additive) {
      const bool commutes = e.text == "+" || e.text == "*";
      const bool left = is_target(*e.args[0]);
      if (left || (commutes && is_target(*e.args[1]))) {
        const Expr& by = *e.args[left ? 1 : 0];
        if (by.integer && *by.integer == 1 && (e.text == "+" || e.text == "-")) {
          line(e.text + e.text + target + ";");
        } else {
          line(target + " " + e.text + "= " + text(by) + ";");
        }
        return;
      }
    }
    line(target + " = " + text(e) + ";");
  }

  // ---- lines ----

  /// Breaks where the fewest brackets are open, as far right as fits.
  void line(std::string s) {
    std::string indent(static_cast<std::size_t>(2 * depth_), ' ');
    while (indent.size() + s.size() > kColumns) {
      const std::size_t at = break_of(s, kColumns - indent.size());
      if (at == std::string::npos) break;
      text_ += indent + s.substr(0, at) + "\n";
      s = s.substr(at + 1);
      indent = std::string(static_cast<std::size_t>(2 * depth_ + 4), ' ');
    }
    text_ += indent + s + "\n";
  }
  static std::size_t break_of(const std::string& s, std::size_t room) {
    const std::string operators = "=+-*/%?:|&<>^";
    auto is_operator = [&](char c) { return operators.find(c) != std::string::npos; };
    std::size_t best = std::string::npos;
    int depth = 0, fewest = std::numeric_limits<int>::max();
    bool quoted = false;
    for (std::size_t k = 2; k < s.size() && k <= room; ++k) {
      const char c = s[k], before = s[k - 1];
      if (quoted && c == '\\') ++k;  // and what it escapes
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      // A template's brackets have no blank inside; a comparison has one on both sides.
      const bool opens = c == '<' && before != ' ' && k + 1 < s.size() && s[k + 1] != ' ';
      const bool closes = c == '>' && before != ' ';
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (opens) depth += 2;
      if (closes) depth -= 2;
      // Behind a comma or an operator, not between the words of a declaration.
      const bool after_operator =
          is_operator(before) &&
          (s[k - 2] == ' ' || (is_operator(s[k - 2]) && k > 2 && s[k - 3] == ' '));
      const bool behind = before == ',' || before == ';' || after_operator;
      if (c == ' ' && behind && depth <= fewest) {
        best = k;
        fewest = depth;
      }
    }
    return best;
  }

  const Function& f_;
  std::vector<std::string> names_;
  std::vector<int> reads_, writes_;
  std::vector<bool> declared_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string render(const Module& module) {
  std::unordered_set<std::string> reserved = module.needs.names();
  for (const Function& f : module.functions) reserved.insert(f.name);
  std::string body;
  for (const Function& f : module.functions) {
    if (const auto it = module.records.find(f.name); it != module.records.end()) {
      const Record& r = it->second;
      body += "struct " + r.name + " {\n";
      for (std::size_t k = 0; k < r.fields.size(); ++k) {
        body += "  " + r.types[k] + " " + r.fields[k] + ";\n";
      }
      body += "};\n\n";
    }
    body += f.comment + Renderer(f, name_variables(f, reserved)).run() + "\n";
  }
  body.pop_back();
  const std::string code = module.needs.definitions() + body;
  const std::string includes = includes_of(code);
  return includes + (includes.empty() ? "" : "\n") + code;
}

}  // namespace tlaloc::cxx
