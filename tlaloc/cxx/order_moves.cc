#include <algorithm>

#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

Stmt assignment(VarId target, ExprRef value) {
  Stmt s{Stmt::Kind::assign, target};
  s.value = std::move(value);
  return s;
}

void order(Function& f, std::vector<Assignment> moves, Block& out) {
  std::erase_if(moves,
                [](const Assignment& m) { return is_var(*m.value) && m.value->var == m.target; });
  // What counts the trips stands at the end: nothing else changes what it reads.
  const auto counters = std::ranges::stable_partition(
      moves, [&](const Assignment& m) { return !f.vars[m.target].counter; });
  const std::vector<Assignment> last(counters.begin(), counters.end());
  moves.erase(counters.begin(), counters.end());

  while (!moves.empty()) {
    auto blocked = [&](const Assignment& m) {
      return std::ranges::any_of(moves, [&](const Assignment& other) {
        return &other != &m && reads(*other.value, m.target);
      });
    };
    // Copies come last: they may turn out to be no copies, when nothing reads the old value then.
    auto free = std::ranges::find_if(
        moves, [&](const Assignment& m) { return !is_var(*m.value) && !blocked(m); });
    if (free == moves.end()) {
      free = std::ranges::find_if(moves, [&](const Assignment& m) { return !blocked(m); });
    }
    if (free != moves.end()) {
      out.push_back(assignment(free->target, free->value));
      moves.erase(free);
      continue;
    }
    // A cycle. A value that is computed anyway is computed first; else an old value is kept, of a
    // scalar rather than of a vector.
    auto pick = std::ranges::find_if(moves, [](const Assignment& m) { return !is_var(*m.value); });
    const bool computed = pick != moves.end();
    if (!computed) {
      pick =
          std::ranges::find_if(moves, [&](const Assignment& m) { return !f.vars[m.target].array; });
    }
    if (pick == moves.end()) pick = moves.begin();
    const VarId target = pick->target;
    Var extra{.type = f.vars[target].type, .array = f.vars[target].array};
    const std::string& name = f.vars[target].name;
    if (!name.empty()) extra.suggest((computed ? "next_" : "old_") + name, NameRank::value);
    const VarId kept = f.add_var(std::move(extra));
    if (computed) {
      out.push_back(assignment(kept, pick->value));
      pick->value = variable(kept);
    } else {
      out.push_back(assignment(kept, variable(target)));
      for (Assignment& m : moves) {
        if (m.target != target) m.value = replace(m.value, target, variable(kept));
      }
    }
  }
  for (const Assignment& m : last) out.push_back(assignment(m.target, m.value));
}

void visit(Function& f, Block& b) {
  Block out;
  for (Stmt& s : b) {
    each_block(s, [&](Block& inner) { visit(f, inner); });
    if (s.kind == Stmt::Kind::parallel)
      order(f, std::move(s.moves), out);
    else
      out.push_back(std::move(s));
  }
  b = std::move(out);
}

}  // namespace

void order_moves(Function& f) { visit(f, f.body); }

}  // namespace tlaloc::cxx
