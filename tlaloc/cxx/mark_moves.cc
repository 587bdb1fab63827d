#include <algorithm>
#include <unordered_map>

#include "tlaloc/cxx/liveness.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

void mark(Block& b, const std::unordered_map<const Stmt*, bool>& last) {
  for (Stmt& s : b) {
    const auto it = last.find(&s);
    if (it != last.end() && it->second) s.value = call("std::move", {s.value});
    each_block(s, [&](Block& inner) { mark(inner, last); });
  }
}

}  // namespace

void mark_moves(Function& f) {
  std::vector<bool> written(f.vars.size()), parameter(f.vars.size());
  const std::function<void(const Block&)> visit = [&](const Block& b) {
    for (const Stmt& s : b) {
      each_write(s, [&](VarId v) { written[v] = true; });
      each_block(s, visit);
    }
  };
  visit(f.body);
  for (VarId p : f.params) parameter[p] = true;
  // A parameter that is only read comes by reference.
  auto own = [&](VarId v) { return f.vars[v].array && (written[v] || !parameter[v]); };

  std::vector<VarId> arrays;
  for (VarId v = 0; v < f.vars.size(); ++v) {
    if (own(v)) arrays.push_back(v);
  }
  std::unordered_map<const Stmt*, bool> last;
  const Liveness* self = nullptr;
  Liveness live(f, arrays, [&](const Stmt& s, VarId, const Live& after) {
    if (s.kind != Stmt::Kind::assign || !is_var(*s.value) || !own(s.value->var)) return;
    last[&s] = !self->needed(s.value->var, after);
  });
  self = &live;
  live.run();
  mark(f.body, last);

  if (f.body.empty() || f.body.back().kind != Stmt::Kind::result) return;
  auto& results = f.body.back().moves;
  for (std::size_t k = 0; results.size() > 1 && k < results.size(); ++k) {
    const ExprRef e = results[k].value;
    if (!is_var(*e) || !own(e->var)) continue;
    const bool again =
        std::any_of(results.begin() + static_cast<std::ptrdiff_t>(k) + 1, results.end(),
                    [&](const Assignment& m) { return reads(*m.value, e->var); });
    if (!again) results[k].value = call("std::move", {e});
  }
}

}  // namespace tlaloc::cxx
