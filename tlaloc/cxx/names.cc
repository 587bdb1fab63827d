#include "tlaloc/cxx/names.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "tlaloc/ir/names.h"

namespace tlaloc::cxx {
namespace {

// Of ASCII, whatever the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

const std::unordered_set<std::string>& keywords() {
  static const std::unordered_set<std::string> words = {
      "alignas",       "alignof",      "and",
      "and_eq",        "asm",          "auto",
      "bitand",        "bitor",        "bool",
      "break",         "case",         "catch",
      "char",          "char8_t",      "char16_t",
      "char32_t",      "class",        "co_await",
      "co_return",     "co_yield",     "compl",
      "concept",       "const",        "const_cast",
      "consteval",     "constexpr",    "constinit",
      "continue",      "decltype",     "default",
      "delete",        "do",           "double",
      "dynamic_cast",  "else",         "enum",
      "explicit",      "export",       "extern",
      "false",         "float",        "for",
      "friend",        "goto",         "if",
      "inline",        "int",          "long",
      "mutable",       "namespace",    "new",
      "noexcept",      "not",          "not_eq",
      "nullptr",       "operator",     "or",
      "or_eq",         "private",      "protected",
      "public",        "register",     "reinterpret_cast",
      "requires",      "return",       "short",
      "signed",        "sizeof",       "static",
      "static_assert", "static_cast",  "std",
      "struct",        "switch",       "template",
      "this",          "thread_local", "throw",
      "true",          "try",          "typedef",
      "typeid",        "typename",     "union",
      "unsigned",      "using",        "virtual",
      "void",          "volatile",     "wchar_t",
      "while",         "xor",          "xor_eq"};
  return words;
}

// Longer names than this are not built into others.
constexpr std::size_t kLongName = 12;

class Namer {
 public:
  Namer(const Function& f, const std::unordered_set<std::string>& reserved)
      : f_(f),
        reserved_(reserved),
        names_(f.vars.size()),
        defined_by_(f.vars.size()),
        numbered_(f.vars.size()) {}

  std::vector<std::string> run() {
    find_definitions(f_.body);
    Scope outer;
    for (VarId p : f_.params) give(p, f_.vars[p].name, outer);
    visit(f_.body, outer);
    return std::move(names_);
  }

 private:
  struct Scope {
    Scope* parent = nullptr;
    std::unordered_set<std::string> names = {}, inside = {};  ///< declared here; in blocks inside
    /// Numbers from which on there may be names left, by the first name of the family: those below
    /// are declared here or around; or inside as well.
    std::unordered_map<std::string, int> next_around = {}, next = {};
    bool has(const std::string& name) const {
      for (const Scope* s = this; s; s = s->parent) {
        if (s->names.contains(name)) return true;
      }
      return false;
    }
  };

  /// The first value of each variable; for a vector, of its first element.
  void find_definitions(const Block& b) {
    using K = Stmt::Kind;
    for (const Stmt& s : b) {
      if (s.kind == K::assign || s.kind == K::store || s.kind == K::push || s.kind == K::append) {
        const bool element = s.kind != K::assign;
        if (element == f_.vars[s.target].array && !defined_by_[s.target]) {
          defined_by_[s.target] = s.value;
        }
      }
      each_block(s, [&](const Block& inner) { find_definitions(inner); });
    }
  }

