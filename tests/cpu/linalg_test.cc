// cholesky and triangular_solve on the CPU back end against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using Arrays = std::vector<HostArray>;

/// Matrices that are easily factored and solved: a heavy diagonal.
HostArray matrices(DType dtype, Extents extents, std::uint64_t seed, bool heavy) {
  HostArray a = HostArray::uninitialized(dtype, extents);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> values(-1, 1);
  const std::int64_t n = extents.back();
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      T* x = static_cast<T*>(a.mutable_data());
      for (std::int64_t i = 0; i < a.size(); ++i) x[i] = static_cast<T>(values(random));
      if (!heavy) return;
      for (std::int64_t i = 0; i < a.size(); i += n * n) {
        for (std::int64_t k = 0; k < n; ++k) x[i + k * (n + 1)] += static_cast<T>(n + 1);
      }
    }
  });
  return a;
}

void expect_interpreters(const GraphRef& g, const Arrays& args, const char* step) {
  const StepsOfRun run = run_by_steps(g, args);
  EXPECT_THAT(run.names, Contains(step));
  const HostArray& got = run.results[0];
  const HostArray want = interp::run(*g, args)[0];
  ASSERT_EQ(got.extents(), want.extents());
  const double tolerance = got.dtype() == DType::f32 ? 2e-5 : 1e-13;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double x = got.element(i), y = want.element(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(y))) << i;
  }
}

constexpr DType kTypes[] = {DType::f32, DType::f64};

TEST(Linalg, Solves) {
  std::mt19937_64 random(1);
  for (const std::int64_t n : {0, 1, 2, 15, 16, 17, 31, 33, 64, 100, 131}) {
    for (int k = 0; k < 16; ++k) {
      const ops::TriangularAttrs attrs{.left = (k & 1) != 0,
                                       .lower = (k & 2) != 0,
                                       .unit = (k & 8) != 0,
                                       .transpose = (k & 4) != 0};
      const DType t = kTypes[random() % 2];
      const std::int64_t sides[] = {0, 1, 3, 16, 17, 40};
      const std::int64_t m = sides[random() % 6];
      Extents a{n, n}, b = attrs.left ? Extents{n, m} : Extents{m, n};
      if (random() % 3 == 0) a.insert(a.begin(), 2), b.insert(b.begin(), 2);
      SCOPED_TRACE(to_string(a) + " " + to_string(b) + " " + std::to_string(k));
      auto type = [&](const Extents& e) {
        return Type::get(t, std::vector<Dim>(e.begin(), e.end()));
      };
      const GraphRef g = graph_of({type(a), type(b)}, [&](const Vals& p) -> Vals {
        return {ops::triangular_solve(p[0], p[1], attrs)};
      });
      HostArray triangle = matrices(t, a, random(), true);
      if (attrs.unit) {
        // Without the diagonal the solution would grow with every row.
        dispatch(t, [&]<class T>(TypeTag<T>) {
          if constexpr (std::is_floating_point_v<T>) {
            for (T& x : triangle.as_mutable<T>()) x /= static_cast<T>(n + 1);
          }
        });
      }
      expect_interpreters(g, {triangle, matrices(t, b, random(), false)}, "triangular_solve");
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Linalg, ViewsAndOperandsThatAreReadAgain) {
  const Type type = Type::get(DType::f64, {20, 20});
  const std::int64_t swap[] = {1, 0};
  const GraphRef g = graph_of({type, type}, [&](const Vals& p) -> Vals {
    const Val x = ops::triangular_solve(ops::transpose(p[0], swap), ops::transpose(p[1], swap));
    return {x + p[1] + ops::cholesky(p[0]) + p[0]};
  });
  expect_interpreters(
      g, {matrices(DType::f64, {20, 20}, 1, true), matrices(DType::f64, {20, 20}, 2, false)},
      "triangular_solve");
}

TEST(Linalg, Cholesky) {
  for (const DType t : kTypes) {
    for (const std::int64_t n : {0, 1, 2, 16, 17, 40, 100, 250}) {
      for (const std::int64_t batch : {1, 3}) {
        const Type type = Type::get(t, {Dim(batch), Symbol::fresh("n"), Dim(n)});
        const GraphRef g =
            graph_of({type}, [](const Vals& p) -> Vals { return {ops::cholesky(p[0])}; });
        SCOPED_TRACE(n);
        // The upper triangle is not read.
        HostArray a = matrices(t, {batch, n, n}, static_cast<std::uint64_t>(n), true);
        expect_interpreters(g, {a}, "cholesky");
        if (HasFatalFailure()) return;
        if (n == 0) continue;
        // No factor of one of them: NaN, and zeros above.
        for (const double bad : {-1000.0, std::nan("")}) {
          HostArray b = matrices(t, {batch, n, n}, 7, true);
          dispatch(t, [&]<class T>(TypeTag<T>) {
            if constexpr (std::is_floating_point_v<T>) {
              b.as_mutable<T>()[static_cast<std::size_t>(n / 2 * (n + 1))] = static_cast<T>(bad);
            }
          });
          expect_interpreters(g, {b}, "cholesky");
        }
      }
    }
  }
}

TEST(Linalg, ZerosOnTheDiagonalDivide) {
  const Type type = Type::get(DType::f64, {20, 20}), side = Type::get(DType::f64, {20, 2});
  const GraphRef g = graph_of(
      {type, side}, [](const Vals& p) -> Vals { return {ops::triangular_solve(p[0], p[1])}; });
  HostArray a = matrices(DType::f64, {20, 20}, 1, true);
  a.as_mutable<double>()[19 * 21] = 0;
  expect_interpreters(g, {a, matrices(DType::f64, {20, 2}, 2, false)}, "triangular_solve");
}

}  // namespace
}  // namespace tlaloc::testing
