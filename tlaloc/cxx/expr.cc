#include "tlaloc/cxx/expr.h"

#include <algorithm>
#include <limits>

#include "tlaloc/base/error.h"

namespace tlaloc::cxx {
namespace {

// What a name is expected to take when lines are measured before names are chosen.
constexpr std::uint32_t kNameWidth = 4;

ExprRef make(Expr e) {
  using K = Expr::Kind;
  std::uint32_t width = e.kind == K::var ? kNameWidth : static_cast<std::uint32_t>(e.text.size());
  if (e.kind == K::prefix || e.kind == K::infix || e.kind == K::call || e.kind == K::method ||
      e.kind == K::ternary) {
    e.operations = 1;
  }
  for (const ExprRef& a : e.args) {
    e.operations += a->operations;
    width += a->width;
    if (a->level < e.level) width += 2;
  }
  const auto n = static_cast<std::uint32_t>(e.args.size());
  if (e.kind == K::infix) width += 2;
  if (e.kind == K::ternary) width += 6;
  if (e.kind == K::index || e.kind == K::call || e.kind == K::method || e.kind == K::list) {
    width += 2 + (n > 1 ? 2 * (n - 1) : 0);
  }
  e.width = width;
  return std::make_shared<const Expr>(std::move(e));
}

bool is_negation(const Expr& e) { return e.kind == Expr::Kind::prefix && e.text == "-"; }
bool is_negative_literal(const Expr& e) {
  return e.kind == Expr::Kind::literal && !e.text.empty() && e.text[0] == '-';
}
bool is_product(const Expr& e) {
  return e.kind == Expr::Kind::infix && e.level == Level::multiplicative && e.text != "%";
}
/// -x, or a product or quotient that begins with one: its sign can move out, exactly.
bool has_sign(const Expr& e) {
  return is_negation(e) || is_negative_literal(e) || (is_product(e) && has_sign(*e.args[0]));
}
ExprRef without_sign(const Expr& e) {
  if (e.kind == Expr::Kind::prefix) return e.args[0];
  if (e.kind == Expr::Kind::infix) {
    return infix(e.level, e.text, without_sign(*e.args[0]), e.args[1]);
  }
  if (e.integer) return integer(-*e.integer);
  return literal(e.text.substr(1));
}

template <class F>
ExprRef rebuilt(const ExprRef& e, const F& f) {
  Exprs args;
  bool changed = false;
  for (const ExprRef& a : e->args) {
    args.push_back(f(a));
    changed = changed || args.back() != a;
  }
  return changed ? with_args(e, std::move(args)) : e;
}

}  // namespace

ExprRef variable(VarId v) { return make({Expr::Kind::var, Level::postfix, v, "", {}, {}}); }
ExprRef literal(std::string text) {
  // A negative literal binds like the operator it begins with.
  const Level level = !text.empty() && text[0] == '-' ? Level::prefix : Level::postfix;
  return make({Expr::Kind::literal, level, 0, std::move(text), {}, {}});
}
ExprRef integer(std::int64_t value) {
  std::string text = std::to_string(value);
  if (value == std::numeric_limits<std::int64_t>::min()) {
    text = "std::numeric_limits<std::int64_t>::min()";
  }
  Expr e{Expr::Kind::literal, value < 0 ? Level::prefix : Level::postfix, 0, text, {}, value};
  return make(std::move(e));
}
ExprRef prefix(std::string op, ExprRef x) {
  // - - would read as a decrement.
  if (op == "-" && is_negation(*x)) return x->args[0];
  return make({Expr::Kind::prefix, Level::prefix, 0, std::move(op), {std::move(x)}, {}});
}
ExprRef infix(Level level, std::string op, ExprRef a, ExprRef b) {
  if (level == Level::additive && has_sign(*b) && !(b->integer && b->level != Level::prefix)) {
    return infix(level, op == "+" ? "-" : "+", std::move(a), without_sign(*b));
  }
  if (level == Level::additive && op == "+" && has_sign(*a) && !is_literal(*a)) {
    return infix(level, "-", std::move(b), without_sign(*a));
  }
  return make({Expr::Kind::infix, level, 0, std::move(op), {std::move(a), std::move(b)}, {}});
}
ExprRef ternary(ExprRef p, ExprRef a, ExprRef b) {
  return make(
      {Expr::Kind::ternary, Level::ternary, 0, "", {std::move(p), std::move(a), std::move(b)}, {}});
}
ExprRef call(std::string function, Exprs args) {
  return make({Expr::Kind::call, Level::postfix, 0, std::move(function), std::move(args), {}});
}
ExprRef method(ExprRef object, std::string name, Exprs args) {
  args.insert(args.begin(), std::move(object));
  return make({Expr::Kind::method, Level::postfix, 0, std::move(name), std::move(args), {}});
}
ExprRef field(ExprRef object, std::string name) {
  return make({Expr::Kind::field, Level::postfix, 0, std::move(name), {std::move(object)}, {}});
}
ExprRef index(ExprRef array, ExprRef position) {
  return make(
      {Expr::Kind::index, Level::postfix, 0, "", {std::move(array), std::move(position)}, {}});
}
ExprRef list(std::string type, Exprs args) {
  return make({Expr::Kind::list, Level::postfix, 0, std::move(type), std::move(args), {}});
}

ExprRef compare(std::string op, ExprRef a, ExprRef b) {
  const Level level = op == "==" || op == "!=" ? Level::equality : Level::relational;
  return infix(level, std::move(op), std::move(a), std::move(b));
}
ExprRef logical_and(ExprRef a, ExprRef b) {
  return infix(Level::logical_and, "&&", std::move(a), std::move(b));
}
ExprRef logical_not(ExprRef a) {
  if (a->kind == Expr::Kind::prefix && a->text == "!") return a->args[0];
  return prefix("!", std::move(a));
}

ExprRef position_add(ExprRef a, ExprRef b) {
  std::int64_t folded = 0;
  if (a->integer && b->integer && !__builtin_add_overflow(*a->integer, *b->integer, &folded)) {
    return integer(folded);
  }
  if (a->integer) std::swap(a, b);
  if (b->integer && *b->integer == 0) return a;
  // (x + 1) + 1, (x - 1) + 1
  if (b->integer && a->kind == Expr::Kind::infix && a->level == Level::additive &&
      a->args[1]->integer) {
    const std::int64_t c = *a->args[1]->integer;
    const bool overflows = a->text == "+" ? __builtin_add_overflow(*b->integer, c, &folded)
                                          : __builtin_sub_overflow(*b->integer, c, &folded);
    if (!overflows) return position_add(a->args[0], integer(folded));
  }
  return add(std::move(a), std::move(b));
}
ExprRef position_subtract(ExprRef a, ExprRef b) {
  std::int64_t negated = 0;
  if (b->integer && !__builtin_sub_overflow(0, *b->integer, &negated)) {
    return position_add(std::move(a), integer(negated));
  }
  if (same(*a, *b)) return integer(0);
  return subtract(std::move(a), std::move(b));
}
ExprRef position_multiply(ExprRef a, ExprRef b) {
  std::int64_t folded = 0;
  if (a->integer && b->integer && !__builtin_mul_overflow(*a->integer, *b->integer, &folded)) {
    return integer(folded);
  }
  if (a->integer) std::swap(a, b);
  if (b->integer && *b->integer == 0) return b;
  if (b->integer && *b->integer == 1) return a;
  return multiply(std::move(a), std::move(b));
}

ExprRef with_args(const ExprRef& e, Exprs args) {
  // Infix once more, so that the signs of what came in are folded.
  if (e->kind == Expr::Kind::infix) {
    // i + 1 - 1
    if (e->level == Level::additive && args[1]->integer) {
      return e->text == "+" ? position_add(args[0], args[1]) : position_subtract(args[0], args[1]);
    }
    return infix(e->level, e->text, args[0], args[1]);
  }
  Expr copy = *e;
  copy.args = std::move(args);
  copy.operations = 0;
  return make(std::move(copy));
}

bool is_literal(const Expr& e) { return e.kind == Expr::Kind::literal; }
bool same(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.var != b.var || a.text != b.text || a.args.size() != b.args.size()) {
    return false;
  }
  return std::ranges::equal(a.args, b.args,
                            [](const ExprRef& x, const ExprRef& y) { return same(*x, *y); });
}
void each_read(const Expr& e, const std::function<void(VarId)>& visit) {
  if (e.kind == Expr::Kind::var) visit(e.var);
  for (const ExprRef& a : e.args) each_read(*a, visit);
}
bool reads(const Expr& e, VarId v) {
  if (e.kind == Expr::Kind::var) return e.var == v;
  return std::ranges::any_of(e.args, [&](const ExprRef& a) { return reads(*a, v); });
}
ExprRef replace(const ExprRef& e, VarId v, const ExprRef& by) {
  if (e->kind == Expr::Kind::var) return e->var == v ? by : e;
  return rebuilt(e, [&](const ExprRef& a) { return replace(a, v, by); });
}
ExprRef rename(const ExprRef& e, const std::function<VarId(VarId)>& to) {
  if (e->kind == Expr::Kind::var) return to(e->var) == e->var ? e : variable(to(e->var));
  return rebuilt(e, [&](const ExprRef& a) { return rename(a, to); });
}

}  // namespace tlaloc::cxx