  std::string base(VarId v, int depth = 0) const {
    const Var& var = f_.vars[v];
    if (!names_[v].empty()) return names_[v];
    if (!var.name.empty()) return identifier(var.name);
    constexpr int kDepth = 3;
    if (depth > kDepth || !defined_by_[v]) return "";
    std::string name = describe(*defined_by_[v], depth + 1);
    if (!var.array) return name;
    if (var.history) {
      if (name.ends_with("_history")) return name;
      return name.empty() ? "history" : name + "_history";
    }
    // What a loop stores from a variable of the same name.
    if (is_var(*defined_by_[v]) && !name.empty()) return name + "s";
    return name;
  }
  /// "sin_x" for std::sin(x), "a_i" for a[i].
  std::string describe(const Expr& e, int depth) const {
    using K = Expr::Kind;
    if (e.kind == K::var) return numbered_[e.var] ? "" : base(e.var, depth);
    if (e.kind == K::index && is_var(*e.args[0])) {
      std::string array = base(e.args[0]->var, depth);
      if (array.ends_with("_history")) array.resize(array.size() - 8);
      if (array.empty() || array == "history" || numbered_[e.args[0]->var]) return "";
      if (!is_var(*e.args[1])) return array + "_at";
      const std::string i = base(e.args[1]->var, depth);
      return array + "_" + (i.empty() ? "i" : i);
    }
    if (e.kind == K::call && e.args.size() == 1) {
      const std::string function = e.text.substr(e.text.rfind(':') + 1);
      if (e.text.find('<') != std::string::npos || function == "ssize") return "";
      // Of x and of x[i] alike.
      const Expr* of = e.args[0].get();
      if (of->kind == K::index) of = of->args[0].get();
      const std::string x = is_var(*of) ? base(of->var, depth) : "";
      return x.empty() || x.size() > kLongName ? "" : function + "_" + x;
    }
    return "";
  }
  std::string fallback(VarId v, const Scope& scope) const {
    const Var& var = f_.vars[v];
    if (var.counter) {
      const std::string letters = "ijklmn";
      for (char c : letters) {
        if (!scope.has(std::string(1, c))) return std::string(1, c);
      }
      return "i";
    }
    if (var.type == "bool") return "test";
    if (!var.array && var.type.starts_with("std::")) return "k";
    return std::string(1, var.stem);
  }
  int next_around(const std::string& stem, int first, Scope& scope) const {
    int& k = scope.next_around[stem + std::to_string(first)];
    k = std::max(k, scope.parent ? next_around(stem, first, *scope.parent) : first);
    auto taken = [&](const std::string& n) { return reserved_.contains(n) || scope.has(n); };
    while (taken(stem + std::to_string(k))) ++k;
    return k;
  }
  void give(VarId v, const std::string& wanted, Scope& scope) {
    if (!names_[v].empty()) return;
    std::string name = wanted.empty() ? fallback(v, scope) : wanted;
    auto taken = [&](const std::string& n) {
      return reserved_.contains(n) || scope.has(n) || scope.inside.contains(n);
    };
    // Bare letters are numbered from the start, so that they read as a family.
    const bool number = name.size() == 1 && wanted.empty() && !f_.vars[v].counter;
    if (number || taken(name)) {
      const std::string stem = number ? name : name + (is_digit(name.back()) ? "_" : "");
      const int first = number ? 1 : 2;
      int& k = scope.next[stem + std::to_string(first)];
      k = std::max(k, next_around(stem, first, scope));
      while (taken(stem + std::to_string(k))) ++k;
      name = stem + std::to_string(k);
    }
    numbered_[v] = number;
    names_[v] = name;
    scope.names.insert(name);
    // Not reused by what comes later around this block, for the reader's sake; loop counters are.
    if (f_.vars[v].counter) return;
    for (Scope* s = scope.parent; s; s = s->parent) s->inside.insert(name);
  }

  void visit(const Block& b, Scope& scope) {
    using K = Stmt::Kind;
    for (const Stmt& s : b) {
      if (s.kind == K::declare || s.kind == K::assign || s.kind == K::lambda) {
        give(s.target, base(s.target), scope);
      }
      if (s.kind == K::unpack) {
        for (VarId v : s.params) give(v, base(v), scope);
      }
      each_block(s, [&](const Block& inner) {
        Scope own{.parent = &scope};
        if (s.kind == K::count) give_counter(s.target, own);
        if (s.kind == K::lambda) {
          for (VarId v : s.params) give(v, base(v), own);
        }
        visit(inner, own);
      });
      if (s.kind == K::count && names_[s.target].empty()) {
        Scope own{.parent = &scope};
        give_counter(s.target, own);
      }
    }
  }
  void give_counter(VarId v, Scope& own) {
    if (names_[v].empty()) {
      const std::string& wanted = f_.vars[v].name;
      give(v, wanted.empty() ? "" : identifier(wanted), own);
    }
  }

  const Function& f_;
  const std::unordered_set<std::string>& reserved_;
  std::vector<std::string> names_;
  std::vector<ExprRef> defined_by_;
  std::vector<bool> numbered_;  ///< v1, v2, …: says nothing
};

}  // namespace

std::string identifier(const std::string& text) {
  // One underscore between words and none around them: other forms are reserved.
  std::string r;
  for (const char c : ir::to_identifier(text)) {
    if (c != '_' && c != '.')
      r += c;
    else if (!r.empty() && r.back() != '_')
      r += '_';
  }
  if (r.ends_with('_')) r.pop_back();
  if (r.empty()) return "x";
  if (is_digit(r[0])) r.insert(0, "x");
  if (keywords().contains(r)) r += '_';
  return r;
}
std::string size_name(const std::string& axis) {
  std::string r;
  for (const char c : identifier(axis)) {
    if (is_upper(c) && !r.empty() && is_lower(r.back())) r += '_';
    r += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return identifier(r);
}
std::string speaking(const std::string& label) {
  const bool counts = label.find_first_not_of("0123456789.[]") == std::string::npos;
  return counts ? "" : label;
}
std::string type_identifier(const std::string& function) {
  std::string r;
  bool upper = true;
  for (char c : function) {
    if (c == '_') {
      upper = true;
      continue;
    }
    r += upper && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return r;
}

std::vector<std::string> name_variables(const Function& f,
                                        const std::unordered_set<std::string>& reserved) {
  return Namer(f, reserved).run();
}

}  // namespace tlaloc::cxx
