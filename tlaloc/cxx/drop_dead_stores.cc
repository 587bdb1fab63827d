#include <unordered_map>

#include "tlaloc/cxx/liveness.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

void count_writes(const Block& b, std::vector<int>& writes) {
  for (const Stmt& s : b) {
    if (s.kind == Stmt::Kind::assign) ++writes[s.target];
    each_block(s, [&](const Block& inner) { count_writes(inner, writes); });
  }
}
void drop(Block& b, const std::unordered_map<const Stmt*, bool>& dead) {
  Block out;
  for (Stmt& s : b) {
    const auto it = dead.find(&s);
    if (it != dead.end() && it->second) continue;
    each_block(s, [&](Block& inner) { drop(inner, dead); });
    out.push_back(std::move(s));
  }
  b = std::move(out);
}

}  // namespace

void drop_dead_stores(Function& f) {
  for (;;) {
    std::vector<int> writes(f.vars.size());
    count_writes(f.body, writes);
    std::vector<VarId> candidates;
    for (VarId v = 0; v < writes.size(); ++v) {
      if (writes[v] > 0) candidates.push_back(v);
    }
    std::unordered_map<const Stmt*, bool> dead;
    bool any = false;
    const Liveness* self = nullptr;
    Liveness live(f, candidates, [&](const Stmt& s, VarId v, const Live& after) {
      if (s.kind == Stmt::Kind::assign) dead[&s] = !self->needed(v, after);
    });
    self = &live;
    live.run();
    for (const auto& [s, is_dead] : dead) any = any || is_dead;
    if (!any) return;
    drop(f.body, dead);
  }
}

}  // namespace tlaloc::cxx
