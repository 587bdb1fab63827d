// Which variables are still needed, at every write: backwards over structured code.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

/// By candidate number.
using Live = std::vector<bool>;

class Liveness {
 public:
  /// Called for every write of a candidate with what is needed after it. Statements in loops are
  /// visited until nothing changes: the last call counts.
  using OnWrite = std::function<void(const Stmt& s, VarId v, const Live& after)>;

  /// `candidates`: the variables to follow. `on_write` may be empty.
  Liveness(const Function& f, const std::vector<VarId>& candidates, OnWrite on_write);
  void run();

  /// The number of a candidate, or -1.
  int number(VarId v) const { return number_[v]; }
  VarId var(int i) const { return vars_[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(vars_.size()); }
  bool needed(VarId v, const Live& live) const {
    return number_[v] >= 0 && live[static_cast<std::size_t>(number_[v])];
  }
  /// Candidates that may share a vector with target `t` while a loop over elements runs.
  bool exempt(int t, int other) const { return exempt_.contains({t, other}); }

 private:
  void read(const Expr& e, Live& live) const;
  void use(VarId v, Live& live) const;
  void write(const Stmt& s, VarId v, const Live& live);
  Live block(const Block& b, Live live);
  Live statement(const Stmt& s, Live live);
  Live loop(const Stmt& s, const Live& after);
  std::vector<std::pair<int, int>> exempt_elementwise(const Stmt& s, const Live& after);
  void find_other_reads(const Stmt& s, const Expr& position, std::set<int>& found) const;

  const Function& f_;
  OnWrite on_write_;
  std::vector<int> number_;
  std::vector<VarId> vars_;
  std::set<std::pair<int, int>> exempt_;
};

/// The innermost store of a loop over elements; null if there is none.
const Stmt* find_store(const Stmt& s);

}  // namespace tlaloc::cxx
