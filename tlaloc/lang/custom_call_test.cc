// Calls of registered host functions.
#include "tlaloc/lang/custom_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/custom.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/source.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/tangents.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::custom_call_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Row> row;
using S = Scalar<double>;
using V = Tensor<double, row>;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
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

/// The middle element of an odd number, by the standard library.
S median(Tensor<double, any> x) {
  std::vector<double> v = values(x);
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
/// Running sums, and how many there are.
std::tuple<Tensor<double, any>, Scalar<int>> running(Tensor<double, any> x, S start) {
  std::vector<double> v = values(x);
  double sum = start.item();
  for (double& e : v) e = sum += e;
  return {Tensor<double, any>::from(v), static_cast<int>(v.size())};
}
class CustomCalls : public ::testing::Test {
 protected:
  CustomCalls() {
    register_custom_call("test.median", &median);
    register_custom_call("test.running", &running);
  }
};

TEST_F(CustomCalls, RunAtOnceAndInPrograms) {
  const auto x = V::from({5, 1, 3});
  EXPECT_EQ(custom_call<S>("test.median", x).item(), 3);
  const auto f = [](V x) { return custom_call<S>("test.median", x * x) + 1; };
  EXPECT_EQ(f(x).item(), 10);
  const auto compiled = jit(f);
  EXPECT_EQ(compiled(x).item(), 10);
  EXPECT_EQ(compiled(V::from({1, 2, 3, 4, 5})).item(), 10);
  const auto [sums, n] = custom_call<std::tuple<V, Scalar<int>>>("test.running", x, 10.0);
  EXPECT_THAT(values(sums), ElementsAre(15, 16, 19));
  EXPECT_EQ(n.item(), 3);
  const auto programmed = jit([](V x, S start) {
    return custom_call<std::tuple<V, Scalar<int>>>("test.running", x, start);
  });
  EXPECT_THAT(values(std::get<0>(programmed(x, 10.0))), ElementsAre(15, 16, 19));
}

TEST_F(CustomCalls, RunOncePerLane) {
  const auto m = Tensor<double, 2, row>::from({5, 1, 3, 20, 40, 30});
  const auto medians = vmap<0>([](V x) { return custom_call<S>("test.median", x); })(m);
  EXPECT_THAT(values(medians), ElementsAre(3, 30));
  const auto sums = vmap<unmapped, 0>([](V x, S start) {
    return std::get<0>(custom_call<std::tuple<V, Scalar<int>>>("test.running", x, start));
  })(V::from({1, 2}), Tensor<double, 2>::from({10, 20}));
  EXPECT_THAT(values(sums), ElementsAre(11, 13, 21, 23));
}

TEST_F(CustomCalls, HaveTheDerivativesThatRulesGive) {
  const auto raw = [](V x) { return custom_call<S>("test.median", x); };
  const auto x = V::from({5, 1, 3});
  EXPECT_THAT(error_of([&] { grad(raw)(x); }), HasSubstr("TL-GRAD-003: custom_call"));
  EXPECT_THAT(error_of([&] { tlaloc::jvp(raw)(x, x); }), HasSubstr("TL-GRAD-003: custom_call"));
  const auto by_jvp = custom_jvp(raw, [=](V x, V dx) {
    const S m = raw(x);
    return std::pair(m, sum(cast<double>(x == m) * dx));
  });
  const auto by_vjp = custom_vjp(
      raw, [=](V x) { return std::pair(raw(x), x); },
      [=](V x, S ct) { return cast<double>(x == raw(x)) * ct; });
  const auto square = [](auto f) { return [f](V x) { return f(x) * f(x); }; };
  EXPECT_THAT(values(grad(square(by_jvp))(x)), ElementsAre(0, 0, 6));
  EXPECT_THAT(values(jit(grad(square(by_vjp)))(x)), ElementsAre(0, 0, 6));
  check_grads(square(by_jvp))(x);
  const auto both = Tensor<double, 2, row>::from({5, 1, 3, 2, 4, 9});
  EXPECT_THAT(values(vmap<0>(grad(square(by_vjp)))(both)), ElementsAre(0, 0, 6, 0, 8, 0));
}

TEST_F(CustomCalls, AreRefusedWithCodes) {
  const auto x = V::from({5, 1, 3});
  const auto unknown = [](V x) { return custom_call<S>("test.nobody", x); };
  EXPECT_THAT(error_of([&] { unknown(x); }), HasSubstr("TL-CUSTOM-004"));
  EXPECT_THAT(error_of([&] { jit(unknown)(x); }),
              HasSubstr("nothing is registered under the name 'test.nobody'"));
  EXPECT_THAT(error_of([&] { custom_call<S>("test.median", Tensor<float, 3>::from({1, 2, 3})); }),
              HasSubstr("TL-DTYPE-001"));
  EXPECT_THAT(error_of([&] { custom_call<S>("test.median", 1.0); }), HasSubstr("TL-RANK-001"));
  EXPECT_THAT(error_of([&] { custom_call<S>("test.median", x, x); }),
              HasSubstr("TL-CUSTOM-002: custom_call: 'test.median' takes 1 arguments, not 2"));
  EXPECT_THAT(error_of([&] { custom_call<Scalar<float>>("test.median", x); }),
              HasSubstr("TL-CUSTOM-002"));
  EXPECT_THAT(error_of([&] { custom_call<V>("test.median", 1.0); }), HasSubstr("TL-SHAPE-009"));
  EXPECT_THAT(error_of([&] { custom_call<S>("test.median", V()); }), HasSubstr("TL-VALUE-001"));
  EXPECT_THAT(error_of([&] { to_source([](V x) { return custom_call<S>("test.median", x); })(x); }),
              HasSubstr("custom_call"));
}

TEST_F(CustomCalls, ALaterRegistrationTakesTheName) {
  const auto f = jit([](S x) { return custom_call<S>("test.replaced", x); });
  register_custom_call("test.replaced", [](S x) { return x * 2; });
  EXPECT_EQ(f(3.0).item(), 6);
  register_custom_call("test.replaced", [](S x) { return S(x.item() * 10); });
  EXPECT_EQ(f(3.0).item(), 30);
}

}  // namespace
}  // namespace tlaloc::custom_call_test
