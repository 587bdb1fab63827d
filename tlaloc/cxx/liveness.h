// Which variables are still needed, at every write: backwards over structured code.
#pragma once

#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

/// A set of candidates, by number.
class Live {
 public:
  explicit Live(int count) : words_((static_cast<std::size_t>(count) + 63) / 64) {}
  bool operator[](int i) const { return (words_[word(i)] & bit(i)) != 0; }
  void insert(int i) { words_[word(i)] |= bit(i); }
  void erase(int i) { words_[word(i)] &= ~bit(i); }
  Live& operator|=(const Live& o) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= o.words_[k];
    return *this;
  }
  bool operator==(const Live&) const = default;
  template <class F>
  void each(const F& visit) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      for (std::uint64_t w = words_[k]; w != 0; w &= w - 1) {
        visit(static_cast<int>(64 * k) + std::countr_zero(w));
      }
    }
  }

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static std::uint64_t bit(int i) { return std::uint64_t{1} << (i % 64); }
  std::vector<std::uint64_t> words_;
};

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
  bool needed(VarId v, const Live& live) const { return number_[v] >= 0 && live[number_[v]]; }
  /// Candidates that may share a vector with target `t` while a loop over elements runs.
  bool exempt(int t, int other) const;

 private:
  void read(const Expr& e, Live& live) const;
  void use(VarId v, Live& live) const;
  void write(const Stmt& s, VarId v, const Live& live);
  Live block(const Block& b, Live live);
  Live statement(const Stmt& s, Live live);
  Live loop(const Stmt& s, const Live& after);
  bool enter_elementwise(const Stmt& s, const Live& after);
  void find_other_reads(const Stmt& s, const Expr& position, std::set<int>& found) const;

  const Function& f_;
  OnWrite on_write_;
  std::vector<int> number_;
  std::vector<VarId> vars_;
  /// A loop over elements that stores to `target`, while it is visited.
  struct Elementwise {
    int target;
    Live after;               ///< what is needed behind it
    std::set<int> elsewhere;  ///< read otherwise than at the element that is stored
  };
  std::vector<Elementwise> elementwise_;
};

/// The innermost store of a loop over elements; null if there is none.
const Stmt* find_store(const Stmt& s);

}  // namespace tlaloc::cxx
