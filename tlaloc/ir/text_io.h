// Printing and parsing of attribute fields; the graph printer and parser are built on these.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tlaloc/base/dtype.h"
#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/dim.h"
#include "tlaloc/ir/type.h"

namespace tlaloc::ir {

class Graph;
struct GraphAttr;
struct Literal;
[[noreturn]] void throw_attr_mismatch();

/// Appends text. `namer` gives symbols names that are unique in the graph being printed, `order`
/// their order in it.
struct Printer {
  std::string text;
  Dim::Namer namer = [](Symbol s) { return s.name(); };
  Dim::Order order;
  std::size_t splat_bytes = 0;  ///< of the arrays written as one element so far
  int indent = 0;               ///< of the line being written, for graphs in attributes
  void put(std::string_view s) { text += s; }
};

void print_value(Printer& p, bool x);
void print_value(Printer& p, std::int64_t x);
void print_value(Printer& p, double x);  // shortest exact text; NaN by its bits
void print_value(Printer& p, const std::string& x);
void print_value(Printer& p, DType x);
void print_value(Printer& p, Dim x);
void print_value(Printer& p, Type x);
void print_value(Printer& p, const Literal& x);
void print_value(Printer& p, const GraphAttr& x);

/// An array of equal elements is written as one, `f32[1000]{0 ...}`, when it has more than this
/// many elements and all arrays written so stay within this many bytes. A text that declares more
/// is refused, so that its length bounds what reading it allocates.
inline constexpr std::int64_t kSplatElements = 8;
inline constexpr std::size_t kSplatBytes = std::size_t{256} << 20;

/// A cursor over text. Every error is UserError TL-TEXT-001 with line and column.
class Parser {
 public:
  explicit Parser(std::string_view text, std::string source = "<text>")
      : text_(text), source_(std::move(source)) {}

  // All of these skip blanks and comments (`//` to the end of the line) first.
  bool at_end();
  /// True if `token` comes next; a token that is a word matches whole words only.
  bool peek(std::string_view token);
  bool accept(std::string_view token);
  void expect(std::string_view token);
  /// [A-Za-z_][A-Za-z0-9_.]*
  std::string identifier();
  bool peek_identifier();
  /// [A-Za-z0-9_.]+
  std::string word();
  std::int64_t integer();
  double real();
  std::string quoted();
  /// Where the next token starts, for fail_at.
  std::size_t position();
  std::string_view rest();
  void advance(std::size_t count) { at_ += count; }
  void seek(std::size_t position) { at_ = position; }

  [[noreturn]] void fail(const std::string& message) { fail_at(position(), message); }
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;

  /// Names of dims in scope; set by the graph parser.
  std::function<std::optional<Symbol>(const std::string&)> symbol_of;
  /// Reads a graph nested in an attribute; set by the graph parser.
  std::function<std::shared_ptr<const Graph>()> nested_graph;
  std::size_t splat_bytes = 0;  ///< of the arrays read from one element so far

 private:
  void skip();
  std::string_view text_;
  std::size_t at_ = 0;
  std::string source_;
};

void parse_value(Parser& p, bool& x);
void parse_value(Parser& p, std::int64_t& x);
void parse_value(Parser& p, double& x);
void parse_value(Parser& p, std::string& x);
void parse_value(Parser& p, DType& x);
void parse_value(Parser& p, Dim& x);
void parse_value(Parser& p, Type& x);
void parse_value(Parser& p, Literal& x);
void parse_value(Parser& p, GraphAttr& x);

// ---- generic: enums, optionals, vectors and structs with fields ----

template <class T>
void print_field(Printer& p, const T& x);
template <class T>
void print_field(Printer& p, const std::optional<T>& x) {
  if (x)
    print_field(p, *x);
  else
    p.put("none");
}
template <class T>
void print_field(Printer& p, const std::vector<T>& x) {
  p.put("[");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i) p.put(", ");
    print_field(p, static_cast<const T&>(x[i]));
  }
  p.put("]");
}
template <class A>
void print_fields(Printer& p, const A& a) {
  p.put("{");
  bool first = true;
  std::apply(
      [&](auto... f) {
        ((p.put(first ? "" : ", "), p.put(f.name), p.put("="), print_field(p, a.*f.member),
          first = false),
         ...);
      },
      A::fields());
  p.put("}");
}
template <class T>
void print_field(Printer& p, const T& x) {
  if constexpr (requires { T::fields(); })
    print_fields(p, x);
  else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>)
    p.put(enum_names(x)[static_cast<std::size_t>(x)]);
  else
    print_value(p, x);
}

template <class T>
void parse_field(Parser& p, T& x);
template <class T>
void parse_field(Parser& p, std::optional<T>& x) {
  if (p.accept("none")) {
    x.reset();
  } else {
    parse_field(p, x.emplace());
  }
}
template <class T>
void parse_field(Parser& p, std::vector<T>& x) {
  p.expect("[");
  x.clear();
  while (!p.accept("]")) {
    if (!x.empty()) p.expect(",");
    T e{};
    parse_field(p, e);
    x.push_back(std::move(e));
  }
}
template <class A>
void parse_fields(Parser& p, A& a) {
  p.expect("{");
  bool first = true;
  std::apply(
      [&](auto... f) {
        ((first ? void() : p.expect(","), p.expect(f.name), p.expect("="),
          parse_field(p, a.*f.member), first = false),
         ...);
      },
      A::fields());
  p.expect("}");
}
template <class T>
void parse_field(Parser& p, T& x) {
  if constexpr (requires { T::fields(); }) {
    parse_fields(p, x);
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    const std::string word = p.identifier();
    auto names = enum_names(T{});
    for (std::size_t i = 0; i < std::size(names); ++i) {
      if (names[i] == word) {
        x = static_cast<T>(i);
        return;
      }
    }
    p.fail("unknown name '" + word + "'");
  } else {
    parse_value(p, x);
  }
}

}  // namespace tlaloc::ir
