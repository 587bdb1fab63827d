// Shardings and manual computations of the typed API. Derivatives and values over meshes are
// compared with JAX's in tests/oracle and tests/stablehlo/exports.
#include "tlaloc/lang/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/cut.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/graph_of.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/stablehlo.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::mesh_test {
namespace {

using ::testing::HasSubstr;

inline constexpr MeshAxis<struct Data, 2> data;
inline constexpr MeshAxis<struct Model, 2> model;
inline constexpr Mesh mesh(data, model);
inline constexpr Axis<struct Row> row;
using X = Tensor<double, 4, 6>;
using W = Tensor<double, 6, 3>;

template <class T>
T waves(std::size_t count, double phase) {
  std::vector<double> v(count);
  for (double& e : v) e = std::sin(phase += 0.7);
  return T::from(v);
}
const X kX = waves<X>(24, 0);
const W kW = waves<W>(18, 1);

template <class A, class B>
void expect_near(const A& a, const B& b) {
  const auto x = a.data(), y = b.data();
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-12) << i;
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(WithSharding, IsTheValue) {
  const auto f = [](X x) {
    return tanh(with_sharding(x, sharding(mesh, along(data).open(), model).replicated()));
  };
  static_assert(std::is_same_v<decltype(f(kX)), X>);
  expect_near(f(kX), tanh(kX));
  expect_near(jit(f)(kX), tanh(kX));
  expect_near(grad([&](X x) { return sum(f(x)); })(kX), grad([](X x) { return sum(tanh(x)); })(kX));
}

TEST(WithSharding, SaysAllOfIt) {
  const std::string text = emit_stablehlo([](X x) {
    constexpr MeshAxis<struct Wide, 4> wide;
    constexpr Mesh line(wide);
    x = with_sharding(x, sharding(line, sub_axis<1, 2>(wide), open));
    x = with_sharding(x, sharding(mesh, along(data, model).priority<1>(), whole));
    return with_sharding(x, sharding(mesh, data, whole).replicated(model));
  })(kX);
  EXPECT_THAT(text, HasSubstr("[{\"Wide\":(1)2}, {?}]"));
  EXPECT_THAT(text, HasSubstr("[{\"Data\", \"Model\"}p1, {}]"));
  EXPECT_THAT(text, HasSubstr("[{\"Data\"}, {}], replicated={\"Model\"}"));
}

TEST(WithSharding, SizesThatOnlyARunKnows) {
  const auto f = [](Tensor<double, row> x) { return with_sharding(x, sharding(mesh, data)); };
  const auto even = Tensor<double, row>::from({1, 2, 3, 4}),
             odd = Tensor<double, row>::from({1, 2, 3});
  expect_near(jit(f)(even), even);
  EXPECT_THAT(error_of([&] { f(odd); }), HasSubstr("TL-MESH-002"));
}

const auto kProduct = [](const auto& x, const auto& w) {
  return manual(mesh, std::tuple(parts(data, model), parts(model, whole)), parts(data, whole),
                [](auto part, auto rows) {
                  static_assert(std::is_same_v<decltype(part), Tensor<double, 2, 3>>);
                  return all_reduce(tanh(matmul(part, rows)), model);
                })(x, w);
};
const auto kPlain = [](const X& x, const W& w) {
  return tanh(matmul(slice<1, 0, 3>(x), slice<0, 0, 3>(w))) +
         tanh(matmul(slice<1, 3, 6>(x), slice<0, 3, 6>(w)));
};

TEST(Manual, GivesWhatOneDeviceWould) {
  static_assert(std::is_same_v<decltype(kProduct(kX, kW)), Tensor<double, 4, 3>>);
  expect_near(kProduct(kX, kW), kPlain(kX, kW));
  expect_near(jit(kProduct)(kX, kW), kPlain(kX, kW));
  const auto total = [](const auto& f) {
    return [&f](X x, W w) { return sum(f(x, w) * f(x, w)); };
  };
  const auto [dx, dw] = grad(total(kProduct), argnums<0, 1>)(kX, kW);
  const auto [ex, ew] = grad(total(kPlain), argnums<0, 1>)(kX, kW);
  expect_near(dx, ex);
  expect_near(dw, ew);
}

TEST(Manual, SeveralResultsAndCaptures) {
  const Tensor<double, 3> scale = Tensor<double, 3>::from({1, 2, 3});
  const auto f = manual(mesh, parts(whole, along(data, model)),
                        std::tuple(parts(along(model, data)), parts(whole)), [&](auto part) {
                          static_assert(std::is_same_v<decltype(part), Tensor<double, 3, 1>>);
                          const auto column = sum<1>(part) * scale;
                          return std::tuple(column, all_reduce(all_reduce(column, data), model));
                        });
  const auto x = waves<Tensor<double, 3, 4>>(12, 2);
  const auto [all, added] = f(x);
  static_assert(std::is_same_v<decltype(all), const Tensor<double, 12>>);
  // Columns are cut by data outermost, and put together by model outermost.
  std::vector<double> columns;
  for (std::size_t m = 0; m < 2; ++m) {
    for (std::size_t d = 0; d < 2; ++d) {
      for (std::size_t i = 0; i < 3; ++i) {
        columns.push_back(x.data()[i * 4 + d * 2 + m] * static_cast<double>(i + 1));
      }
    }
  }
  expect_near(all, Tensor<double, 12>::from(columns));
  expect_near(added, sum<1>(x) * scale);
}

TEST(Manual, IsOneNodeOfTheGraph) {
  const std::string text = graph_of(kProduct)(kX, kW);
  EXPECT_THAT(text, HasSubstr("manual_computation(%0, %1)"));
  EXPECT_THAT(text, HasSubstr("all_reduce"));
}

}  // namespace
}  // namespace tlaloc::mesh_test
