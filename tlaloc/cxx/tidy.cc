#include <algorithm>

#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

constexpr std::uint32_t kTernaryWidth = 64;

bool mentions(const Stmt& s, VarId v) {
  bool found = false;
  each_read(s, [&](VarId r) { found = found || r == v; });
  each_write(s, [&](VarId w) { found = found || w == v; });
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) found = found || mentions(inner, v);
  });
  return found;
}
std::size_t occurrences(const Block& b, VarId v) {
  std::size_t n = 0;
  for (const Stmt& s : b) {
    each_read(s, [&](VarId r) { n += r == v; });
    each_write(s, [&](VarId w) { n += w == v; });
    each_block(s, [&](const Block& inner) { n += occurrences(inner, v); });
  }
  return n;
}

class Tidier {
 public:
  explicit Tidier(Function& f) : f_(f) {}
  void run() { block(f_.body); }

 private:
  void block(Block& b) {
    for (Stmt& s : b) {
      each_block(s, [&](Block& inner) { block(inner); });
      if (s.kind == Stmt::Kind::branch) branch(s);
    }
    std::erase_if(b, [](const Stmt& s) {
      return s.kind == Stmt::Kind::branch && s.body.empty() && s.other.empty();
    });
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (b[k].kind == Stmt::Kind::loop) k = loop(b, k);
    }
  }

  void branch(Stmt& s) {
    if (s.body.empty() && !s.other.empty()) {
      std::swap(s.body, s.other);
      s.value = logical_not(s.value);
    }
    // x = p ? a : b
    if (s.body.size() != 1 || s.other.size() != 1) return;
    const Stmt &a = s.body[0], &b = s.other[0];
    if (a.kind != Stmt::Kind::assign || b.kind != Stmt::Kind::assign || a.target != b.target)
      return;
    if (f_.vars[a.target].array) return;
    if (a.value->kind == Expr::Kind::ternary || b.value->kind == Expr::Kind::ternary) return;
    if (s.value->width + a.value->width + b.value->width > kTernaryWidth) return;
    Stmt chosen{Stmt::Kind::assign, a.target};
    chosen.value = ternary(s.value, a.value, b.value);
    s = std::move(chosen);
  }

  /// Turns the loop at k into one that counts, if it is one. Returns where the loop stands then.
  std::size_t loop(Block& b, std::size_t k) {
    Stmt& s = b[k];
    if (!s.before.empty()) {
      Stmt leave{Stmt::Kind::leave};
      leave.value = std::move(s.value);
      s.value = literal("true");
      s.before.push_back(std::move(leave));
      s.before.insert(s.before.end(), std::make_move_iterator(s.body.begin()),
                      std::make_move_iterator(s.body.end()));
      s.body = std::move(s.before);
      s.before.clear();
      return k;
    }
    if (s.body.empty()) return k;
    const Stmt& last = s.body.back();
    if (last.kind != Stmt::Kind::assign || !f_.vars[last.target].counter) return k;
    const VarId i = last.target;
    const auto step = step_of(*last.value, i);
    if (!step || !reads(*s.value, i)) return k;
    for (std::size_t m = 0; m + 1 < s.body.size(); ++m) {
      bool writes = false;
      const std::function<void(const Stmt&)> look = [&](const Stmt& inner) {
        each_write(inner, [&](VarId w) { writes = writes || w == i; });
        each_block(inner, [&](const Block& deep) { std::ranges::for_each(deep, look); });
      };
      look(s.body[m]);
      if (writes) return k;
    }
    // The start, if nothing between it and the loop has to do with the counter.
    std::size_t start = k;
    while (start > 0 && !mentions(b[start - 1], i)) --start;
    if (start == 0) return k;
    const Stmt& init = b[start - 1];
    if (init.kind != Stmt::Kind::assign || init.target != i) return k;
    const Block whole{s, init};
    if (occurrences(f_.body, i) != occurrences(whole, i)) return k;  // read after the loop
    const ExprRef from = init.value;
    for (std::size_t m = start; m < k; ++m) {
      bool changed = false;
      each_write(b[m], [&](VarId w) { changed = changed || reads(*from, w); });
      if (changed || !b[m].body.empty()) return k;
    }
    Stmt counted{Stmt::Kind::count, i, from, s.value};
    counted.step = *step;
    counted.body = std::move(s.body);
    counted.body.pop_back();
    b[k] = std::move(counted);
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(start - 1));
    return k - 1;
  }
  static std::optional<std::int64_t> step_of(const Expr& e, VarId i) {
    if (e.kind != Expr::Kind::infix || e.level != Level::additive) return std::nullopt;
    const Expr &a = *e.args[0], &b = *e.args[1];
    if (is_var(a) && a.var == i && b.integer) {
      std::int64_t negated = 0;
      if (e.text == "+") return *b.integer;
      return __builtin_sub_overflow(0, *b.integer, &negated) ? std::nullopt
                                                             : std::optional(negated);
    }
    if (is_var(b) && b.var == i && a.integer && e.text == "+") return *a.integer;
    return std::nullopt;
  }

  Function& f_;
};

}  // namespace

void tidy(Function& f) { Tidier(f).run(); }

}  // namespace tlaloc::cxx
