// compile_ahead on functions: a program in C calls the gradient.
#include "tlaloc/lang/ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "tlaloc/cpu/testing.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

inline constexpr tl::Axis<struct Batch> batch;

struct Layer {
  tl::Tensor<double, 3, 2> w;
  tl::Tensor<double, 2> b;
};
using Rows = tl::Tensor<double, batch, 3>;

tl::Scalar<double> loss(const Layer& m, Rows x) {
  return tl::sum(tl::tanh(tl::matmul(x, m.w) + m.b));
}

const std::vector<double> kWeights{0.1, -0.2, 0.3, 0.4, -0.5, 0.6};
const std::vector<double> kRows{1, 2, 3, -1, 0.5, 0.25};
Layer layer() {
  return {tl::Tensor<double, 3, 2>::from(kWeights), tl::Tensor<double, 2>::from({0.5, -0.5})};
}

constexpr const char* kMain = R"(
#include <stdio.h>
#include <stdlib.h>
#include "loss_gradient.h"
int main(void) {
  const double w[] = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6}, b[] = {0.5, -0.5};
  const double x[] = {1, 2, 3, -1, 0.5, 0.25};
  double gw[6], gb[2];
  const int64_t bytes = loss_gradient_scratch_bytes(2);
  void* scratch = malloc((size_t)bytes);
  if (loss_gradient(2, w, b, x, gw, gb, scratch, bytes) != loss_gradient_status_ok) return 1;
  for (int i = 0; i < 6; ++i) printf("%.17g\n", gw[i]);
  for (int i = 0; i < 2; ++i) printf("%.17g\n", gb[i]);
  free(scratch);
  return 0;
}
)";

class CompileAhead : public tlaloc::cpu::testing::CodegenTest {};

TEST_F(CompileAhead, AProgramInCCallsAGradient) {
  const Layer m = layer();
  const Rows x = Rows::from(kRows);
  const auto code = tl::compile_ahead(
      tl::grad(loss), {.function = "loss_gradient", .cpu = "native", .arguments = {"model", "x"}})(
      m, x);
  EXPECT_THAT(code.header,
              AllOf(HasSubstr("int64_t loss_gradient_scratch_bytes(int64_t Batch);"),
                    HasSubstr("const double* model_w, const double* model_b, const double* x"),
                    HasSubstr("x: f64[Batch, 3]")));
  const tlaloc::cpu::testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  code.write(folder + "/loss_gradient.o", folder + "/loss_gradient.h");
  std::ofstream(folder + "/main.c") << kMain;
  const std::string command = "cd " + folder +
                              " && cc -std=c99 -Wall -Wextra -Werror main.c loss_gradient.o -lm -o "
                              "main && ./main > out";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(folder + "/out");
  const Layer want = tl::grad(loss)(m, x);
  std::vector<double> all = tl::to_vector(want.w);
  for (double g : tl::to_vector(want.b)) all.push_back(g);
  for (double g : all) {
    double got = 0;
    ASSERT_TRUE(in >> got);
    EXPECT_NEAR(got, g, 1e-14);
  }
}

TEST_F(CompileAhead, WhatAFunctionCapturesIsAPartOfIt) {
  const Layer m = layer();
  const auto code = tl::compile_ahead([=](Rows x) { return loss(m, x); })(Rows::from(kRows));
  EXPECT_THAT(code.header,
              HasSubstr("int32_t f(int64_t Batch, const double* arg0, double* result0,"));
}

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const tl::Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(CompileAhead, Refusals) {
  const auto x = tl::Tensor<double, 4>::from({4, 3, 2, 1});
  EXPECT_THAT(
      message([&] { tl::compile_ahead([](tl::Tensor<double, 4> v) { return tl::sort(v); })(x); }),
      AllOf(HasSubstr("TL-AOT-001: sort"), HasSubstr("ahead_test.cc")));
  tl::jit([&](tl::Tensor<double, 4> v) {
    EXPECT_THAT(
        message([&] { tl::compile_ahead([=](tl::Tensor<double, 4> y) { return v + y; })(x); }),
        HasSubstr("TL-AOT-001: compile_ahead: the function reads values of the trace"));
    return v;
  })(x);
  EXPECT_THAT(message([&] {
                tl::compile_ahead([](tl::Tensor<double, 4> v) { return v; })(x).write("/no/f.o",
                                                                                      "");
              }),
              HasSubstr("TL-FILE-001: compile_ahead: can't write /no/f.o"));
  EXPECT_THAT(message([&] {
                tl::compile_ahead([](tl::Tensor<double, 4> v) { return v; },
                                  {.arguments = {"v", "w"}})(x);
              }),
              HasSubstr("TL-AOT-002: compile_ahead: 2 names for 1 arguments"));
}

}  // namespace
