#include <algorithm>
#include <unordered_map>

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
std::uint32_t reads_in(const Block& b, VarId v) {
  std::uint32_t n = 0;
  for (const Stmt& s : b) {
    each_read(s, [&](VarId r) { n += r == v; });
    each_block(s, [&](const Block& inner) { n += reads_in(inner, v); });
  }
  return n;
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
    while (parent_[v] != v) v = parent_[v];
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
  std::vector<VarId> parent_;
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
  struct Pending {
    VarId var;
    ExprRef value;
  };
  using List = std::vector<Pending>;

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
  bool fits(const Pending& p, const Expr& e) const {
    if (repeatable(p.var, *p.value)) return true;
    if (counts_.reads[p.var] != 1) return false;
    if (is_var(e)) return true;
    if (has_ternary(*p.value)) return false;
    return e.operations + p.value->operations <= kMaxOperations &&
           e.width + p.value->width <= kMaxWidth;
  }

  /// `repeated`: the expression is computed more often than the statement starts.
  void write_out(List& pending, ExprRef& e, bool repeated) {
    for (std::size_t k = pending.size(); k-- > 0;) {
      const Pending& p = pending[k];
      const std::uint32_t own = reads_in(*e, p.var);
      if (own == 0 || !fits(p, *e)) continue;
      if (repeated && !repeatable(p.var, *p.value) && !is_size(*p.value)) continue;
      e = replace(e, p.var, p.value);
      counts_.reads[p.var] -= own;
      each_read(*p.value, [&](VarId v) { counts_.reads[v] += own; });
      if (counts_.reads[p.var] == 0) drop(pending, k);
    }
  }
  /// Writes what may be repeated into the blocks of a statement.
  void write_out_deep(List& pending, Block& b) {
    for (Stmt& s : b) {
      each_expr(s, [&](ExprRef& e) { write_out(pending, e, true); });
      each_block(s, [&](Block& inner) { write_out_deep(pending, inner); });
    }
  }
  void drop(List& pending, std::size_t k) {
    each_read(*pending[k].value, [&](VarId v) { --counts_.reads[v]; });
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(k));
  }
  template <class Predicate>
  void flush(List& pending, Block& out, const Predicate& p) {
    List rest;
    for (Pending& x : pending) {
      if (!p(x)) {
        rest.push_back(std::move(x));
        continue;
      }
      if (counts_.reads[x.var] == 0) {
        each_read(*x.value, [&](VarId v) { --counts_.reads[v]; });
        continue;
      }
      Stmt s{Stmt::Kind::assign, x.var};
      s.value = std::move(x.value);
      out.push_back(std::move(s));
    }
    pending = std::move(rest);
  }

  void written(const Stmt& s, std::vector<VarId>& vars) const {
    each_write(s, [&](VarId v) { vars.push_back(aliases_.of(v)); });
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) written(inner, vars);
    });
  }
  /// True if the value may be another one after the statement.
  bool changed_by(const Expr& value, const Stmt& s, const std::vector<VarId>& written) const {
    // A copy of a vector changes nothing that is read: only updates of it do.
    if (s.kind == Stmt::Kind::assign && f_.vars[s.target].array) return reads(value, s.target);
    bool found = false;
    each_read(value, [&](VarId r) {
      found = found || std::ranges::find(written, aliases_.of(r)) != written.end();
    });
    return found;
  }

  /// `tail`: an expression that is read at the end of the block.
  void block(Block& b, ExprRef* tail) {
    Block out;
    List pending;
    for (Stmt& s : b) statement(s, pending, out);
    if (tail) write_out(pending, *tail, false);
    flush(pending, out, [](const Pending&) { return true; });
    b = std::move(out);
  }

  void statement(Stmt& s, List& pending, Block& out) {
    using K = Stmt::Kind;
    if (s.kind == K::assign && counts_.reads[s.target] == 0) {
      each_read(*s.value, [&](VarId v) { --counts_.reads[v]; });
      return;
    }
    if (s.position) write_out(pending, s.position, false);
    if (s.value) write_out(pending, s.value, s.kind == K::loop || s.kind == K::count);
    for (Assignment& m : s.moves) write_out(pending, m.value, false);

    std::vector<VarId> writes;
    written(s, writes);
    List unchanged, changed;
    for (Pending& p : pending) {
      (changed_by(*p.value, s, writes) ? changed : unchanged).push_back(std::move(p));
    }
    flush(changed, out, [](const Pending&) { return true; });
    pending = std::move(unchanged);
    each_block(s, [&](Block& inner) { write_out_deep(pending, inner); });
    if (s.kind == K::branch) sink(s, pending);
    flush(pending, out, [&](const Pending& p) {
      std::uint32_t n = 0;
      each_read(s, [&](VarId v) { n += v == p.var; });
      each_block(s, [&](const Block& inner) { n += reads_in(inner, p.var); });
      return n > 0;
    });
    if (is_temporary(s)) {
      pending.push_back({s.target, s.value});
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
  void sink(Stmt& s, List& pending) {
    for (std::size_t k = pending.size(); k-- > 0;) {
      const std::uint32_t total = counts_.reads[pending[k].var];
      for (Block* side : {&s.body, &s.other}) {
        if (total == 0 || reads_in(*side, pending[k].var) != total) continue;
        Stmt moved{Stmt::Kind::assign, pending[k].var};
        moved.value = pending[k].value;
        side->insert(side->begin(), std::move(moved));
        pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(k));
        break;
      }
    }
  }

  Function& f_;
  Aliases aliases_;
  Counts counts_;
};

}  // namespace

namespace {

/// Drops assignments that nobody reads; true if there were any.
bool drop_dead(Block& b, const Counts& c) {
  const std::size_t n = std::erase_if(
      b, [&](const Stmt& s) { return s.kind == Stmt::Kind::assign && c.reads[s.target] == 0; });
  bool dropped = n > 0;
  for (Stmt& s : b) {
    each_block(s, [&](Block& inner) { dropped = drop_dead(inner, c) || dropped; });
  }
  return dropped;
}

}  // namespace

void fold(Function& f) {
  for (bool again = true; again;) {
    Counts c{std::vector<std::uint32_t>(f.vars.size()), std::vector<std::uint32_t>(f.vars.size())};
    count(f.body, c);
    again = drop_dead(f.body, c);
  }
  Folder(f).run();
}

}  // namespace tlaloc::cxx
