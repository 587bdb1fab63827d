// Collectives of the typed API. Their values and derivatives are compared with JAX's in
// tests/oracle.
#include "tlaloc/lang/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/graph_of.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/source.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::collectives_test {
namespace {

using ::testing::HasSubstr;

inline constexpr MeshAxis<struct Data> data;
inline constexpr MeshAxis<struct Model, 4> model;
inline constexpr Axis<struct Row> row;
using X = Tensor<double, 2, 8>;

template <class T>
std::vector<typename T::element_type> values(const T& x) {
  const auto span = x.data();
  return {span.begin(), span.end()};
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
X counting() {
  std::vector<double> v(16);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i) - 7.5;
  return X::from(v);
}

TEST(Collectives, OneDeviceMeetsItself) {
  const X x = counting();
  const auto f = [](X x) {
    const X all = all_gather<1>(all_reduce(x * x, data), data);
    return reduce_scatter<0>(all_reduce(all, data, Collective::max), data);
  };
  static_assert(std::is_same_v<decltype(f(x)), X>);
  EXPECT_EQ(values(f(x)), values(x * x));
  EXPECT_EQ(values(jit(f)(x)), values(x * x));
  check_grads(f, {.order = 2})(x);
  EXPECT_EQ(values(vmap<0>(f)(stack<0>(x, x * 2))[1]), values(x * x * 4));
}

TEST(Collectives, TypesAndDerivativesForAnyNumberOfDevices) {
  const Tensor<double, row, 8> x = as<Tensor<double, row, 8>>(counting());
  const auto gathered = [](Tensor<double, row, 8> x) { return all_gather<1>(x, model); };
  const auto scattered = [](Tensor<double, row, 8> x) { return reduce_scatter<1>(x, model); };
  static_assert(std::is_same_v<decltype(gathered(x)), Tensor<double, row, 32>>);
  static_assert(std::is_same_v<decltype(scattered(x)), Tensor<double, row, 2>>);
  static_assert(std::is_same_v<decltype(all_gather<row>(x, model)), Tensor<double, any, 8>>);
  // Each is the other's transpose; the sum over devices is its own.
  const auto total = [](auto f) { return [f](Tensor<double, row, 8> x) { return sum(f(x)); }; };
  EXPECT_THAT(graph_of(grad(total(gathered)))(x), HasSubstr("reduce_scatter("));
  EXPECT_THAT(graph_of(grad(total(scattered)))(x), HasSubstr("all_gather("));
  EXPECT_THAT(graph_of(gathered)(x), HasSubstr("Model"));
  const auto largest = [](X x) { return all_reduce(x, model, Collective::max); };
  EXPECT_THAT(graph_of(largest)(counting()), HasSubstr("reduction=max"));
  const auto rows = [](X x) { return reduce_scatter<1>(all_gather<0>(x, model), model); };
  EXPECT_THAT(graph_of(rows)(counting()), HasSubstr("axis=0"));
  EXPECT_THAT(graph_of(rows)(counting()), HasSubstr("axis=1"));
  EXPECT_THAT(error_of([&] { gathered(x); }),
              HasSubstr("axis 'Model' has 4 devices, the interpreter has one"));
  EXPECT_THAT(error_of([&] { jit(scattered)(x); }), HasSubstr("TL-MESH-001"));
  EXPECT_THAT(error_of([&] { to_source(gathered)(x); }), HasSubstr("all_gather"));
}

}  // namespace
}  // namespace tlaloc::collectives_test
