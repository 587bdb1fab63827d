#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>

#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

// An expression grows up to this many operators and characters: about what one line of code that
// was written by hand holds.
constexpr std::uint32_t kMaxOperations = 6;
constexpr std::uint32_t kMaxWidth = 56;

struct Counts {
  std::vector<std::uint32_t> reads, writes;
};
void count(const Block& b, Counts& c) {
  for (const Stmt& s : b) {
    each_read(s, [&](VarId v) { ++c.reads[v]; });
    each_write(s, [&](VarId v) { ++c.writes[v]; });
    each_block(s, [&](const Block& inner) { count(inner, c); });
  }
}
std::uint32_t reads_in(const Expr& e, VarId v) {
  std::uint32_t n = 0;
  each_read(e, [&](VarId r) { n += r == v; });
  return n;
}
/// Visits what the block and the blocks inside it read.
void each_read_deep(const Block& b, const std::function<void(VarId)>& visit) {
  for (const Stmt& s : b) {
    each_read(s, visit);
    each_block(s, [&](const Block& inner) { each_read_deep(inner, visit); });
  }
}
bool has_ternary(const Expr& e) {
  return e.kind == Expr::Kind::ternary ||
         std::ranges::any_of(e.args, [](const ExprRef& a) { return has_ternary(*a); });
}
/// var, literal, or one + or - of these: fine to read twice.
bool trivial(const Expr& e) {
  if (is_var(e) || is_literal(e)) return true;
  return e.kind == Expr::Kind::infix && e.level == Level::additive &&
         std::ranges::all_of(e.args, [](const ExprRef& a) { return is_var(*a) || is_literal(*a); });
}
bool is_size(const Expr& e) { return e.kind == Expr::Kind::call && e.text == "std::ssize"; }

/// Vectors that copies connect: after update in place they may turn out to be one.
class Aliases {
 public:
  explicit Aliases(const Function& f) : parent_(f.vars.size()) {
    for (VarId v = 0; v < parent_.size(); ++v) parent_[v] = v;
    visit(f, f.body);
  }
  VarId of(VarId v) const {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

 private:
  void visit(const Function& f, const Block& b) {
    auto copy = [&](VarId target, const Expr& value) {
      if (is_var(value) && f.vars[target].array) parent_[of(target)] = of(value.var);
    };
    for (const Stmt& s : b) {
      if (s.kind == Stmt::Kind::assign) copy(s.target, *s.value);
      for (const Assignment& m : s.moves) copy(m.target, *m.value);
      each_block(s, [&](const Block& inner) { visit(f, inner); });
    }
  }
  mutable std::vector<VarId> parent_;  ///< paths to the root get shorter as they are walked
};

/// Values that wait for a reader, in the order in which they were computed.
class Pending {
 public:
  struct Entry {
    VarId var;
    ExprRef value;
  };
  explicit Pending(const Aliases& aliases) : aliases_(aliases) {}

  void add(VarId var, ExprRef value) {
    const std::size_t k = entries_.size();
    at_.emplace(var, k);
    each_read(*value, [&](VarId r) { readers_[aliases_.of(r)].push_back(k); });
    entries_.push_back({var, std::move(value)});
  }
  /// Positions in that order.
  using Places = std::set<std::size_t>;
  /// Adds the place of v, if it waits.
  void find(VarId v, Places& to) const {
    if (const auto it = at_.find(v); it != at_.end()) to.insert(it->second);
  }
  void find_all(Places& to) const {
    for (const auto& [var, k] : at_) to.insert(k);
  }
  /// Adds the places of values that read a variable or what may turn out to be the same one.
  void find_readers(VarId alias, Places& to) const {
    const auto it = readers_.find(alias);
    if (it == readers_.end()) return;
    for (const std::size_t k : it->second) {
      if (entries_[k].value) to.insert(k);
    }
  }
  const Entry& operator[](std::size_t k) const { return entries_[k]; }
  Entry take(std::size_t k) {
    at_.erase(entries_[k].var);
    return {entries_[k].var, std::exchange(entries_[k].value, nullptr)};
  }

