#include "tests/ops/case.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using ops::Monoid;
using ops::Window;

struct Shaped {
  const char* name;
  Extents extents;
  Window window;
};

}  // namespace

void window_cases(Cases& cases) {
  const Shaped windows[] = {
      {"plain", {6}, {{3}, {1}, {0}, {0}, {1}, {1}}},
      {"strided", {7}, {{3}, {2}, {1}, {1}, {1}, {1}}},
      {"ragged end", {8}, {{2}, {3}, {0}, {0}, {1}, {1}}},
      {"cropped", {7}, {{2}, {1}, {-1}, {-2}, {1}, {1}}},
      {"dilated", {6}, {{3}, {1}, {2}, {1}, {1}, {2}}},
      {"base dilated", {5}, {{3}, {2}, {1}, {0}, {2}, {1}}},
      {"planes", {4, 5, 2}, {{2, 3, 1}, {2, 1, 1}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}}},
      {"outside", {3}, {{2}, {1}, {3}, {2}, {1}, {1}}},
      {"none", {2}, {{4}, {1}, {0}, {0}, {1}, {1}}},
      {"empty", {0}, {{2}, {1}, {1}, {2}, {1}, {1}}},
  };
  for (const Shaped& s : windows) {
    auto name = [&](const char* op) { return std::string(op) + "/" + s.name; };
    const Window w = s.window;
    cases.push_back(
        {.name = name("reduce_window sum"),
         .args = {noise(s.extents)},
         .build = [w](const Vals& p) { return Vals{ops::reduce_window(p[0], Monoid::sum, w)}; },
         .linear = {true}});
    for (Monoid m : {Monoid::max, Monoid::min}) {
      // The square makes the derivative depend on x; padding alone gives an infinity.
      cases.push_back({.name = name(m == Monoid::max ? "reduce_window max" : "reduce_window min"),
                       .args = {noise(s.extents)},
                       .build = [w, m](const Vals& p) {
                         const Val y = ops::reduce_window(p[0], m, w);
                         const Val z = ops::select(ops::is_finite(y), y, ops::zeros_like(y));
                         return Vals{z * z};
                       }});
    }
    cases.push_back({.name = name("select"),
                     .args = {noise(s.extents, 2), noise(s.extents, 3)},
                     .build =
                         [w](const Vals& p) {
                           const Val y = ops::select_and_gather(p[0], p[1], w);
                           return Vals{ops::select_and_scatter(y * 2.0, p[1], w, false)};
                         },
                     .linear = {true, false}});
  }
  cases.push_back({.name = "reduce_window integers",
                   .args = {ints({5}, {1, 2, 3, 4, 5})},
                   .build = [](const Vals& p) {
                     const Window w = ops::plain_window({Dim(2)});
                     return Vals{ops::reduce_window(p[0], Monoid::prod, w),
                                 ops::reduce_window(p[0], Monoid::all, w),
                                 ops::reduce_window(p[0], Monoid::any, w)};
                   }});
}

}  // namespace tlaloc::testing
