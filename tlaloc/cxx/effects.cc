#include "tlaloc/cxx/effects.h"

#include <algorithm>

namespace tlaloc::cxx {

void Effects::add(const Stmt& s) {
  each_read(s, [&](VarId v) { reads.insert(v); });
  each_write(s, [&](VarId v) { writes.insert(v); });
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) add(inner);
  });
}
bool meet(const VarSet& a, const VarSet& b) {
  if (a.size() > b.size()) return meet(b, a);
  return std::ranges::any_of(a, [&](VarId v) { return b.contains(v); });
}
bool ordered(const Effects& a, const Effects& b) {
  return meet(a.writes, b.reads) || meet(a.writes, b.writes) || meet(a.reads, b.writes);
}

}  // namespace tlaloc::cxx
