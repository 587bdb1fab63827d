// What statements read and write, blocks inside included.
#pragma once

#include <unordered_set>

#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

using VarSet = std::unordered_set<VarId>;

struct Effects {
  VarSet reads, writes;
  explicit Effects(const Stmt& s) { add(s); }
  explicit Effects(const Block& b) {
    for (const Stmt& s : b) add(s);
  }
  void add(const Stmt& s);
};
bool meet(const VarSet& a, const VarSet& b);
/// True if the two may not change places.
bool ordered(const Effects& a, const Effects& b);

}  // namespace tlaloc::cxx
