// A history that a counting loop from 0 pushes to once per trip has the loop's length from the
// start: h[i] = x rather than h.push_back(x).
#include <algorithm>

#include "tlaloc/cxx/effects.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

int pushes_to(const Block& b, VarId v) {
  int n = 0;
  for (const Stmt& s : b) {
    n += (s.kind == Stmt::Kind::push || s.kind == Stmt::Kind::append) && s.target == v;
    each_block(s, [&](const Block& inner) { n += pushes_to(inner, v); });
  }
  return n;
}

class Indexer {
 public:
  explicit Indexer(Function& f) : f_(f) {}
  void block(Block& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      each_block(b[k], [&](Block& inner) { block(inner); });
      if (b[k].kind != Stmt::Kind::count) continue;
      for (Stmt& s : b[k].body) {
        if (s.kind == Stmt::Kind::push) push(b, k, s);
      }
    }
  }

 private:
  void push(Block& b, std::size_t k, Stmt& s) {
    const Stmt& loop = b[k];
    const VarId v = s.target;
    const ExprRef length = trips(loop);
    if (!length || pushes_to(f_.body, v) != 1) return;
    // Made empty before the loop, and read only behind it.
    std::size_t start = k;
    while (start > 0) {
      const Effects e(b[start - 1]);
      if (e.reads.contains(v) || e.writes.contains(v)) break;
      --start;
    }
    if (start == 0) return;
    Stmt& made = b[start - 1];
    const bool empty = made.kind == Stmt::Kind::assign && made.target == v &&
                       made.value->kind == Expr::Kind::list && made.value->args.empty();
    Block others = loop.body;
    std::erase_if(others,
                  [&](const Stmt& t) { return t.kind == Stmt::Kind::push && t.target == v; });
    if (!empty || Effects(others).reads.contains(v)) return;
    // The length is known where the vector is made.
    for (std::size_t t = start; t < k; ++t) {
      const Effects e(b[t]);
      bool later = false;
      each_read(*length, [&](VarId r) { later = later || e.writes.contains(r); });
      if (later) return;
    }
    made.value = call(f_.vars[v].type, {length});
    s.kind = Stmt::Kind::store;
    s.position = variable(loop.target);
  }
  /// How often `for (i = 0; i < n; ++i)` runs, if the loop leaves n alone.
  ExprRef trips(const Stmt& loop) {
    const Expr& test = *loop.value;
    const bool counts = loop.step == 1 && loop.position->integer == 0 &&
                        test.kind == Expr::Kind::infix && test.text == "<" &&
                        is_var(*test.args[0]) && test.args[0]->var == loop.target;
    if (!counts) return nullptr;
    const ExprRef n = test.args[1];
    if (n->integer) return *n->integer >= 0 ? n : nullptr;
    if (!is_var(*n) || Effects(loop.body).writes.contains(n->var)) return nullptr;
    return is_length(n->var) ? n : call("std::max<std::int64_t>", {n, integer(0)});
  }
  /// const std::int64_t n = std::ssize(x).
  bool is_length(VarId n) const {
    return std::ranges::any_of(f_.body, [&](const Stmt& s) {
      return s.kind == Stmt::Kind::assign && s.target == n && s.value->text == "std::ssize";
    });
  }

  Function& f_;
};

}  // namespace

void index_histories(Function& f) { Indexer(f).block(f.body); }

}  // namespace tlaloc::cxx
