// Coalescing as in a register allocator: two variables interfere where one is written while the
// other is still needed; copies between variables that don't interfere vanish.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "tlaloc/cxx/liveness.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

struct Copy {
  VarId a, b;
  int depth;
};
void find_copies(const Block& body, int depth, std::vector<Copy>& copies) {
  for (const Stmt& s : body) {
    if (s.kind == Stmt::Kind::assign && is_var(*s.value) && s.value->var != s.target) {
      copies.push_back({s.target, s.value->var, depth});
    }
    if (s.like) copies.push_back({s.target, *s.like, depth});
    const bool loop = s.kind == Stmt::Kind::loop || s.kind == Stmt::Kind::count;
    each_block(s, [&](const Block& b) { find_copies(b, depth + loop, copies); });
  }
}

void count_writes(const Block& b, std::vector<int>& writes) {
  for (const Stmt& s : b) {
    each_write(s, [&](VarId v) { ++writes[v]; });
    each_block(s, [&](const Block& inner) { count_writes(inner, writes); });
  }
}

std::vector<VarId> variables_of(const std::vector<Copy>& copies) {
  std::vector<VarId> r;
  for (const Copy& c : copies) r.insert(r.end(), {c.a, c.b});
  return r;
}
/// The candidate that the statement copies, or -1: what the other one holds stays the same.
int copied_by(const Liveness& live, const Stmt& s) {
  if (s.like) return live.number(*s.like);
  return s.kind == Stmt::Kind::assign && is_var(*s.value) ? live.number(s.value->var) : -1;
}

/// Drops the copies of which one side is written while the other is needed: they stay copies, and
/// what is kept for long need not be compared with everything else.
void drop_hopeless(const Function& f, std::vector<Copy>& copies) {
  std::unordered_map<VarId, std::vector<VarId>> partners;
  for (const Copy& c : copies) {
    partners[c.a].push_back(c.b);
    partners[c.b].push_back(c.a);
  }
  std::set<std::pair<VarId, VarId>> met;
  const Liveness* self = nullptr;
  Liveness live(f, variables_of(copies), [&](const Stmt& s, VarId v, const Live& after) {
    const int copied = copied_by(*self, s);
    for (const VarId other : partners[v]) {
      const int k = self->number(other);
      if (other != v && after[k] && k != copied && !self->exempt(self->number(v), k)) {
        met.insert(std::minmax(v, other));
      }
    }
  });
  self = &live;
  live.run();
  std::erase_if(copies, [&](const Copy& c) { return met.contains(std::minmax(c.a, c.b)); });
}

/// Which candidates are written while others are needed.
class Interference {
 public:
  Interference(const Function& f, const std::vector<VarId>& candidates)
      : live_(f, candidates,
              [this](const Stmt& s, VarId v, const Live& after) { meet(s, v, after); }) {
    with_.resize(static_cast<std::size_t>(live_.size()));
    live_.run();
  }
  int number(VarId v) const { return live_.number(v); }
  std::size_t size() const { return with_.size(); }
  const std::set<int>& with(int i) const { return with_[static_cast<std::size_t>(i)]; }

 private:
  void meet(const Stmt& s, VarId v, const Live& after) {
    const int i = live_.number(v);
    const int copied = copied_by(live_, s);
    after.each([&](int k) {
      if (k == i || k == copied || live_.exempt(i, k)) return;
      with_[static_cast<std::size_t>(i)].insert(k);
      with_[static_cast<std::size_t>(k)].insert(i);
    });
  }
  Liveness live_;
  std::vector<std::set<int>> with_;
};

/// Classes of variables that become one.
class Classes {
 public:
  Classes(const Function& f, const Interference& live)
      : f_(f), live_(live), parent_(live.size()), member_(live.size()) {
    for (std::size_t k = 0; k < parent_.size(); ++k) {
      parent_[k] = static_cast<int>(k);
      member_[k] = {static_cast<int>(k)};
    }
  }
  int root(int i) const {
    while (parent_[static_cast<std::size_t>(i)] != i) i = parent_[static_cast<std::size_t>(i)];
    return i;
  }
  bool join(VarId a, VarId b, std::vector<VarId>& representative) {
    int x = root(live_.number(a)), y = root(live_.number(b));
    if (x == y) return true;
    VarId& rx = representative[static_cast<std::size_t>(x)];
    VarId& ry = representative[static_cast<std::size_t>(y)];
    const Var &vx = f_.vars[rx], &vy = f_.vars[ry];
    if (vx.type != vy.type) return false;
    const bool both_named = vx.rank >= NameRank::user && vy.rank >= NameRank::user;
    if (both_named && vx.name != vy.name) return false;
    for (int m : member_[static_cast<std::size_t>(x)]) {
      for (int n : member_[static_cast<std::size_t>(y)]) {
        if (live_.with(m).contains(n)) return false;
      }
    }
    // The better name stays.
    if (vy.rank > vx.rank) std::swap(x, y);
    auto& into = member_[static_cast<std::size_t>(x)];
    auto& from = member_[static_cast<std::size_t>(y)];
    into.insert(into.end(), from.begin(), from.end());
    from.clear();
    parent_[static_cast<std::size_t>(y)] = x;
    return true;
  }

