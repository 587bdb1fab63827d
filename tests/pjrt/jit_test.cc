// The typed API on plugins: jit of transforms, with what training a model needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/lang/bounded.h"
#include "tlaloc/lang/explain.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/paged.h"
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
INSTANTIATE_TEST_SUITE_P(Plugins, JitOn, ::testing::ValuesIn(tl::plugins::tested_plugins()));

inline constexpr tl::Bounded<struct Rows, 40> rows;

/// Training over batches of any length, as steps over numbers that a plugin wants to know.
TEST_P(JitOn, ABoundedStepIsCompiledOncePerBucket) {
  using X = tl::Tensor<float, rows, 4>;
  using Y = tl::Tensor<float, rows, 3>;
  const auto step = [](const Model& m, X x, Y y) {
    const auto loss = [](const Model& n, X px, Y py) {
      const auto e = tl::matmul(tl::tanh(tl::matmul(px, n.w1) + n.b1), n.w2) - py;
      return tl::mean(e * e);
    };
    const auto [value, g] = tl::value_and_grad(loss)(m, x, y);
    return std::pair(value, Model{m.w1 - 0.1f * g.w1, m.b1 - 0.1f * g.b1, m.w2 - 0.1f * g.w2});
  };
  Model model = some_model();
  const auto program = tl::export_bounded(step)(model, some<X>(12, 0.3f), some<Y>(9, 0.9f))
                           .program(tl::pjrt(GetParam()));
  std::vector<tl::Array> weights = {tl::Array(model.w1.ref()), tl::Array(model.b1.ref()),
                                    tl::Array(model.w2.ref())};
  std::size_t steps = 0;
  for (std::size_t n : {5, 16, 1, 17, 40, 31, 33, 2, 32, 39, 8, 24}) {
    const auto x = some<X>(4 * n, 0.3f);
    const auto y = some<Y>(3 * n, 0.9f);
    const auto [loss, next] = step(model, x, y);
    model = next;
    auto out =
        program({weights[0], weights[1], weights[2], tl::Array(x.ref()), tl::Array(y.ref())});
    EXPECT_NEAR(out.at(0).item(), loss.item(), 1e-4) << n;
    weights.assign(out.begin() + 1, out.end());
    ++steps;
  }
  expect_close(tl::as<tl::Tensor<float, 8, 3>>(weights.at(2)), model.w2);
  EXPECT_EQ(steps, 12u);
  EXPECT_EQ(program.compiled(), 3u);
}

/// A prompt and a single token of another sequence, in pools whose other places are no numbers.
TEST_P(JitOn, PagesAreThoseOfTheCpu) {
  const auto ints = [](std::vector<int> v, std::initializer_list<std::int64_t> sizes) {
    return tl::Array::from<int>(v, sizes);
  };
  const auto f = [](const tl::Array& q, const tl::Array& k, const tl::Array& v, tl::Array pool,
                    const tl::Array& slots, const tl::Array& positions, const tl::Array& sequences,
                    const tl::Array& tables) {
    return tl::paged_attention(q, tl::paged_store(pool, k, slots), tl::paged_store(pool, v, slots),
                               positions, sequences, tables, {.window = 3, .soft_cap = 2});
  };
  const tl::Array q(some<tl::Tensor<float, 5, 4, 8>>(160, 0.3f).ref());
  const tl::Array k(some<tl::Tensor<float, 5, 2, 8>>(80, 0.7f).ref());
  const tl::Array v(some<tl::Tensor<float, 5, 2, 8>>(80, 1.1f).ref());
  const tl::Array pool(tl::full<float, 4, 3, 2, 8>(std::nanf("")).ref());
  // Pages 3 and 1, then page 0, where the last row is padding.
  const tl::Array slots = ints({9, 10, 11, 0, -1}, {5}), places = ints({0, 1, 2, 0, -1}, {5});
  const tl::Array owners = ints({0, 0, 0, 1, 1}, {5}), tables = ints({3, 1, 0, 2}, {2, 2});
  using Result = tl::Tensor<float, 5, 4, 8>;
  expect_close(tl::as<Result>(
                   tl::jit(f, tl::pjrt(GetParam()))(q, k, v, pool, slots, places, owners, tables)),
               tl::as<Result>(f(q, k, v, pool, slots, places, owners, tables)));
}

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

using Vector = tl::Tensor<float, 3>;
Vector one_two_three() { return Vector::from(std::vector<float>{1, 2, 3}); }
/// Where a value lies; an empty buffer for one on the host.
tl::runtime::Buffer on_device(const Vector& x) {
  const auto& there = tl::core::node(x.ref()).device();
  return there ? there->buffer() : tl::runtime::Buffer();
}

