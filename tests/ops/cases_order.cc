#include <array>

#include "tests/ops/case.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

/// By the size of the first key times the sign of nothing else: largest magnitude first.
ir::GraphRef by_magnitude(const std::vector<DType>& types) {
  ir::Builder b("by_magnitude");
  Vals p;
  for (DType t : types) {
    p.push_back(b.param(ops::Type::scalar(t)));
    p.push_back(b.param(ops::Type::scalar(t)));
  }
  return b.build(Vals{ops::abs(p[0]) > ops::abs(p[1])});
}

}  // namespace

void order_cases(Cases& cases) {
  using Cumulative = Val (*)(Val, int, ops::Running);
  struct Named {
    const char* name;
    Cumulative run;
    bool linear;
  };
  for (const Named& op : {Named{"cumsum", ops::cumsum, true}, Named{"cumprod", ops::cumprod, false},
                          Named{"cummax", ops::cummax, false}, Named{"cummin", ops::cummin, false},
                          Named{"cumlogsumexp", ops::cumlogsumexp, false}}) {
    for (int mode = 0; mode < 4; ++mode) {
      const ops::Running how{.reverse = (mode & 1) != 0, .exclusive = (mode & 2) != 0};
      // Without the element itself the first result is infinite or a constant: differences of it
      // are NaN, so take it away.
      const bool infinite = how.exclusive && (op.run == ops::cummax || op.run == ops::cummin ||
                                              op.run == ops::cumlogsumexp);
      for (int axis : {0, 1}) {
        cases.push_back(
            {.name = std::string(op.name) + (how.reverse ? "/reverse" : "") +
                     (how.exclusive ? "/exclusive" : "") + "/axis" + std::to_string(axis),
             .args = {noise({3, 4}, static_cast<std::uint64_t>(5 + axis))},
             .build =
                 [run = op.run, how, axis, infinite](const Vals& p) {
                   const Val y = run(p[0], axis, how);
                   return Vals{infinite ? ops::select(ops::is_finite(y), y, ops::zeros_like(y))
                                        : y};
                 },
             .linear = op.linear ? std::vector<bool>{true} : std::vector<bool>{}});
      }
    }
  }
  cases.push_back({.name = "cumprod/zeros",
                   .args = {vec({2, 0, 3, 0, -1})},
                   .build = [](const Vals& p) { return Vals{ops::cumprod(p[0], 0)}; }});
  cases.push_back({.name = "cumprod/empty", .args = {noise({0, 2})}, .build = [](const Vals& p) {
                     return Vals{ops::cumprod(p[0], 0)};
                   }});

  for (bool descending : {false, true}) {
    for (int axis : {0, 1}) {
      cases.push_back({.name = std::string("sort/") + (descending ? "descending" : "ascending") +
                               "/axis" + std::to_string(axis),
                       .args = {noise({3, 4}, 8)},
                       .build = [descending, axis](const Vals& p) {
                         const ops::Sorted s = ops::sort(p[0], axis, descending);
                         return Vals{s.values * s.values, s.positions};
                       }});
    }
  }
  cases.push_back({.name = "sort/integer keys",
                   .args = {ints({5}, {3, 1, 2, 1, 0}), noise({5}, 2), noise({5}, 3)},
                   .build = [](const Vals& p) { return ops::sort(p, 0, 2); }});
  cases.push_back({.name = "sort/comparator",
                   .args = {noise({2, 5}, 4), ints({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})},
                   .build = [](const Vals& p) {
                     return ops::sort(p, 1, by_magnitude({p[0].dtype(), DType::i64}));
                   }});
  cases.push_back({.name = "top_k", .args = {noise({3, 5}, 6)}, .build = [](const Vals& p) {
                     const ops::Sorted s = ops::top_k(p[0], p[0].dim(0));
                     return Vals{s.values, s.positions};
                   }});
  cases.push_back({.name = "take_along",
                   .args = {noise({2, 4}), ints({2, 3}, {3, 0, 0, 1, 2, 3})},
                   .build = [](const Vals& p) { return Vals{ops::take_along(p[0], p[1], 1)}; }});
}

}  // namespace tlaloc::testing
