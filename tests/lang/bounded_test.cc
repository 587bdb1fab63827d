// Bounded programs of typed functions: values as without padding, one compile for each bucket.
#include "tlaloc/lang/bounded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/tlaloc.h"

namespace tlaloc::bounded_test {
namespace {

using ::testing::HasSubstr;

constexpr Bounded<struct Length, 50> length;
constexpr Bounded<struct Batch, 40> batch;
constexpr Axis<struct Other> other;
using Vector = Tensor<float, length>;

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::vector<float> numbers(int n) {
  std::vector<float> r;
  for (int i = 0; i < n; ++i) r.push_back(std::sin(1.7f * static_cast<float>(i) + 1));
  return r;
}
Vector vector(int n) { return Vector::from(numbers(n)); }
Array array(int n) {
  const std::vector<float> v = numbers(n);
  return Array::from<float>(v, {n});
}
std::vector<float> elements(const Array& a) {
  const auto* p = static_cast<const float*>(core::data(a.ref(), core::Where::current()));
  return {p, p + core::size(a.ref(), core::Where::current())};
}

/// f's bounded program gives what f gives, for many lengths.
template <class F>
void expect_same(const F& f) {
  const BoundedProgram program = export_bounded(f)(vector(5)).program();
  for (int n : {1, 2, 15, 16, 17, 31, 32, 33, 49, 50}) {
    const auto want = f(vector(n));
    const auto got = program({array(n)});
    const std::vector<float> x = elements(Array(want.ref())), y = elements(got.at(0));
    ASSERT_EQ(x.size(), y.size()) << n;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(y[i], x[i], 1e-5 * std::max(1.f, std::abs(x[i]))) << n << " at " << i;
    }
  }
  EXPECT_EQ(program.compiled(), 3u);
}

TEST(BoundedProgram, FoldsLeavePaddingOut) {
  expect_same([](Vector x) { return sum(x); });
  expect_same([](Vector x) { return mean(x); });
  expect_same([](Vector x) { return max(x) - min(exp(x)); });
  expect_same([](Vector x) { return prod(x + 2.f); });
  expect_same([](Vector x) { return softmax(x, length); });
  expect_same([](Vector x) { return cumsum(x, length); });
  expect_same([](Vector x) { return sort(x, length); });
  expect_same([](Vector x) { return x / sum(x * x); });
}

TEST(BoundedProgram, CountsElementsOfSeveralAxes) {
  const auto f = [](Vector x) {
    const Tensor<float, length, 3> rows = outer(x, Tensor<float, 3>::from({1, 2, 4}));
    return mean(rows * rows);
  };
  expect_same(f);
  expect_same(grad(f));
}

TEST(BoundedProgram, DerivativesToo) {
  const auto loss = [](Vector x) { return log(sum(exp(x))) * mean(tanh(x)); };
  expect_same(loss);
  expect_same(grad(loss));
  expect_same([=](Vector x) { return hvp(loss)(x, x); });
}

TEST(BoundedProgram, LoopsRunAsOftenAsTheElementsSay) {
  expect_same([](Vector x) {
    return while_loop([=](Tensor<float> y) { return y < 10.f * sum(x * x); },
                      [](Tensor<float> y) { return y * 1.5f; }, 1.f + 0.f * sum(x));
  });
}

struct Line {
  Tensor<float, 3> slope;
  Tensor<float> offset;
};
using Points = Tensor<float, batch, 3>;
using Values = Tensor<float, batch>;

/// One step of gradient descent on the mean square.
auto step(const Line& line, Points x, Values y) {
  const auto loss = [](const Line& l, Points px, Values py) {
    const auto d = matmul(px, l.slope) + l.offset - py;
    return mean(d * d);
  };
  const auto [value, g] = value_and_grad(loss)(line, x, y);
  return std::pair(value, Line{line.slope - 0.1f * g.slope, line.offset - 0.1f * g.offset});
}

TEST(BoundedProgram, TrainingCompilesOnceForEachBucket) {
  const auto points = [](int n) { return Points::from(numbers(3 * n)); };
  const auto values = [](int n) { return Values::from(numbers(n)); };
  Line line{Tensor<float, 3>::from({1, 2, 3}), 0.5f};
  const BoundedExport exported =
      export_bounded(step, {.arguments = {"line", "x", "y"}})(line, points(4), values(4));
  EXPECT_THAT(exported.manifest(), HasSubstr("\"name\": \"line_slope\""));
  const BoundedProgram program = exported.program();
  Array slope(line.slope.ref()), offset(line.offset.ref());
  float last = 0;
  for (int n : {7, 40, 3, 33, 12, 16, 17, 32, 1, 25, 38, 40}) {
    const auto [loss, next] = step(line, points(n), values(n));
    line = next;
    const std::vector<Array> out =
        program({slope, offset, Array(points(n).ref()), Array(values(n).ref())});
    ASSERT_EQ(out.size(), 3u);
    last = loss.item();
    EXPECT_NEAR(out[0].item(), last, 1e-4) << n;
    slope = out[1];
    offset = out[2];
  }
  EXPECT_EQ(program.compiled(), 3u);
  EXPECT_NEAR(elements(slope)[2], elements(Array(line.slope.ref()))[2], 1e-4);
}

TEST(BoundedProgram, MasksOfItsOwn) {
  using Mask = Tensor<float, length>;
  const auto f = [](Vector x, Mask m, Tensor<int> n) { return sum(x * m) / cast<float>(n); };
  const auto exported =
      export_bounded(f, {.valid = {{.argument = 1, .axis = "Length"},
                                   {.argument = 2, .axis = "Length", .length = true}}})(
          vector(3), Mask::from({1, 1, 1}), 3);
  EXPECT_THAT(exported.manifest(), HasSubstr("\"role\": \"valid_mask\""));
  EXPECT_THAT(exported.manifest(), HasSubstr("\"role\": \"valid_length\""));
  const BoundedProgram program = exported.program();
  for (int n : {1, 16, 17, 50}) {
    EXPECT_NEAR(program({array(n)}).at(0).item(), mean(vector(n)).item(), 1e-6) << n;
  }
  // One that forgets its mask.
  EXPECT_THAT(error_of([&] {
                export_bounded([](Vector x, Mask) { return mean(x); },
                               {.valid = {{.argument = 1, .axis = "Length"}}})(
                    vector(3), Mask::from({1, 1, 1}));
              }),
              HasSubstr("TL-BOUNDED-001"));
}

TEST(BoundedProgram, OfAFolder) {
  const std::string folder = ::testing::TempDir() + "tlaloc_bounded_test";
  std::filesystem::remove_all(folder);
  const auto f = [](Vector x) { return softmax(x, length); };
  export_bounded(f, {.sizes = {{.axis = "Length", .least = 2, .buckets = {8, 50}}}})(vector(3))
      .write(folder);
  EXPECT_TRUE(std::filesystem::exists(folder + "/tlaloc-bounded.json"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/body_8.mlir"));
  const BoundedProgram program = BoundedProgram::open(folder);
  EXPECT_EQ(elements(program({array(9)}).at(0)).size(), 9u);
  EXPECT_EQ(program.compiled(), 1u);
  EXPECT_THAT(error_of([&] { program({array(1)}); }), HasSubstr("TL-BOUND-001"));
  EXPECT_THAT(error_of([&] { program({array(51)}); }), HasSubstr("must be from 2 to 50"));
  EXPECT_THAT(error_of([&] { program({}); }), HasSubstr("TL-ARITY-001"));
  EXPECT_THAT(error_of([&] { program({Array()}); }), HasSubstr("TL-VALUE-001"));
  std::filesystem::remove_all(folder);
}

TEST(BoundedProgram, RefusesWhatPaddingWouldChange) {
  // A size is computed of the bounded one.
  EXPECT_THAT(error_of([] { export_bounded([](Vector x) { return concat<0>(x, x); })(vector(3)); }),
              HasSubstr("TL-BOUNDED-001"));
  // Two axes of which the function wants one size.
  EXPECT_THAT(error_of([] {
                export_bounded([](Tensor<float, other> x) { return sum(x); })(
                    Tensor<float, other>::from({1, 2}));
              }),
              HasSubstr("no argument has a Bounded axis"));
}

}  // namespace
}  // namespace tlaloc::bounded_test
