// A history that is filled in an inner loop only to be put behind an outer one: the inner loop
// writes to the outer one directly.
#include <algorithm>

#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

struct Uses {
  int pushes = 0, starts = 0, appended = 0, lengths = 0, others = 0;
};
void count_lengths(const Expr& e, VarId v, Uses& u) {
  if (e.kind == Expr::Kind::call && e.text == "std::ssize" && is_var(*e.args[0]) &&
      e.args[0]->var == v) {
    ++u.lengths;
    return;
  }
  if (is_var(e) && e.var == v) ++u.others;
  for (const ExprRef& a : e.args) count_lengths(*a, v, u);
}
void count_uses(const Block& b, VarId v, Uses& u) {
  for (const Stmt& s : b) {
    using K = Stmt::Kind;
    const bool targets = s.target == v;
    if (s.kind == K::push && targets)
      ++u.pushes;
    else if (s.kind == K::assign && targets)
      ++(s.value->kind == Expr::Kind::list && s.value->args.empty() ? u.starts : u.others);
    else if ((s.kind == K::store || s.kind == K::append) && targets)
      ++u.others;
    if (s.kind == K::append && is_var(*s.value) && s.value->var == v) {
      ++u.appended;
    } else {
      if (s.position) count_lengths(*s.position, v, u);
      if (s.value) count_lengths(*s.value, v, u);
      for (const Assignment& m : s.moves) count_lengths(*m.value, v, u);
    }
    each_block(s, [&](const Block& inner) { count_uses(inner, v, u); });
  }
}
void retarget(Block& b, VarId from, VarId to, const ExprRef& length) {
  for (Stmt& s : b) {
    if (s.kind == Stmt::Kind::push && s.target == from) s.target = to;
    const std::function<ExprRef(const ExprRef&)> visit = [&](const ExprRef& e) -> ExprRef {
      if (e->kind == Expr::Kind::call && e->text == "std::ssize" && is_var(*e->args[0]) &&
          e->args[0]->var == from) {
        return length;
      }
      Exprs args;
      bool changed = false;
      for (const ExprRef& a : e->args) {
        args.push_back(visit(a));
        changed = changed || args.back() != a;
      }
      return changed ? with_args(e, std::move(args)) : e;
    };
    each_expr(s, [&](ExprRef& e) { e = visit(e); });
    each_block(s, [&](Block& inner) { retarget(inner, from, to, length); });
  }
}

void block(Function& f, Block& b) {
  for (Stmt& s : b) each_block(s, [&](Block& inner) { block(f, inner); });
  for (std::size_t k = 0; k < b.size(); ++k) {
    if (b[k].kind != Stmt::Kind::append || !is_var(*b[k].value)) continue;
    const VarId inner = b[k].value->var, outer = b[k].target;
    if (f.vars[inner].type != f.vars[outer].type) continue;
    Uses u, here, of_outer;
    count_uses(f.body, inner, u);
    count_uses(b, inner, here);
    count_uses(b, outer, of_outer);
    if (u.starts != 1 || u.appended != 1 || u.others > 0 || u.pushes != here.pushes ||
        u.lengths != here.lengths)
      continue;
    if (of_outer.pushes + of_outer.starts + of_outer.lengths > 0 || of_outer.others != 1) continue;
    const auto start = std::ranges::find_if(
        b, [&](const Stmt& s) { return s.kind == Stmt::Kind::assign && s.target == inner; });
    if (start == b.end()) continue;
    ExprRef length;
    if (u.lengths > 0) {
      Var v{.type = "std::int64_t"};
      v.suggest("start", NameRank::value);
      const VarId before = f.add_var(std::move(v));
      const ExprRef now = call("std::ssize", {variable(outer)});
      length = subtract(now, variable(before));
      start->target = before;
      start->value = now;
    }
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(k));
    if (u.lengths == 0) {
      b.erase(start);
      --k;
    }
    --k;
    retarget(b, inner, outer, length);
  }
}

}  // namespace

void flatten_histories(Function& f) { block(f, f.body); }

}  // namespace tlaloc::cxx