 private:
  const Function& f_;
  const Interference& live_;
  std::vector<int> parent_;
  std::vector<std::vector<int>> member_;
};

/// The vector whose elements a loop over elements reads where it stores to another of its shape.
std::optional<VarId> read_in_place(const Function& f, const Stmt& loop, VarId target) {
  const Stmt* store = find_store(loop);
  if (!loop.by_element || !store || store->target != target) return std::nullopt;
  std::optional<VarId> found;
  const std::function<void(const Expr&)> look = [&](const Expr& e) {
    if (e.kind == Expr::Kind::index && is_var(*e.args[0]) && same(*e.args[1], *store->position)) {
      const VarId u = e.args[0]->var;
      const Var& v = f.vars[u];
      const bool parameter = std::ranges::find(f.params, u) != f.params.end();
      // Only a vector that nobody named: another one keeps what it stands for.
      const bool fits = v.type == f.vars[target].type && v.shape == f.vars[target].shape;
      if (fits && !found && u != target && !parameter && v.rank < NameRank::user) found = u;
    }
    for (const ExprRef& a : e.args) look(*a);
  };
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    if (s.value) look(*s.value);
    each_block(s, [&](const Block& b) { std::ranges::for_each(b, visit); });
  };
  visit(loop);
  return found;
}
void find_likely(const Function& f, Block& b) {
  for (std::size_t k = 0; k < b.size(); ++k) {
    if (k + 1 < b.size() && allocates(f, b[k])) b[k].like = read_in_place(f, b[k + 1], b[k].target);
    each_block(b[k], [&](Block& inner) { find_likely(f, inner); });
  }
}

void rename_all(Block& b, const std::vector<VarId>& to) {
  std::erase_if(b, [&](Stmt& s) {
    if (s.like && to[*s.like] == to[s.target]) return true;
    s.like.reset();
    s.target = to[s.target];
    each_expr(s, [&](ExprRef& e) { e = rename(e, [&](VarId v) { return to[v]; }); });
    for (Assignment& m : s.moves) m.target = to[m.target];
    each_block(s, [&](Block& inner) { rename_all(inner, to); });
    return s.kind == Stmt::Kind::assign && is_var(*s.value) && s.value->var == s.target;
  });
}

}  // namespace

void join_variables(Function& f) {
  if (f.vars.empty()) return;  // statements without a target are read as if it were the first one
  find_likely(f, f.body);
  std::vector<Copy> copies;
  find_copies(f.body, 0, copies);
  drop_hopeless(f, copies);
  const Interference live(f, variables_of(copies));
  Classes classes(f, live);
  std::ranges::stable_sort(copies, [](const Copy& a, const Copy& b) { return a.depth > b.depth; });
  std::vector<VarId> representative(live.size());
  for (const Copy& c : copies) {
    representative[static_cast<std::size_t>(live.number(c.a))] = c.a;
    representative[static_cast<std::size_t>(live.number(c.b))] = c.b;
  }
  std::vector<int> writes(f.vars.size());
  count_writes(f.body, writes);
  for (VarId p : f.params) writes[p] = 2;
  for (const Copy& c : copies) {
    // A value that is computed once and read more than once keeps its name.
    const bool value = !f.vars[c.b].array && writes[c.b] == 1;
    if (!value) classes.join(c.a, c.b, representative);
  }
  std::vector<VarId> to(f.vars.size());
  for (VarId v = 0; v < to.size(); ++v) {
    to[v] = v;
    if (live.number(v) < 0) continue;
    to[v] = representative[static_cast<std::size_t>(classes.root(live.number(v)))];
    Var& into = f.vars[to[v]];
    into.counter = into.counter || f.vars[v].counter;
    into.history = into.history || f.vars[v].history;
  }
  rename_all(f.body, to);
}

}  // namespace tlaloc::cxx
