#include <array>

#include "tests/ops/case.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using Axes = std::vector<std::int64_t>;

/// acc * (1 + x / 4) + sin(x) on scalars: depends on the order.
ir::GraphRef mixing(DType t) {
  ir::Builder b("mixing");
  const Val acc = b.param(ops::Type::scalar(t)), x = b.param(ops::Type::scalar(t));
  return b.build(Vals{acc * (1 + x * 0.25) + ops::sin(x)});
}
/// The larger of two, and the sum of weights of equal sign.
ir::GraphRef pairs(DType t) {
  ir::Builder b("pairs");
  Vals p;
  for (int k = 0; k < 4; ++k) p.push_back(b.param(ops::Type::scalar(t)));
  const Val wins = p[2] > p[0];
  return b.build(Vals{ops::select(wins, p[2], p[0]), p[1] * 0.5 + ops::select(wins, p[3], p[1])});
}

}  // namespace

void reduction_cases(Cases& cases) {
  namespace rows = ops::rows;
  auto add = [&](const char* name, auto reduce, HostArray x, Axes axes,
                 std::vector<bool> linear = {}) {
    cases.push_back({.name = name,
                     .args = {std::move(x)},
                     .build = [reduce, axes](const Vals& p) { return Vals{reduce(p[0], axes)}; },
                     .linear = std::move(linear)});
  };
  add("reduce_sum", ops::reduce_sum, noise({2, 3, 4}), {0, 2}, {true});
  add("reduce_sum/empty", ops::reduce_sum, noise({2, 0}), {1}, {true});
  add("reduce_max", ops::reduce_max, noise({2, 3, 4}), {0, 2});
  add("reduce_min", ops::reduce_min, noise({3, 4}), {1});
  add("reduce_prod", ops::reduce_prod, noise({2, 3, 2}), {0, 2});
  add("reduce_prod/axis", ops::reduce_prod, noise({3, 4}), {0});
  add("reduce_prod/one zero", ops::reduce_prod, vec({2, 0, 3, -1}), {0});
  add("reduce_prod/two zeros", ops::reduce_prod, vec({2, 0, 3, 0}), {0});
  add("reduce_prod/empty", ops::reduce_prod, noise({3, 0}), {1});
  add("reduce_or", ops::reduce_or, ints({2, 3}, {1, 2, 4, 8, 3, 0}), {1});
  add("reduce_and", ops::reduce_and, ints({2, 3}, {7, 3, 6, 15, 3, 1}), {1});
  cases.push_back(
      {.name = "argmax and argmin", .args = {noise({3, 4})}, .build = [](const Vals& p) {
         return Vals{ops::argmax(p[0], 1), ops::argmin(p[0], 0), p[0] * p[0]};
       }});

  // A general reducer; the start values move too.
  for (const Axes& axes : {Axes{1}, Axes{0, 2}, Axes{}}) {
    cases.push_back({.name = "reduce/" + std::to_string(axes.size()) + " axes",
                     .args = {noise({2, 3, 2}), arr({}, {0.7})},
                     .build = [axes](const Vals& p) {
                       return ops::reduce(std::array{p[0]}, std::array{p[1]}, axes,
                                          mixing(p[0].dtype()));
                     }});
  }
  cases.push_back({.name = "reduce/start array",
                   .args = {noise({2, 3}), vec({0.7, -0.3})},
                   .build = [](const Vals& p) {
                     return ops::reduce(std::array{p[0]}, std::array{p[1]}, Axes{1},
                                        mixing(p[0].dtype()));
                   }});
  cases.push_back({.name = "reduce/pairs",
                   .args = {noise({2, 4}, 2), noise({2, 4}, 3), arr({}, {-9}), arr({}, {0.5})},
                   .build = [](const Vals& p) {
                     return ops::reduce(std::array{p[0], p[1]}, std::array{p[2], p[3]}, Axes{1},
                                        pairs(p[0].dtype()));
                   }});
}

}  // namespace tlaloc::testing
