#include <algorithm>

#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

/// A block of the tree.
struct Place {
  int parent;
  int depth;
};

class Placer {
 public:
  explicit Placer(Function& f) : f_(f), home_(f.vars.size(), -1), headed_(f.vars.size()) {}
  void run() {
    for (VarId p : f_.params) headed_[p] = true;
    index(f_.body, -1, 0);
    next_ = 0;
    insert(f_.body);
  }

 private:
  void index(const Block& b, int parent, int depth) {
    const int self = static_cast<int>(places_.size());
    places_.push_back({parent, depth});
    for (const Stmt& s : b) {
      auto meet = [&](VarId v) { home_[v] = common(home_[v], self); };
      each_read(s, meet);
      each_write(s, meet);
      if (s.kind == Stmt::Kind::count) headed_[s.target] = true;
      each_block(s, [&](const Block& inner) { index(inner, self, depth + 1); });
    }
  }
  int common(int a, int b) const {
    if (a < 0) return b;
    while (a != b) {
      if (at(a).depth < at(b).depth) std::swap(a, b);
      a = at(a).parent;
    }
    return a;
  }
  const Place& at(int i) const { return places_[static_cast<std::size_t>(i)]; }

  static void each_mention(const Stmt& s, const std::function<void(VarId)>& visit) {
    each_read(s, visit);
    each_write(s, visit);
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) each_mention(inner, visit);
    });
  }
  /// Blocks are visited in the order of `index`.
  void insert(Block& b) {
    const int self = next_++;
    Block out;
    for (Stmt& s : b) {
      std::vector<VarId> first;
      each_mention(s, [&](VarId v) {
        if (home_[v] != self || headed_[v]) return;
        headed_[v] = true;
        first.push_back(v);
      });
      for (VarId v : first) {
        const bool declares = s.kind == Stmt::Kind::assign && s.target == v && !reads(*s.value, v);
        if (!declares) out.push_back({Stmt::Kind::declare, v});
      }
      each_block(s, [&](Block& inner) { insert(inner); });
      out.push_back(std::move(s));
    }
    b = std::move(out);
  }

  Function& f_;
  std::vector<Place> places_;
  std::vector<int> home_;
  std::vector<bool> headed_;
  int next_ = 0;
};

}  // namespace

void place_declarations(Function& f) { Placer(f).run(); }

}  // namespace tlaloc::cxx
