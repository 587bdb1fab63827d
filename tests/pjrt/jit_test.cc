// The typed API on plugins: jit of transforms, with what training a model needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tlaloc/lang/stablehlo.h"
#include "tlaloc/lang/target.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/tlaloc.h"

namespace tl = tlaloc;

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

inline constexpr tl::Axis<struct Batch> batch;

struct Model {
  tl::Tensor<float, 4, 8> w1;
  tl::Tensor<float, 8> b1;
  tl::Tensor<float, 8, 3> w2;
};
using Inputs = tl::Tensor<float, batch, 4>;
using Labels = tl::Tensor<float, batch, 3>;

const auto kLoss = [](const Model& m, Inputs x, Labels y) {
  const auto hidden = tl::relu(tl::matmul(x, m.w1) + m.b1);
  const auto e = tl::matmul(hidden, m.w2) - y;
  return tl::sum(e * e);
};

/// Numbers that look like nothing.
template <class T>
T some(std::size_t count, float step) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = std::sin(step * static_cast<float>(i + 1));
  return T::from(v);
}
Model some_model() {
  return {some<decltype(Model::w1)>(32, 0.7f), some<decltype(Model::b1)>(8, 1.3f),
          some<decltype(Model::w2)>(24, 0.4f)};
}
template <class T>
void expect_close(const T& a, const T& b) {
  const auto x = a.data(), y = b.data();
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-4f * (1 + std::abs(y[i])));
}

class JitOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Plugins, JitOn, ::testing::Values("xla_cpu_pjrt", "lammps_jax_pjrt_cpu"));

TEST_P(JitOn, GradientsOfAModelAreThoseOfTheCpu) {
  const auto here = tl::jit(tl::value_and_grad(kLoss));
  const auto there = tl::jit(tl::value_and_grad(kLoss), tl::pjrt(GetParam()));
  const Model m = some_model();
  for (std::size_t n : {5u, 2u}) {  // one trace, two compilations
    const auto x = some<Inputs>(4 * n, 0.3f);
    const auto y = some<Labels>(3 * n, 0.9f);
    const auto [loss, g] = here(m, x, y);
    const auto [loss_there, g_there] = there(m, x, y);
    EXPECT_NEAR(loss.item(), loss_there.item(), 1e-4f * loss.item());
    expect_close(g_there.w1, g.w1);
    expect_close(g_there.b1, g.b1);
    expect_close(g_there.w2, g.w2);
  }
  EXPECT_EQ(there.state().traces(), 1);
}

/// Attention over a normed sequence, a gated layer, and a loss by classes.
using Sequence = tl::Tensor<float, batch, 6, 8>;
const auto kBlock = [](Sequence x, tl::Tensor<float, 8, 5> w, tl::Tensor<int, batch, 6> classes) {
  const auto normed = tl::layer_norm(x);
  const auto mixed = x + tl::attention(normed, normed, normed);
  const auto gated = tl::gelu(tl::rms_norm(mixed)) * tl::sigmoid(mixed);
  return tl::sum(tl::cross_entropy(tl::matmul(gated, w), classes));
};
TEST_P(JitOn, AttentionAndNormsWithTheirGradients) {
  const auto x = some<Sequence>(2 * 48, 0.37f);
  const auto w = some<tl::Tensor<float, 8, 5>>(40, 0.6f);
  const auto classes = tl::Tensor<int, batch, 6>::from({0, 1, 2, 3, 4, 0, 4, 3, 2, 1, 0, 2});
  const auto [loss, g] = tl::jit(tl::value_and_grad(kBlock, tl::argnums<0, 1>))(x, w, classes);
  const auto [loss_there, g_there] =
      tl::jit(tl::value_and_grad(kBlock, tl::argnums<0, 1>), tl::pjrt(GetParam()))(x, w, classes);
  EXPECT_NEAR(loss_there.item(), loss.item(), 1e-4f * std::abs(loss.item()));
  expect_close(std::get<0>(g_there), std::get<0>(g));
  expect_close(std::get<1>(g_there), std::get<1>(g));
}
TEST_P(JitOn, CompositesMeanWhatTheyCall) {
  const auto f = [](tl::Tensor<float, 2, 4> x) { return tl::softmax(tl::layer_norm(x)); };
  const auto x = some<tl::Tensor<float, 2, 4>>(8, 0.9f);
  const auto& client =
      tl::plugins::Client::get(tl::plugins::Plugin::load(tl::plugins::find_plugin(GetParam())));
  const auto program = client.compile(tl::emit_stablehlo(f, {.composites = true})(x));
  const auto data = x.data();
  const auto array =
      client.upload(tl::HostArray::from(std::span<const float>(data.data(), data.size()), {2, 4}));
  const tl::plugins::DeviceArray* args[] = {array.get()};
  const tl::HostArray y = program->run(args, {}).arrays.at(0)->read(tl::DType::f32, {2, 4});
  const auto expected = f(x);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(y.as<float>()[i], expected.data()[i], 1e-5f);
  }
}
TEST_P(JitOn, WhatIsCapturedStaysOnTheDevice) {
  const auto scale = tl::Tensor<float, 3>::from(std::vector<float>{1, 10, 100});
  const auto f =
      tl::jit([scale](tl::Tensor<float, 3> x) { return x * tl::exp(scale * 0.0f) * scale; },
              tl::pjrt(GetParam()));
  const auto y = f(tl::Tensor<float, 3>::from(std::vector<float>{1, 2, 3}));
  expect_close(y, tl::Tensor<float, 3>::from(std::vector<float>{1, 20, 300}));
}

TEST_P(JitOn, WhatThePluginCantDoIsAnErrorByName) {
  const auto f = tl::jit(
      [](tl::Scalar<float> x) {
        tl::debug_print("{}", x);
        return x;
      },
      tl::pjrt(GetParam()));
  try {
    f(1.0f);
    FAIL();
  } catch (const tl::UserError& e) {
    EXPECT_EQ(e.code(), "TL-BACKEND-001");
    EXPECT_THAT(e.what(), HasSubstr("debug_print"));
  }
}

TEST(EmitStableHlo, IsTheFunctionForItsArguments) {
  const auto x = tl::Tensor<float, 2>::from(std::vector<float>{1, 2});
  const auto text = tl::emit_stablehlo(
      tl::grad([x](tl::Tensor<float, 2> y) { return tl::sum(tl::tanh(x * y)); }))(x);
  EXPECT_THAT(text, HasSubstr("func.func public @main(%0: tensor<2xf32>) -> (tensor<2xf32>)"));
  EXPECT_THAT(text, HasSubstr("stablehlo.tanh"));
}
TEST(EmitStableHlo, NamedCallsAsComposites) {
  const auto f = [](tl::Tensor<float, 4> x) { return tl::softmax(x); };
  const auto x = tl::Tensor<float, 4>::from(std::vector<float>{1, 2, 3, 4});
  EXPECT_THAT(tl::emit_stablehlo(f)(x), Not(HasSubstr("stablehlo.composite")));
  EXPECT_THAT(tl::emit_stablehlo(f, {.composites = true})(x),
              HasSubstr("name = \"tlaloc.softmax\""));
}

}  // namespace
