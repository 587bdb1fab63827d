// Quantized weights of the typed API, against what they stand for.
#include "tlaloc/lang/quantized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/index.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scan.h"
#include "tlaloc/lang/source.h"
#include "tlaloc/lang/tree_map.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::quantized_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using F = QuantFormat;

inline constexpr Axis<struct Vocab> vocab;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
template <class G>
std::string error_of(const G& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

/// Random blocks: scales (and minima) of about 0.1, then any bytes.
std::vector<std::uint8_t> blocks(F format, int count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out;
  const auto put = [&](auto v) {
    out.resize(out.size() + sizeof v);
    std::memcpy(out.data() + out.size() - sizeof v, &v, sizeof v);
  };
  const auto scale = [&] { return 0.05f + 0.1f * static_cast<float>(random() % 1000) / 1000; };
  const bool minimum = format == F::q4_1 || format == F::q5_1;
  const int bytes = format == F::q8_0 || format == F::q8_32  ? 32
                    : format == F::q5_0 || format == F::q5_1 ? 20
                                                             : 16;
  for (int i = 0; i < count; ++i) {
    if (format == F::q8_32)
      put(scale());
    else
      put(Half(scale()));
    if (minimum) put(Half(-scale()));
    for (int k = 0; k < bytes; ++k) put(static_cast<std::uint8_t>(random()));
  }
  return out;
}
template <class X>
X noise(int n, unsigned seed = 7) {
  std::mt19937 random(seed);
  std::vector<typename X::element_type> v;
  for (int i = 0; i < n; ++i) {
    v.push_back(static_cast<typename X::element_type>(static_cast<int>(random() % 2001) - 1000) /
                1000);
  }
  return X::from(v);
}
template <class A, class B>
void expect_near(const A& a, const B& b, double tolerance = 1e-5) {
  const auto x = values(a), y = values(b);
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i])));
  }
}

TEST(Quantized, BytesStandForWhatGgufSays) {
  // One block of q4_0 with d = 0.5: low halves are elements 0 to 15, high halves 16 to 31.
  std::vector<std::uint8_t> bytes{0x00, 0x38};
  for (int j = 0; j < 16; ++j) bytes.push_back(static_cast<std::uint8_t>(j | (15 - j) << 4));
  const auto w = Quantized<F::q4_0, 1, 32>::from_bytes(bytes);
  std::vector<float> due;
  for (int i = 0; i < 32; ++i) due.push_back(0.5f * static_cast<float>((i < 16 ? i : 31 - i) - 8));
  EXPECT_EQ(values(dequantize(w)), due);
  EXPECT_EQ(std::vector<std::uint8_t>(w.bytes().begin(), w.bytes().end()), bytes);
}

TEST(Quantized, MayLieInForeignMemory) {
  auto memory = std::make_shared<const std::vector<std::uint8_t>>(blocks(F::q4_0, 4));
  const std::weak_ptr<const void> alive = memory;
  const std::uint8_t* const address = memory->data();
  auto w = Quantized<F::q4_0, vocab, 64>::view(*memory, memory);
  const auto copy = Quantized<F::q4_0, vocab, 64>::from_bytes(*memory);
  memory.reset();
  EXPECT_EQ(w.bytes().data(), address);
  EXPECT_NE(copy.bytes().data(), address);
  EXPECT_EQ(values(dequantize(w)), values(dequantize(copy)));
  w = {};
  EXPECT_TRUE(alive.expired());
}

template <F Format>
void check_format() {
  const auto w = Quantized<Format, 3, 64>::from_bytes(blocks(Format, 6));
  const Tensor<float, 3, 64> dense = dequantize(w);
  const auto x = noise<Tensor<float, 2, 64>>(128);
  const Tensor<float, 2, 3> y = quant_matmul(x, w);
  expect_near(y, matmul(x, transpose(dense)));
  const Tensor<float, 2, 64> back = quant_matmul<true>(y, w);
  expect_near(back, matmul(y, dense), 1e-4);
  const auto ids = Tensor<int, 4>::from({2, 0, 2, 1});
  const Tensor<float, 4, 64> rows = quant_gather(w, ids);
  EXPECT_EQ(values(rows), values(take<0>(dense, ids)));
  EXPECT_EQ(values(quant_gather(w, 7)), values(dense[2]));
}
TEST(Quantized, EveryFormatAgreesWithDenseWeights) {
  check_format<F::q4_0>();
  check_format<F::q4_1>();
  check_format<F::q5_0>();
  check_format<F::q5_1>();
  check_format<F::q8_0>();
  check_format<F::q8_32>();
}