 private:
  const Aliases& aliases_;
  std::vector<Entry> entries_;  ///< without a value once taken
  std::unordered_map<VarId, std::size_t> at_;
  std::unordered_map<VarId, std::vector<std::size_t>> readers_;
};

class Folder {
 public:
  explicit Folder(Function& f) : f_(f), aliases_(f) {
    counts_.reads.resize(f.vars.size());
    counts_.writes.resize(f.vars.size());
    count(f.body, counts_);
    for (VarId p : f.params) ++counts_.writes[p];
  }
  void run() { block(f_.body, nullptr); }

 private:
  using Places = Pending::Places;

  bool integer_type(VarId v) const { return f_.vars[v].type.find("int") != std::string::npos; }
  /// May be read in many places as it is.
  bool repeatable(VarId v, const Expr& value) const {
    return is_literal(value) || is_var(value) || (integer_type(v) && trivial(value));
  }
  /// A value that is written where it is first read, or into what reads it.
  bool is_temporary(const Stmt& s) const {
    if (s.kind != Stmt::Kind::assign || counts_.writes[s.target] != 1) return false;
    const Var& v = f_.vars[s.target];
    if (v.array) return false;
    if (repeatable(s.target, *s.value)) return v.rank < NameRank::user || is_literal(*s.value);
    return v.rank < NameRank::user;
  }
  bool fits(const Pending::Entry& p, const Expr& e) const {
    if (repeatable(p.var, *p.value)) return true;
    if (counts_.reads[p.var] != 1) return false;
    if (is_var(e)) return true;
    if (has_ternary(*p.value)) return false;
    return e.operations + p.value->operations <= kMaxOperations &&
           e.width + p.value->width <= kMaxWidth;
  }

  /// `repeated`: the expression is computed more often than the statement starts.
  void write_out(Pending& pending, ExprRef& e, bool repeated) {
    Places places;
    each_read(*e, [&](VarId v) { pending.find(v, places); });
    // The last one first: what its value reads was computed before it.
    while (!places.empty()) {
      const std::size_t k = *places.rbegin();
      places.erase(k);
      const Pending::Entry& p = pending[k];
      if (!fits(p, *e)) continue;
      if (repeated && !repeatable(p.var, *p.value) && !is_size(*p.value)) continue;
      const std::uint32_t own = reads_in(*e, p.var);
      e = replace(e, p.var, p.value);
      counts_.reads[p.var] -= own;
      each_read(*p.value, [&](VarId v) {
        counts_.reads[v] += own;
        pending.find(v, places);
      });
      if (counts_.reads[p.var] == 0) forget_reads(*pending.take(k).value);
    }
  }
  /// Writes what may be repeated into the blocks of a statement.
  void write_out_deep(Pending& pending, Block& b) {
    for (Stmt& s : b) {
      each_expr(s, [&](ExprRef& e) { write_out(pending, e, true); });
      each_block(s, [&](Block& inner) { write_out_deep(pending, inner); });
    }
  }
  void forget_reads(const Expr& e) {
    each_read(e, [&](VarId v) { --counts_.reads[v]; });
  }
  void flush(Pending& pending, const Places& places, Block& out) {
    for (const std::size_t k : places) {
      Pending::Entry x = pending.take(k);
      if (counts_.reads[x.var] == 0) {
        forget_reads(*x.value);
        continue;
      }
      Stmt s{Stmt::Kind::assign, x.var};
      s.value = std::move(x.value);
      out.push_back(std::move(s));
    }
  }

