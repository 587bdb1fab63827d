#include "tests/ops/case.h"
#include "tlaloc/ops/constants.h"

namespace tlaloc::testing {

void shape_cases(Cases& cases) {
  using Axes = std::vector<std::int64_t>;
  cases.push_back({.name = "broadcast_in_dim",
                   .args = {noise({3, 1}), noise({2, 3, 4}, 2)},
                   .build = [](const Vals& p) {
                     return Vals{ops::broadcast_in_dim(p[0], p[1].shape(), Axes{1, 2}) * p[1]};
                   }});
  cases.push_back(
      {.name = "broadcast_in_dim/linear",
       .args = {noise({3}), ints({2, 3}, {1, 2, 3, 4, 5, 6})},
       .build =
           [](const Vals& p) { return Vals{ops::broadcast_in_dim(p[0], p[1].shape(), Axes{1})}; },
       .linear = {true, false}});
  cases.push_back({.name = "reshape",
                   .args = {noise({2, 6})},
                   .build =
                       [](const Vals& p) {
                         return Vals{
                             ops::reshape(p[0], std::vector<Dim>{p[0].dim(1), p[0].dim(0)})};
                       },
                   .linear = {true}});
  cases.push_back({.name = "transpose",
                   .args = {noise({2, 3, 4})},
                   .build = [](const Vals& p) { return Vals{ops::transpose(p[0], Axes{2, 0, 1})}; },
                   .linear = {true}});
  cases.push_back({.name = "constants", .args = {noise({2, 3})}, .build = [](const Vals& p) {
                     const Val i = ops::iota(p[0].type(), 1);
                     const Val n = ops::convert(ops::dim_value(p[0].dim(0)), p[0].dtype());
                     return Vals{p[0] * i * n + 2.0};
                   }});
}

}  // namespace tlaloc::testing
