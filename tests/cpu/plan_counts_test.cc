// A guard without a clock: kernels, storages, bytes and flops of some programs, against numbers
// that are kept in testdata/plan_counts.txt. After a change that is meant, write them anew:
//
//   TLALOC_UPDATE_COUNTS=1 build/dev/tests/cpu/cpu_plan_counts_test
#include "tests/cpu/plan_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/transform/derived.h"
#include "tests/transform/programs.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

constexpr const char* kFile = "tests/cpu/testdata/plan_counts.txt";

Val total(Val x) {
  std::vector<std::int64_t> axes;
  for (int k = 0; k < x.type().rank(); ++k) axes.push_back(k);
  return ops::reduce_sum(x, axes);
}

/// Mean squared error of a network with two layers.
GraphRef mlp() {
  return graph_of(
      {f64({128, 784}), f64({784, 512}), f64({512}), f64({512, 10}), f64({10}), f64({128, 10})},
      [](const Vals& p) -> Vals {
        auto layer = [](Val x, Val w, Val b) {
          const Val y = ops::matmul(x, w);
          return y + ops::broadcast_to(b, y.type().shape());
        };
        const Val h = ops::relu(layer(p[0], p[1], p[2]));
        const Val error = layer(h, p[3], p[4]) - p[5];
        return {total(error * error)};
      });
}
GraphRef softmax(Dim n) {
  return graph_of({f64({n, 1000})}, [](const Vals& p) -> Vals { return {ops::softmax(p[0], 1)}; });
}
GraphRef layer_norm() {
  return graph_of({f64({64, 256}), f64({256}), f64({256})}, [](const Vals& p) -> Vals {
    const Val y = ops::layer_norm(p[0], p[1], p[2], 1e-5);
    return {total(y * y)};
  });
}
GraphRef cross_entropy() {
  return graph_of({f64({64, 1000})}, [](const Vals& p) -> Vals {
    return {total(ops::log_softmax(p[0], 1) * ops::log_softmax(p[0], 1))};
  });
}
GraphRef attention() {
  return graph_of({f64({4, 64, 32}), f64({4, 64, 32}), f64({4, 64, 32})},
                  [](const Vals& p) -> Vals {
                    const Val y = ops::attention(p[0], p[1], p[2], Val(), {});
                    return {total(y * y)};
                  });
}
/// 100 steps of a pendulum by leapfrog.
GraphRef pendulum() {
  return graph_of({f64(), f64()}, [](const Vals& p) -> Vals {
    const Val dt = real(0.01);
    return {ops::scan(
                {p[0], p[1]}, {},
                [&](const Vals& c) -> Vals {
                  const Val v = c[1] - dt * ops::sin(c[0]);
                  return {c[0] + dt * v, v};
                },
                Dim(100))
                .carries[0]};
  });
}

PlanCounts counts() {
  PlanCounts c;
  c["mlp"] = plan_counts(mlp());
  c["mlp gradient"] = plan_counts(grad_of(mlp(), {}));
  const Symbol n = Symbol::fresh("n");
  c["softmax of 64 rows, any number"] = plan_counts(softmax(n));
  c["cross entropy gradient"] = plan_counts(grad_of(cross_entropy(), {}));
  c["layer norm"] = plan_counts(layer_norm());
  c["layer norm gradient"] = plan_counts(grad_of(layer_norm(), {}));
  c["attention"] = plan_counts(attention());
  c["attention gradient"] = plan_counts(grad_of(attention(), {}));
  c["pendulum gradient"] = plan_counts(grad_of(pendulum(), {}));
  for (const char* name : {"newton", "array_sin", "n_body", "histogram"}) {
    c[std::string(name) + " gradient"] = plan_counts(grad_of(program(name).graph, {}));
  }
  return c;
}

TEST(PlanCounts, AreThoseThatAreKept) {
  const PlanCounts have = counts();
  if (std::getenv("TLALOC_UPDATE_COUNTS")) {
    std::ofstream(kFile) << counts_text(have);
    return;
  }
  std::ifstream in(kFile);
  const PlanCounts want = parse_counts({std::istreambuf_iterator<char>(in), {}});
  EXPECT_EQ(differences(want, have), "")
      << "Plans cost something else than before. If that is meant, run this program with "
         "TLALOC_UPDATE_COUNTS=1, and commit "
      << kFile << " with the reason.";
}

/// One operation that no longer shares a loop, and one number that changed, are found.
TEST(PlanCounts, AChangeIsFound) {
  const Type x = f64({100});
  const GraphRef together =
      graph_of({x}, [](const Vals& p) -> Vals { return {ops::exp(p[0]) * p[0]}; });
  const GraphRef apart = graph_of({x}, [](const Vals& p) -> Vals {
    const std::int64_t turned[] = {0};
    return {ops::exp(p[0]) * p[0], ops::reverse(ops::exp(p[0]), turned)};
  });
  const PlanCounts want = parse_counts(counts_text({{"f", plan_counts(together)}}));
  EXPECT_EQ(differences(want, {{"f", plan_counts(together)}}), "");
  EXPECT_THAT(differences(want, {{"f", plan_counts(apart)}}),
              ::testing::StartsWith("f\n  was kernels 1 "));
  EXPECT_THAT(differences(want, {}), ::testing::HasSubstr("is  not there"));
  EXPECT_THAT(differences({}, {{"f", "x"}}), ::testing::HasSubstr("was not there"));
}

}  // namespace
}  // namespace tlaloc::testing