  void written(const Stmt& s, std::vector<VarId>& vars) const {
    each_write(s, [&](VarId v) { vars.push_back(aliases_.of(v)); });
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) written(inner, vars);
    });
  }
  /// The values that may be others after the statement.
  Places changed_by(const Stmt& s, const Pending& pending) const {
    Places places;
    // A copy of a vector changes nothing that is read: only updates of it do.
    if (s.kind == Stmt::Kind::assign && f_.vars[s.target].array) {
      pending.find_readers(aliases_.of(s.target), places);
      std::erase_if(places, [&](std::size_t k) { return !reads(*pending[k].value, s.target); });
      return places;
    }
    std::vector<VarId> writes;
    written(s, writes);
    for (const VarId v : writes) pending.find_readers(v, places);
    return places;
  }

  /// `tail`: an expression that is read at the end of the block.
  void block(Block& b, ExprRef* tail) {
    Block out;
    Pending pending(aliases_);
    for (Stmt& s : b) statement(s, pending, out);
    if (tail) write_out(pending, *tail, false);
    Places rest;
    pending.find_all(rest);
    flush(pending, rest, out);
    b = std::move(out);
  }

  void statement(Stmt& s, Pending& pending, Block& out) {
    using K = Stmt::Kind;
    if (s.kind == K::assign && counts_.reads[s.target] == 0) {
      forget_reads(*s.value);
      return;
    }
    if (s.position) write_out(pending, s.position, false);
    if (s.value) write_out(pending, s.value, s.kind == K::loop || s.kind == K::count);
    for (Assignment& m : s.moves) write_out(pending, m.value, false);

    flush(pending, changed_by(s, pending), out);
    each_block(s, [&](Block& inner) { write_out_deep(pending, inner); });
    if (s.kind == K::branch) sink(s, pending);
    Places read;
    each_read(s, [&](VarId v) { pending.find(v, read); });
    each_block(s, [&](const Block& inner) {
      each_read_deep(inner, [&](VarId v) { pending.find(v, read); });
    });
    flush(pending, read, out);
    if (is_temporary(s)) {
      pending.add(s.target, s.value);
      return;
    }
    if (s.kind == K::loop) {
      if (!s.before.empty()) block(s.before, &s.value);
      if (!s.body.empty()) block(s.body, nullptr);
    } else {
      each_block(s, [&](Block& inner) { block(inner, nullptr); });
    }
    out.push_back(std::move(s));
  }
  /// Work that only one branch reads moves into it.
  void sink(Stmt& s, Pending& pending) {
    for (Block* side : {&s.body, &s.other}) {
      std::unordered_map<VarId, std::uint32_t> reads;
      Places places;
      auto note = [&](VarId v) {
        ++reads[v];
        pending.find(v, places);
      };
      each_read_deep(*side, note);
      Block moved;
      while (!places.empty()) {
        const std::size_t k = *places.rbegin();
        places.erase(k);
        if (reads[pending[k].var] != counts_.reads[pending[k].var]) continue;
        Pending::Entry p = pending.take(k);
        each_read(*p.value, note);
        Stmt assign{Stmt::Kind::assign, p.var};
        assign.value = std::move(p.value);
        moved.push_back(std::move(assign));
      }
      side->insert(side->begin(), std::make_move_iterator(moved.rbegin()),
                   std::make_move_iterator(moved.rend()));
    }
  }

  Function& f_;
  Aliases aliases_;
  Counts counts_;
};

}  // namespace

namespace {

/// Drops assignments that nobody reads, from the end, so that what only they read goes too; true if
/// there were any.
bool drop_dead(Block& b, Counts& c) {
  bool dropped = false;
  for (Stmt& s : b | std::views::reverse) {
    each_block(s, [&](Block& inner) { dropped = drop_dead(inner, c) || dropped; });
    if (s.kind != Stmt::Kind::assign || c.reads[s.target] > 0) continue;
    each_read(*s.value, [&](VarId v) { --c.reads[v]; });
    s.value = nullptr;
    dropped = true;
  }
  std::erase_if(b, [](const Stmt& s) { return s.kind == Stmt::Kind::assign && !s.value; });
  return dropped;
}

}  // namespace

void fold(Function& f) {
  Counts c{std::vector<std::uint32_t>(f.vars.size()), std::vector<std::uint32_t>(f.vars.size())};
  count(f.body, c);
  // Once more for what is read in a loop before it is written.
  while (drop_dead(f.body, c)) {
  }
  Folder(f).run();
}

}  // namespace tlaloc::cxx
