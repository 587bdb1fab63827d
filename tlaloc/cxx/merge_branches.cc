// Two branches on one condition become one: the forward and the backward part of an `if` meet, and
// what one hands to the other stays inside.
#include <algorithm>

#include "tlaloc/cxx/effects.h"
#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {
namespace {

class Merger {
 public:
  void block(Block& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (b[k].kind == Stmt::Kind::branch && is_var(*b[k].value)) {
        while (merge_next(b, k)) {
        }
      }
      each_block(b[k], [&](Block& inner) { block(inner); });
    }
  }

 private:
  /// Merges the next branch on the condition of b[k] into b[k], which may move back.
  static bool merge_next(Block& b, std::size_t& k) {
    const VarId condition = b[k].value->var;
    std::size_t m = k + 1;
    for (; m < b.size(); ++m) {
      if (b[m].kind == Stmt::Kind::branch && is_var(*b[m].value) && b[m].value->var == condition)
        break;
    }
    if (m == b.size()) return false;
    // What the second one needs moves before the first one; the rest stays behind it.
    const Effects first(b[k]);
    std::vector<Effects> moving{Effects(b[m])};
    std::vector<bool> moves(m - k, false);
    for (std::size_t t = m; t-- > k + 1;) {
      const Effects e(b[t]);
      const bool before =
          std::ranges::any_of(moving, [&](const Effects& x) { return ordered(e, x); });
      if (!before) continue;
      if (ordered(e, first) || b[t].kind == Stmt::Kind::require) return false;
      moves[t - k] = true;
      moving.push_back(e);
    }
    Block out(std::make_move_iterator(b.begin()),
              std::make_move_iterator(b.begin() + static_cast<std::ptrdiff_t>(k)));
    for (std::size_t t = k + 1; t < m; ++t) {
      if (moves[t - k]) out.push_back(std::move(b[t]));
    }
    const std::size_t place = out.size();
    Stmt merged = std::move(b[k]);
    std::ranges::move(b[m].body, std::back_inserter(merged.body));
    std::ranges::move(b[m].other, std::back_inserter(merged.other));
    out.push_back(std::move(merged));
    for (std::size_t t = k + 1; t < b.size(); ++t) {
      if (t == m || (t < m && moves[t - k])) continue;
      out.push_back(std::move(b[t]));
    }
    b = std::move(out);
    k = place;
    return true;
  }
};

}  // namespace

void merge_branches(Function& f) { Merger().block(f.body); }

}  // namespace tlaloc::cxx
