#include "tlaloc/cxx/liveness.h"

#include <algorithm>

namespace tlaloc::cxx {

Liveness::Liveness(const Function& f, const std::vector<VarId>& candidates, OnWrite on_write)
    : f_(f), on_write_(std::move(on_write)), number_(f.vars.size(), -1) {
  for (VarId v : candidates) {
    if (number_[v] >= 0) continue;
    number_[v] = static_cast<int>(vars_.size());
    vars_.push_back(v);
  }
}
void Liveness::run() { block(f_.body, Live(size())); }

void Liveness::read(const Expr& e, Live& live) const {
  each_read(e, [&](VarId v) { use(v, live); });
}
void Liveness::use(VarId v, Live& live) const {
  if (number_[v] >= 0) live.insert(number_[v]);
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
      if (number_[s.target] >= 0) live.erase(number_[s.target]);
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
      Live in = block(s.body, live);
      in |= block(s.other, std::move(live));
      read(*s.value, in);
      return in;
    }
    case K::loop:
      return loop(s, live);
    case K::count: {
      const bool entered = enter_elementwise(s, live);
      live = loop(s, live);
      if (entered) elementwise_.pop_back();
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
    Live test = block(s.body, head);
    test |= after;
    read(*s.value, test);
    test = block(s.before, std::move(test));
    test |= head;
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
bool Liveness::enter_elementwise(const Stmt& s, const Live& after) {
  const Stmt* store = s.by_element ? find_store(s) : nullptr;
  if (!store || number_[store->target] < 0) return false;
  elementwise_.push_back({number_[store->target], after, {}});
  find_other_reads(s, *store->position, elementwise_.back().elsewhere);
  return true;
}
bool Liveness::exempt(int t, int other) const {
  return std::ranges::any_of(elementwise_, [&](const Elementwise& e) {
    return e.target == t && !e.after[other] && !e.elsewhere.contains(other);
  });
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
