// Loops over the same indices, one after the other, become one loop; a vector that is then written
// and read in one trip becomes a variable of that trip.
#include <algorithm>

#include "tlaloc/cxx/effects.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

/// Where v is used in statements: only as v[i], or elsewhere too.
struct Uses {
  int at_index = 0, stores = 0, elsewhere = 0;
};
class UseCounter {
 public:
  UseCounter(VarId v, VarId index) : v_(v), index_(index) {}
  Uses uses;
  void add(const Stmt& s) {
    const bool target = s.target == v_ && s.kind != Stmt::Kind::count;
    if (s.kind == Stmt::Kind::store && target) {
      is_index(*s.position) ? ++uses.stores : ++uses.elsewhere;
    } else {
      each_write(s, [&](VarId w) { uses.elsewhere += w == v_; });
    }
    if (s.position) add(*s.position);
    if (s.value) add(*s.value);
    for (const Assignment& m : s.moves) add(*m.value);
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) add(inner);
    });
  }

 private:
  bool is_index(const Expr& e) const { return is_var(e) && e.var == index_; }
  void add(const Expr& e) {
    if (is_var(e) && e.var == v_) ++uses.elsewhere;
    if (e.kind == Expr::Kind::index && is_var(*e.args[0]) && e.args[0]->var == v_ &&
        is_index(*e.args[1])) {
      ++uses.at_index;
      return;
    }
    for (const ExprRef& a : e.args) add(*a);
  }
  VarId v_, index_;
};

class Fuser {
 public:
  explicit Fuser(Function& f) : f_(f) {}
  void block(Block& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      while (fuse_next(b, k)) {
      }
    }
    for (Stmt& s : b) each_block(s, [&](Block& inner) { block(inner); });
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (allocates(f_, b[k]) && to_scalar(b, k)) --k;
    }
  }

 private:
  static bool same_indices(const Stmt& a, const Stmt& b) {
    if (!a.over_indices || !b.over_indices || a.step != b.step || !same(*a.position, *b.position))
      return false;
    return same(*a.value, *replace(b.value, b.target, variable(a.target)));
  }
  /// True if the trips of both loops may take turns.
  bool independent(const Stmt& a, const Stmt& b) const {
    const Effects x(a.body), y(b.body);
    auto apart = [&](VarId v) {
      if (!f_.vars[v].array) return false;
      UseCounter in_a(v, a.target), in_b(v, b.target);
      for (const Stmt& s : a.body) in_a.add(s);
      for (const Stmt& s : b.body) in_b.add(s);
      return in_a.uses.elsewhere == 0 && in_b.uses.elsewhere == 0;
    };
    auto clash = [&](const VarSet& written, const VarSet& touched) {
      return std::ranges::any_of(written,
                                 [&](VarId v) { return touched.contains(v) && !apart(v); });
    };
    return !clash(x.writes, y.reads) && !clash(x.writes, y.writes) && !clash(y.writes, x.reads);
  }

  /// Fuses the next loop over the same indices into b[k], which may move back.
  bool fuse_next(Block& b, std::size_t& k) {
    if (b[k].kind != Stmt::Kind::count || !b[k].over_indices) return false;
    std::size_t m = k + 1;
    const Effects first(b[k]);
    for (; m < b.size(); ++m) {
      if (b[m].kind == Stmt::Kind::count && same_indices(b[k], b[m])) break;
      // What stands between moves before both.
      if (b[m].kind != Stmt::Kind::assign || ordered(first, Effects(b[m]))) return false;
    }
    if (m == b.size() || !independent(b[k], b[m])) return false;
    Stmt fused = std::move(b[k]);
    fused.by_element = false;
    const VarId from = b[m].target, to = fused.target;
    Block second = std::move(b[m].body);
    rename(second, from, to);
    std::ranges::move(second, std::back_inserter(fused.body));
    for (std::size_t t = k + 1; t < m; ++t) b[t - 1] = std::move(b[t]);
    b[m - 1] = std::move(fused);
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(m));
    k = m - 1;
    return true;
  }
  static void rename(Block& b, VarId from, VarId to) {
    for (Stmt& s : b) {
      each_expr(s, [&](ExprRef& e) { e = replace(e, from, variable(to)); });
      each_block(s, [&](Block& inner) { rename(inner, from, to); });
    }
  }

  /// The vector made at b[k] becomes a scalar, if one loop of b writes and reads it trip by trip.
  bool to_scalar(Block& b, std::size_t k) {
    const VarId v = b[k].target;
    Stmt* loop = nullptr;
    Uses all;
    count_all(f_.body, v, all);
    for (Stmt& s : b) {
      if (s.kind != Stmt::Kind::count) continue;
      UseCounter here(v, s.target);
      for (const Stmt& inner : s.body) here.add(inner);
      // The allocation is the one use elsewhere.
      if (here.uses.stores == 1 && here.uses.elsewhere == 0 &&
          here.uses.at_index + here.uses.stores + 1 == all.elsewhere) {
        loop = &s;
      }
    }
    if (!loop) return false;
    const auto store = std::ranges::find_if(
        loop->body, [&](const Stmt& s) { return s.kind == Stmt::Kind::store && s.target == v; });
    // Stored at the top level of the loop, and not read before that.
    if (store == loop->body.end()) return false;
    UseCounter before(v, loop->target);
    for (auto s = loop->body.begin(); s != store; ++s) before.add(*s);
    if (before.uses.at_index > 0 || reads(*store->value, v)) return false;
    const std::string& type = f_.vars[v].type;
    Var scalar{.type = type.substr(12, type.size() - 13)};  // std::vector<T>
    scalar.stem = f_.vars[v].stem;
    scalar.suggest(f_.vars[v].name, f_.vars[v].rank);
    const VarId t = f_.add_var(std::move(scalar));
    store->kind = Stmt::Kind::assign;
    store->target = t;
    store->position.reset();
    const ExprRef element = index(variable(v), variable(loop->target));
    to_variable(loop->body, *element, variable(t));
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(k));
    return true;
  }
  static void count_all(const Block& b, VarId v, Uses& u) {
    for (const Stmt& s : b) {
      each_write(s, [&](VarId w) { u.elsewhere += w == v; });
      if (s.position) each_read(*s.position, [&](VarId r) { u.elsewhere += r == v; });
      if (s.value) each_read(*s.value, [&](VarId r) { u.elsewhere += r == v; });
      for (const Assignment& m : s.moves)
        each_read(*m.value, [&](VarId r) { u.elsewhere += r == v; });
      each_block(s, [&](const Block& inner) { count_all(inner, v, u); });
    }
  }
  static void to_variable(Block& b, const Expr& element, const ExprRef& by) {
    const std::function<ExprRef(const ExprRef&)> visit = [&](const ExprRef& e) -> ExprRef {
      if (same(*e, element)) return by;
      Exprs args;
      bool changed = false;
      for (const ExprRef& a : e->args) {
        args.push_back(visit(a));
        changed = changed || args.back() != a;
      }
      return changed ? with_args(e, std::move(args)) : e;
    };
    for (Stmt& s : b) {
      each_expr(s, [&](ExprRef& e) { e = visit(e); });
      each_block(s, [&](Block& inner) { to_variable(inner, element, by); });
    }
  }

  Function& f_;
};

}  // namespace

void fuse_loops(Function& f) { Fuser(f).block(f.body); }

}  // namespace tlaloc::cxx
