// C++ expressions as trees. Immutable and shared; parentheses follow from how tightly things bind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"

namespace tlaloc::cxx {

/// A variable of the function being printed; its name is chosen last.
using VarId = std::uint32_t;

/// How tightly an expression binds, the loosest first.
enum class Level : std::uint8_t {
  ternary,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equality,
  relational,
  shift,
  additive,
  multiplicative,
  prefix,
  postfix
};

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;
using Exprs = std::vector<ExprRef>;

struct Expr {
  enum class Kind : std::uint8_t {
    var,      ///< a variable
    literal,  ///< text that reads no variable
    prefix,   ///< text args[0]
    infix,    ///< args[0] text args[1]
    ternary,  ///< args[0] ? args[1] : args[2]
    call,     ///< text(args...)
    method,   ///< args[0].text(args[1]...)
    field,    ///< args[0].text
    index,    ///< args[0][args[1]]
    list,     ///< text{args...}
  };
  Kind kind;
  Level level;
  VarId var = 0;
  std::string text;
  Exprs args;
  std::optional<std::int64_t> integer;  ///< of an integer literal
  std::uint32_t operations = 0;         ///< operators and calls, indexing excluded
  std::uint32_t width = 0;              ///< characters, with names of average length
};

ExprRef variable(VarId v);
ExprRef literal(std::string text);
ExprRef integer(std::int64_t value);
ExprRef prefix(std::string op, ExprRef x);
/// Applies what is exact for all inputs: a + -b is a - b, a - -b is a + b, -a + b is b - a; -b may
/// be the first factor of a product.
ExprRef infix(Level level, std::string op, ExprRef a, ExprRef b);
ExprRef ternary(ExprRef p, ExprRef a, ExprRef b);
ExprRef call(std::string function, Exprs args);
ExprRef method(ExprRef object, std::string name, Exprs args);
ExprRef field(ExprRef object, std::string name);
ExprRef index(ExprRef array, ExprRef position);
ExprRef list(std::string type, Exprs args);

inline ExprRef add(ExprRef a, ExprRef b) {
  return infix(Level::additive, "+", std::move(a), std::move(b));
}
inline ExprRef subtract(ExprRef a, ExprRef b) {
  return infix(Level::additive, "-", std::move(a), std::move(b));
}
inline ExprRef multiply(ExprRef a, ExprRef b) {
  return infix(Level::multiplicative, "*", std::move(a), std::move(b));
}
/// a < b and so on; `op` is one of < <= > >= == !=.
ExprRef compare(std::string op, ExprRef a, ExprRef b);
ExprRef logical_and(ExprRef a, ExprRef b);
/// The negation: of a comparison of integers, the opposite comparison.
ExprRef logical_not(ExprRef a);

// ---- positions: 64-bit integers that can't overflow ----
ExprRef position_add(ExprRef a, ExprRef b);
ExprRef position_subtract(ExprRef a, ExprRef b);
ExprRef position_multiply(ExprRef a, ExprRef b);

/// The element as a C++ literal that reads back to the same bits (NaN: to some NaN).
ExprRef element_literal(const HostArray& array, std::int64_t i);
/// The text in quotes, as a C++ string literal of the same bytes.
std::string string_literal(const std::string& text);

bool is_literal(const Expr& e);
inline bool is_var(const Expr& e) { return e.kind == Expr::Kind::var; }
bool same(const Expr& a, const Expr& b);
void each_read(const Expr& e, const std::function<void(VarId)>& visit);
bool reads(const Expr& e, VarId v);
/// `e` with variable v replaced, everywhere.
ExprRef replace(const ExprRef& e, VarId v, const ExprRef& by);
/// `e` with other operands.
ExprRef with_args(const ExprRef& e, Exprs args);
/// `e` with its variables renamed.
ExprRef rename(const ExprRef& e, const std::function<VarId(VarId)>& to);

}  // namespace tlaloc::cxx
