#include "tlaloc/cxx/liveness.h"

namespace tlaloc::cxx {
namespace {

Live either(Live a, const Live& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = a[k] || b[k];
  return a;
}

}  // namespace

Liveness::Liveness(const Function& f, const std::vector<VarId>& candidates, OnWrite on_write)
    : f_(f), on_write_(std::move(on_write)), number_(f.vars.size(), -1) {
  for (VarId v : candidates) {
    if (number_[v] >= 0) continue;
    number_[v] = static_cast<int>(vars_.size());
    vars_.push_back(v);
  }
}
void Liveness::run() { block(f_.body, Live(vars_.size())); }

void Liveness::read(const Expr& e, Live& live) const {
  each_read(e, [&](VarId v) { use(v, live); });
}
void Liveness::use(VarId v, Live& live) const {
  if (number_[v] >= 0) live[static_cast<std::size_t>(number_[v])] = true;
}
void Liveness::write(const Stmt& s, VarId v, const Live& live) {
  if (number_[v] >= 0 && on_write_) on_write_(s, v, live);
}
Live Liveness::block(const Block& b, Live live) {
  for (std::size_t k = b.size(); k-- > 0;) live = statement(b[k], std::move(live));
  return live;
}

Live Liveness::statement(const Stmt& s, Live live) {
  using K = Stmt::Kind;
  switch (s.kind) {
    case K::assign:
      write(s, s.target, live);
      if (number_[s.target] >= 0) live[static_cast<std::size_t>(number_[s.target])] = false;
      read(*s.value, live);
      return live;
    case K::store:
    case K::push:
    case K::append:
      write(s, s.target, live);
      use(s.target, live);
      if (s.position) read(*s.position, live);
      read(*s.value, live);
      return live;
    case K::branch: {
      Live in = either(block(s.body, live), block(s.other, live));
      read(*s.value, in);
      return in;
    }
    case K::loop:
      return loop(s, live);
    case K::count: {
      const auto added = exempt_elementwise(s, live);
      live = loop(s, live);
      for (const auto& pair : added) exempt_.erase(pair);
      read(*s.position, live);
      return live;
    }
    default:
      for (const Assignment& m : s.moves) read(*m.value, live);
      if (s.value) read(*s.value, live);
      return live;
  }
}
Live Liveness::loop(const Stmt& s, const Live& after) {
  Live head = after;
  for (;;) {
    Live test = either(after, block(s.body, head));
    read(*s.value, test);
    test = either(block(s.before, test), head);
    if (s.kind == Stmt::Kind::count) write(s, s.target, test);
    if (test == head) return head;
    head = std::move(test);
  }
}

const Stmt* find_store(const Stmt& s) {
  if (s.kind == Stmt::Kind::store) return &s;
  const Stmt* found = nullptr;
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) {
      if (const Stmt* store = find_store(inner)) found = store;
    }
  });
  return found;
}

/// In a loop that stores to t[p] and reads u only as u[p], t and u may be one vector, unless u is
/// needed afterwards.
std::vector<std::pair<int, int>> Liveness::exempt_elementwise(const Stmt& s, const Live& after) {
  std::vector<std::pair<int, int>> added;
  const Stmt* store = s.by_element ? find_store(s) : nullptr;
  if (!store || number_[store->target] < 0) return added;
  std::set<int> elsewhere;
  find_other_reads(s, *store->position, elsewhere);
  for (int u = 0; u < size(); ++u) {
    if (after[static_cast<std::size_t>(u)] || elsewhere.contains(u)) continue;
    const std::pair<int, int> pair(number_[store->target], u);
    if (exempt_.insert(pair).second) added.push_back(pair);
  }
  return added;
}
void Liveness::find_other_reads(const Stmt& s, const Expr& position, std::set<int>& found) const {
  const std::function<void(const Expr&)> look = [&](const Expr& e) {
    if (is_var(e) && number_[e.var] >= 0) found.insert(number_[e.var]);
    if (e.kind == Expr::Kind::index && is_var(*e.args[0]) && same(*e.args[1], position)) return;
    for (const ExprRef& a : e.args) look(*a);
  };
  if (s.position) look(*s.position);
  if (s.value) look(*s.value);
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) find_other_reads(inner, position, found);
  });
}

}  // namespace tlaloc::cxx