TEST_P(JitOn, ResultsStayOnTheDevice) {
  const auto twice = tl::jit([](const Vector& x) { return x + x; }, tl::pjrt(GetParam()));
  const Vector x = one_two_three();
  EXPECT_FALSE(on_device(x));
  const Vector y = twice(x);
  ASSERT_TRUE(on_device(y));
  EXPECT_FALSE(on_device(y).device().is_host());
  const Vector z = twice(y);
  expect_close(z, Vector::from(std::vector<float>{4, 8, 12}));
  expect_close(y, Vector::from(std::vector<float>{2, 4, 6}));
  // Everything else takes them as any other value: operators, other targets, captures, print.
  expect_close(z + y, Vector::from(std::vector<float>{6, 12, 18}));
  expect_close(tl::jit([](const Vector& v) { return v * 2.0f; })(y), z);
  if (const char* other = tl::plugins::other_plugin(GetParam())) {
    expect_close(tl::jit([](const Vector& v) { return v * 2.0f; }, tl::pjrt(other))(y), z);
  }
  expect_close(tl::jit([y](const Vector& v) { return v * y; }, tl::pjrt(GetParam()))(x),
               Vector::from(std::vector<float>{2, 8, 18}));
  expect_close(tl::grad([y](const Vector& v) { return tl::sum(v * y); })(z), y);
}

TEST_P(JitOn, WhatIsCapturedOnTheDeviceIsBoundThere) {
  using Large = tl::Tensor<float, 64, 64>;
  const auto twice = tl::jit([](const Large& x) { return x + x; }, tl::pjrt(GetParam()));
  const Large w = twice(some<Large>(64 * 64, 0.3f));
  const auto f = tl::jit([w](const Large& x) { return x + w; }, tl::pjrt(GetParam()));
  expect_close(f(w), twice(w));
  expect_close(tl::jit([w](const Large& x) { return x + w; })(w), twice(w));
}

TEST_P(JitOn, AStateThatIsMovedIsUpdatedInPlace) {
  const auto step = tl::jit([](Vector s) { return s * 2.0f; }, tl::pjrt(GetParam()));
  Vector s = one_two_three();
  s = step(std::move(s));
  for (int k = 0; k < 5; ++k) {
    const tl::runtime::Buffer before = on_device(s);
    s = step(std::move(s));
    EXPECT_TRUE(before.consumed());
    try {
      (void)before.to_host();
      FAIL();
    } catch (const tl::UserError& e) {
      EXPECT_EQ(e.code(), "TL-BUFFER-001");
    }
  }
  expect_close(s, Vector::from(std::vector<float>{64, 128, 192}));
  Vector gone = s, kept = s;
  // Somebody else has it: it stays.
  const Vector next = step(std::move(gone));
  expect_close(kept, s);
  expect_close(next, kept + kept);
  try {
    (void)step(gone);  // NOLINT: that it was moved is the point
    FAIL();
  } catch (const tl::UserError& e) {
    EXPECT_EQ(e.code(), "TL-VALUE-001");
  }
}

inline constexpr tl::Axis<struct Three, 3> three;
/// Two handles of one value, each the only one of its node.
TEST_P(JitOn, ValuesUnderOtherAxisNamesStay) {
  const auto step = tl::jit([](Vector s) { return s * 2.0f; }, tl::pjrt(GetParam()));
  Vector s = step(one_two_three());
  const auto named = tl::as<tl::Tensor<float, three>>(s);
  const Vector next = step(std::move(s));
  EXPECT_EQ(named.data()[2], 6);
  EXPECT_EQ(next.data()[2], 12);
}

/// A run goes on after the call returned; whoever reads the result waits.
TEST_P(JitOn, CallsReturnBeforeTheirResultsAreReady) {
  using Square = tl::Tensor<float, 512, 512>;
  const auto power = tl::jit(
      [](const Square& x) {
        Square y = x;
        for (int k = 0; k < 12; ++k) y = tl::matmul(y, x) * 0.05f;
        return y;
      },
      tl::pjrt(GetParam()));
  const Square x = power(some<Square>(512 * 512, 0.3f));
  (void)x.data();
  bool went_on = false;
  for (int k = 0; k < 10 && !went_on; ++k) {
    const Square y = power(x);
    went_on = !tl::core::node(y.ref()).device()->buffer().ready().ready();
    (void)y.data();
    EXPECT_TRUE(tl::core::node(y.ref()).device()->buffer().ready().ready());
  }
  EXPECT_TRUE(went_on);
}

TEST_P(JitOn, ExplainSaysWhatWasCompiled) {
  const auto f = tl::jit([](tl::Tensor<float, batch> x) { return x + x; }, tl::pjrt(GetParam()));
  (void)f(tl::Tensor<float, batch>::from({1, 2}));
  const tl::Explanation e = tl::explain(f, tl::Tensor<float, batch>::from({1, 2, 3}));
  EXPECT_THAT(e.text(), HasSubstr("Batch = 2: compiled in "));
  EXPECT_THAT(e.text(), HasSubstr("Batch = 3: compiled in "));
  EXPECT_THAT(e.text(), HasSubstr("traced 1 times"));
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
