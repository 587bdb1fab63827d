// Loops over the same indices, one after the other, become one loop; a vector that is then written
// and read in one trip becomes a variable of that trip.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tlaloc/cxx/effects.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

/// Where a variable is used in statements: only as v[i], or elsewhere too.
struct Uses {
  std::uint32_t at_index = 0, stores = 0, elsewhere = 0;
  void operator+=(const Uses& o) {
    at_index += o.at_index;
    stores += o.stores;
    elsewhere += o.elsewhere;
  }
};
/// The uses of all variables, where `index` is i.
class UseTable {
 public:
  explicit UseTable(VarId index) : index_(index) {}
  const std::unordered_map<VarId, Uses>& all() const { return uses_; }
  bool elsewhere(VarId v) const {
    const auto it = uses_.find(v);
    return it != uses_.end() && it->second.elsewhere > 0;
  }
  void add(const Block& b) {
    for (const Stmt& s : b) add(s);
  }
  void add(const UseTable& o) {
    for (const auto& [v, uses] : o.uses_) uses_[v] += uses;
  }
  void add(const Stmt& s) {
    if (s.kind == Stmt::Kind::store) {
      ++(is_index(*s.position) ? uses_[s.target].stores : uses_[s.target].elsewhere);
    } else {
      each_write(s, [&](VarId w) { ++uses_[w].elsewhere; });
    }
    if (s.position) add(*s.position);
    if (s.value) add(*s.value);
    for (const Assignment& m : s.moves) add(*m.value);
    each_block(s, [&](const Block& b) { add(b); });
  }

 private:
  bool is_index(const Expr& e) const { return is_var(e) && e.var == index_; }
  void add(const Expr& e) {
    if (is_var(e)) ++uses_[e.var].elsewhere;
    if (e.kind == Expr::Kind::index && is_var(*e.args[0]) && is_index(*e.args[1])) {
      ++uses_[e.args[0]->var].at_index;
      return;
    }
    for (const ExprRef& a : e.args) add(*a);
  }
  VarId index_;
  std::unordered_map<VarId, Uses> uses_;
};

class Fuser {
 public:
  explicit Fuser(Function& f) : f_(f), mentions_(f.vars.size()) { count(f.body); }
  void block(Block& b) {
    Block out;
    std::optional<Open> open;
    for (Stmt& s : b) {
      if (open && joins(*open, s)) {
        std::ranges::move(open->behind, std::back_inserter(out));
        open->behind.clear();
        open->add(std::move(s));
        continue;
      }
      // What stands between two loops moves before both.
      if (open && s.kind == Stmt::Kind::assign && !ordered(open->effects, Effects(s))) {
        open->behind.push_back(std::move(s));
        continue;
      }
      close(open, out);
      if (s.kind == Stmt::Kind::count && s.over_indices)
        open.emplace(std::move(s));
      else
        out.push_back(std::move(s));
    }
    close(open, out);
    b = std::move(out);
    for (Stmt& s : b) each_block(s, [&](Block& inner) { block(inner); });
    to_scalars(b);
  }

 private:
  /// A loop that the next one may join, and the statements that came since.
  struct Open {
    explicit Open(Stmt s) : loop(std::move(s)), effects(loop), body(loop.body), uses(loop.target) {
      uses.add(loop.body);
    }
    /// The trips of another loop, behind those of this one.
    void add(Stmt s) {
      UseTable own(s.target);
      own.add(s.body);
      uses.add(own);
      rename(s.body, s.target, loop.target);
      for (const Stmt& inner : s.body) {
        effects.add(inner);
        body.add(inner);
      }
      std::ranges::move(s.body, std::back_inserter(loop.body));
      loop.by_element = false;
    }
    Stmt loop;
    Effects effects, body;  ///< of the loop; of its body
    UseTable uses;
    Block behind;
  };