TEST(Quantized, ActivationsMayBeRounded) {
  const auto w = Quantized<F::q8_0, 3, 32>::from_bytes(blocks(F::q8_0, 3));
  const auto x = noise<Tensor<float, 32>>(32);
  float most = 0;
  for (const float v : values(x)) most = std::max(most, std::abs(v));
  std::vector<float> rounded;
  for (const float v : values(x)) rounded.push_back(std::round(v / (most / 127)) * (most / 127));
  const auto y = quant_matmul(x, w, QuantActivation::q8_32);
  expect_near(y, matmul(dequantize(w), Tensor<float, 32>::from(rounded)));
  EXPECT_NE(values(y), values(quant_matmul(x, w)));
  EXPECT_THAT(error_of([&] { quant_matmul<true>(y, w, QuantActivation::q8_32); }),
              HasSubstr("TL-QUANT-001"));
}

struct Layer {
  Quantized<F::q5_0, 32, 32> w;
  Tensor<float, 32> bias;
};
TEST(Quantized, AreLeavesOfTrees) {
  const Layer layer{Quantized<F::q5_0, 32, 32>::from_bytes(blocks(F::q5_0, 32)),
                    noise<Tensor<float, 32>>(32)};
  const auto f = [](const Layer& l, Tensor<float, 32> x) { return quant_matmul(x, l.w) + l.bias; };
  const auto x = noise<Tensor<float, 32>>(32, 3);
  const auto compiled = jit(f);
  EXPECT_EQ(values(compiled(layer, x)), values(f(layer, x)));
  EXPECT_EQ(values(compiled(layer, x * 2)), values(f(layer, x * 2)));
  // Captured too, and handed through a program.
  EXPECT_EQ(values(jit([&](Tensor<float, 32> x) { return f(layer, x); })(x)), values(f(layer, x)));
  const Layer same = jit([](const Layer& l) { return l; })(layer);
  EXPECT_EQ(values(f(same, x)), values(f(layer, x)));
  const auto other = Quantized<F::q5_0, 32, 32>::from_bytes(blocks(F::q5_0, 32, 9));
  EXPECT_EQ(values(compiled(Layer{other, layer.bias}, x)),
            values(quant_matmul(x, other) + layer.bias));
  EXPECT_THAT(error_of([&] {
                tree_each([](const char*, const auto& leaf) { static_cast<void>(leaf.data()); },
                          layer);
              }),
              HasSubstr("TL-QUANT-001: data: f32[32, 32] is quantized"));
}

TEST(Quantized, SizesMayBeOpen) {
  using Table = Quantized<F::q4_0, vocab, 32>;
  const auto table = Table::from_bytes(blocks(F::q4_0, 5));
  EXPECT_EQ(table.size(0), 5);
  const auto f = jit([](Table t, Tensor<int, 2> ids) { return quant_gather(t, ids); });
  const auto ids = Tensor<int, 2>::from({4, 1});
  EXPECT_EQ(values(f(table, ids)), values(take<0>(dequantize(table), ids)));
  const auto longer = Table::from_bytes(blocks(F::q4_0, 9));
  EXPECT_EQ(values(f(longer, ids)), values(take<0>(dequantize(longer), ids)));
  const auto logits = [](Tensor<double, 2, 32> x, Table t) -> Tensor<double, 2, vocab> {
    return quant_matmul(x, t);
  };
  const auto x = noise<Tensor<double, 2, 32>>(64);
  expect_near(logits(x, table), matmul(x, transpose(cast<double>(dequantize(table)))), 1e-12);
}

