// explain on functions: their lines, and why they were traced.
#include "tlaloc/lang/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tlaloc/cpu/testing.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

inline constexpr tl::Axis<struct Rows> rows;
using Vector = tl::Tensor<double, rows>;

constexpr int kLine = __LINE__ + 2;
tl::Scalar<double> energy(Vector x, Vector y) {
  return tl::sum(tl::sin(x) * y);  // kLine
}

Vector vector(std::int64_t n) { return Vector::from(std::vector<double>(std::size_t(n), 0.5)); }

bool has_line(const tl::Explanation& e, const char* op, int line) {
  return std::ranges::any_of(e.kernels, [&](const auto& k) {
    return std::ranges::any_of(k.ops, [&](const auto& o) {
      return o.op == op && o.place.line == line && o.place.file.ends_with("explain_test.cc");
    });
  });
}

class Explain : public tlaloc::cpu::testing::CodegenTest {};

TEST_F(Explain, OperationsHaveTheUsersLines) {
  const tl::Explanation e = tl::explain(energy, vector(100), vector(100));
  EXPECT_TRUE(has_line(e, "sin", kLine)) << e.text();
  EXPECT_TRUE(has_line(e, "mul", kLine)) << e.text();
  EXPECT_TRUE(has_line(e, "reduce_sum", kLine)) << e.text();
  EXPECT_THAT(e.sizes, ::testing::ElementsAre("Rows = 100"));
  EXPECT_GT(e.seconds.value_or(0), 0);
}

TEST_F(Explain, GradientsHaveTheLinesOfWhatTheyDifferentiate) {
  const tl::Explanation e = tl::explain(tl::grad(energy), vector(100), vector(100));
  EXPECT_TRUE(has_line(e, "cos", kLine)) << e.text();
}

TEST_F(Explain, ACompiledFunctionTellsWhyItWasTraced) {
  auto f = tl::jit([](auto x) { return tl::sum(x * x); });
  f(vector(3));
  f(tl::ones<float, 4>());
  const tl::Explanation e = tl::explain(f, vector(5));
  EXPECT_EQ(tl::traces(f), 2) << "a size is no reason";
  ASSERT_EQ(e.traces.size(), 1U);
  EXPECT_THAT(e.traces[0],
              AllOf(HasSubstr("traced 2 times"), HasSubstr("trace 1"), HasSubstr(", the first, of"),
                    HasSubstr("since argument 0 is f32[4] where trace 1 had f64[Rows]")));
  EXPECT_THAT(e.text(), HasSubstr("since argument 0 is f32[4]"));
}

TEST_F(Explain, StructureIsAReason) {
  auto f = tl::jit([](std::vector<Vector> xs) {
    auto sum = tl::sum(xs[0]);
    for (std::size_t i = 1; i < xs.size(); ++i) sum = sum + tl::sum(xs[i]);
    return sum;
  });
  f({vector(3)});
  const tl::Explanation e = tl::explain(f, std::vector{vector(3), vector(3)});
  EXPECT_THAT(e.traces[0], HasSubstr("there are 2 tensors where trace 1 had 1"));
}

TEST_F(Explain, NothingRunsWithinAnotherTrace) {
  std::string text;
  tl::jit([&](Vector x) {
    try {
      tl::explain(energy, x, x);
    } catch (const tl::Error& e) {
      text = e.what();
    }
    return tl::sum(x);
  })(vector(3));
  EXPECT_THAT(text, HasSubstr("TL-BACKEND-001: explain: the function became a part of another"));
}

TEST_F(Explain, TheInterpreterDoesNotTell) {
  const tl::check_nan on;
  try {
    tl::explain(energy, vector(3), vector(3));
    FAIL();
  } catch (const tl::Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("call explain outside of check_nan"));
  }
}

}  // namespace