  static void close(std::optional<Open>& open, Block& out) {
    if (!open) return;
    out.push_back(std::move(open->loop));
    std::ranges::move(open->behind, std::back_inserter(out));
    open.reset();
  }
  static bool same_indices(const Stmt& a, const Stmt& b) {
    if (!a.over_indices || !b.over_indices || a.step != b.step || !same(*a.position, *b.position))
      return false;
    return same(*a.value, *replace(b.value, b.target, variable(a.target)));
  }
  /// True if the trips of both loops may take turns.
  bool joins(const Open& a, const Stmt& b) const {
    if (b.kind != Stmt::Kind::count || !same_indices(a.loop, b)) return false;
    const Effects y(b.body);
    UseTable uses(b.target);
    uses.add(b.body);
    auto clash = [&](const VarSet& of_a, const VarSet& of_b) {
      return std::ranges::any_of(of_b, [&](VarId v) {
        const bool apart = f_.vars[v].array && !a.uses.elsewhere(v) && !uses.elsewhere(v);
        return of_a.contains(v) && !apart;
      });
    };
    return !clash(a.body.writes, y.reads) && !clash(a.body.writes, y.writes) &&
           !clash(a.body.reads, y.writes);
  }
  static void rename(Block& b, VarId from, VarId to) {
    for (Stmt& s : b) {
      each_expr(s, [&](ExprRef& e) { e = replace(e, from, variable(to)); });
      each_block(s, [&](Block& inner) { rename(inner, from, to); });
    }
  }

  /// Vectors made in b that one loop of b writes and reads trip by trip become scalars.
  void to_scalars(Block& b) {
    std::unordered_set<VarId> made;
    for (const Stmt& s : b) {
      if (allocates(f_, s)) made.insert(s.target);
    }
    if (made.empty()) return;
    std::unordered_set<VarId> gone;
    for (Stmt& s : b) {
      if (s.kind != Stmt::Kind::count) continue;
      UseTable uses(s.target);
      uses.add(s.body);
      std::unordered_set<VarId> local;
      for (const auto& [v, u] : uses.all()) {
        // Where it is made is the one mention outside of the loop.
        const bool inside = made.contains(v) && u.at_index + u.stores + 1 == mentions_[v];
        if (inside && u.stores == 1 && u.elsewhere == 0) local.insert(v);
      }
      if (!local.empty()) to_scalars(s, local, gone);
    }
    std::erase_if(b, [&](const Stmt& s) { return allocates(f_, s) && gone.contains(s.target); });
  }
  /// Those of `local` that are stored at the top level of the loop, and not read before that.
  void to_scalars(Stmt& loop, const std::unordered_set<VarId>& local,
                  std::unordered_set<VarId>& gone) {
    std::unordered_set<VarId> read;
    std::unordered_map<VarId, VarId> scalars;
    for (Stmt& s : loop.body) {
      for (const VarId v : Effects(s).reads) {
        if (!(s.kind == Stmt::Kind::store && v == s.target && !reads(*s.value, v))) read.insert(v);
      }
      if (s.kind != Stmt::Kind::store || !local.contains(s.target) || read.contains(s.target)) {
        continue;
      }
      const Var vector = f_.vars[s.target];
      Var scalar{.type = vector.type.substr(12, vector.type.size() - 13)};  // std::vector<T>
      scalar.stem = vector.stem;
      scalar.suggest(vector.name, vector.rank);
      const VarId t = f_.add_var(std::move(scalar));
      scalars.emplace(s.target, t);
      gone.insert(s.target);
      s.kind = Stmt::Kind::assign;
      s.target = t;
      s.position.reset();
    }
    if (!scalars.empty()) to_variables(loop.body, scalars);
  }
  static void to_variables(Block& b, const std::unordered_map<VarId, VarId>& scalars) {
    const std::function<ExprRef(const ExprRef&)> visit = [&](const ExprRef& e) -> ExprRef {
      if (e->kind == Expr::Kind::index && is_var(*e->args[0])) {
        const auto it = scalars.find(e->args[0]->var);
        if (it != scalars.end()) return variable(it->second);
      }
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
      each_block(s, [&](Block& inner) { to_variables(inner, scalars); });
    }
  }
  void count(const Block& b) {
    for (const Stmt& s : b) {
      auto mention = [&](VarId v) { ++mentions_[v]; };
      each_write(s, mention);
      if (s.position) each_read(*s.position, mention);
      if (s.value) each_read(*s.value, mention);
      for (const Assignment& m : s.moves) each_read(*m.value, mention);
      each_block(s, [&](const Block& inner) { count(inner); });
    }
  }

  Function& f_;
  std::vector<std::uint32_t> mentions_;  ///< of the variables that were there from the start
};

}  // namespace

void fuse_loops(Function& f) { Fuser(f).block(f.body); }

}  // namespace tlaloc::cxx