TEST(Quantized, DenseOperandsHaveDerivativesAndLanes) {
  using W = Quantized<F::q8_0, 3, 32>;
  const auto w = W::from_bytes(blocks(F::q8_0, 3));
  const auto f = [](Tensor<double, 32> x, W w) {
    const auto y = quant_matmul(x, w);
    return sum(y * y * y);
  };
  const auto dense = [&](Tensor<double, 32> x) {
    const auto y = matmul(cast<double>(dequantize(w)), x);
    return sum(y * y * y);
  };
  const auto x = noise<Tensor<double, 32>>(32);
  expect_near(grad(f)(x, w), grad(dense)(x), 1e-12);
  check_grads(f, {.order = 2})(x, w);
  const auto lanes = vmap<0, unmapped>(grad(f))(stack<0>(x, x * 2), w);
  expect_near(lanes[1], grad(dense)(x * 2), 1e-12);
  EXPECT_THAT(error_of([&] { grad(f, argnums<0, 1>)(x, w); }),
              HasSubstr("TL-GRAD-003: grad: argument 1 is quantized"));
  EXPECT_THAT(error_of([&] { vjp(f, argnums<1>)(x, w); }), HasSubstr("TL-GRAD-003"));
  EXPECT_THAT(error_of([&] {
                grad([&](Tensor<float, 32> x) {
                  return sum(quant_matmul(x, w, QuantActivation::q8_32));
                })(cast<float>(x));
              }),
              HasSubstr("TL-GRAD-003: quant_matmul"));
  EXPECT_THAT(error_of([&] { to_source(f)(x, w); }),
              HasSubstr("TL-CXX-002: to_source: no C++ type stands for f32:q8_0"));
}

TEST(Quantized, LayersInAScan) {
  const auto layers = Quantized<F::q8_0, 2, 32, 32>::from_bytes(blocks(F::q8_0, 64));
  const auto run = [](Tensor<float, 32> x, Quantized<F::q8_0, 2, 32, 32> layers) {
    return scan(
               [](Tensor<float, 32> h, Quantized<F::q8_0, 32, 32> w) {
                 return std::pair(quant_matmul(h, w) * 0.01, sum(h));
               },
               x, layers)
        .first;
  };
  const auto x = noise<Tensor<float, 32>>(32);
  const auto dense = dequantize(layers);
  auto y = x;
  for (int l = 0; l < 2; ++l) y = matmul(dense[l], y) * 0.01;
  expect_near(run(x, layers), y, 1e-4);
  expect_near(jit(run)(x, layers), y, 1e-4);
  const auto mapped = vmap<0>([](Quantized<F::q8_0, 32, 32> w) { return dequantize(w); })(layers);
  EXPECT_EQ(values(mapped), values(dense));
}

TEST(Quantized, Refusals) {
  using W = Quantized<F::q4_0, vocab, 32>;
  const std::vector<std::uint8_t> bytes(36);
  EXPECT_THAT(error_of([&] { W::from_bytes(std::vector<std::uint8_t>(35)); }),
              HasSubstr("TL-SHAPE-002: quantized: 35 bytes given, q4_0 takes 18 for each 32"));
  EXPECT_THAT(error_of([&] { W::from_bytes(bytes, {3, 32}); }), HasSubstr("which are 96"));
  EXPECT_THAT(error_of([&] { Quantized<F::q4_0, 4, any>::from_bytes(bytes); }),
              HasSubstr("TL-QUANT-001: quantized: the last axis has 16 elements"));
  EXPECT_THAT(error_of([&] { W().size(0); }), HasSubstr("TL-VALUE-001"));
  EXPECT_THAT(error_of([&] {
                jit([](W w) {
                  static_cast<void>(w.bytes());
                  return dequantize(w);
                })(W::from_bytes(bytes));
              }),
              HasSubstr("TL-TRACE-001"));
  const Quantized<F::q4_0, any, any> open =
      Quantized<F::q4_0, any, any>::from_bytes(bytes, {2, 32});
  EXPECT_THAT(error_of([&] { quant_matmul(noise<Tensor<float, 64>>(64), open); }),
              HasSubstr("TL-SHAPE-003"));
}

}  // namespace
}  // namespace tlaloc::quantized_test
