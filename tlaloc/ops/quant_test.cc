#include "tlaloc/ops/quant.h"

#include <cstring>

#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Bytes of a block, put together by hand.
struct Bytes {
  std::vector<std::uint8_t> v;
  template <class T>
  Bytes& put(T x) {
    v.resize(v.size() + sizeof x);
    std::memcpy(v.data() + v.size() - sizeof x, &x, sizeof x);
    return *this;
  }
  Bytes& half(float x) { return put(Half(x)); }
  /// Element i has the four bits f(i).
  template <class F>
  Bytes& nibbles(F f) {
    for (int j = 0; j < 16; ++j) put(static_cast<std::uint8_t>(f(j) | f(j + 16) << 4));
    return *this;
  }
};
std::vector<double> decoded(const std::string& encoding, const Bytes& block) {
  const ir::Encoding& e = *ir::find_encoding(encoding);
  EXPECT_EQ(static_cast<std::int64_t>(block.v.size()), e.block_bytes);
  float out[32];
  decode_block(e, block.v.data(), out);
  return {out, out + 32};
}
template <class F>
std::vector<double> each(F f) {
  std::vector<double> r;
  for (int i = 0; i < 32; ++i) r.push_back(f(i));
  return r;
}

TEST(QuantBlocks, EveryFormat) {
  Bytes q8, q8_32;
  q8.half(0.5f);
  q8_32.put(0.25f);
  for (int i = 0; i < 32; ++i) {
    q8.put(static_cast<std::int8_t>(i - 128));
    q8_32.put(static_cast<std::int8_t>(96 + i));
  }
  EXPECT_EQ(decoded("q8_0", q8), each([](int i) { return 0.5 * (i - 128); }));
  EXPECT_EQ(decoded("q8_32", q8_32), each([](int i) { return 0.25 * (96 + i); }));
  auto low = [](int i) { return i % 16; };
  auto five = [](int i) { return (i * 7) % 32; };
  auto low_of_five = [&](int i) { return five(i) & 15; };
  std::uint32_t high = 0;
  for (int i = 0; i < 32; ++i) high |= static_cast<std::uint32_t>(five(i) >> 4) << i;
  EXPECT_EQ(decoded("q4_0", Bytes().half(2).nibbles(low)),
            each([&](int i) { return 2. * (low(i) - 8); }));
  EXPECT_EQ(decoded("q4_1", Bytes().half(2).half(-3).nibbles(low)),
            each([&](int i) { return 2. * low(i) - 3; }));
  EXPECT_EQ(decoded("q5_0", Bytes().half(2).put(high).nibbles(low_of_five)),
            each([&](int i) { return 2. * (five(i) - 16); }));
  EXPECT_EQ(decoded("q5_1", Bytes().half(2).half(-3).put(high).nibbles(low_of_five)),
            each([&](int i) { return 2. * five(i) - 3; }));
}
TEST(QuantBlocks, RoundingToBytes) {
  float x[32] = {127, -1, 0.4f, 0.5f, -0.5f};
  round_to_q8_32(x);
  EXPECT_THAT(std::vector<float>(x, x + 6), ElementsAre(127, -1, 0, 1, -1, 0));
  float zero[32] = {};
  round_to_q8_32(zero);
  EXPECT_EQ(zero[5], 0);
  for (const float special : {std::nanf(""), HUGE_VALF}) {
    float hidden[32] = {};
    hidden[3] = special;
    round_to_q8_32(hidden);
    for (float v : hidden) EXPECT_TRUE(std::isnan(v));
  }
}

/// [rows, 32] in q8_0 with scale 1 and q(row, i) = row + 1 at i == row, 0 elsewhere.
HostArray diagonal(std::int64_t rows) {
  Bytes b;
  for (std::int64_t r = 0; r < rows; ++r) {
    b.half(1);
    for (std::int64_t i = 0; i < 32; ++i) b.put(static_cast<std::int8_t>(i == r ? r + 1 : 0));
  }
  return HostArray::from<std::uint8_t>(b.v, {rows, 34});
}
Type weights(Dim n, Dim k, const char* encoding = "q8_0", DType dtype = DType::f32) {
  return Type::get(dtype, std::vector<Dim>{n, k}, ir::find_encoding(encoding));
}
ir::AttrRef attr(const char* encoding = "q8_0") { return ir::make_attr(QuantAttrs{encoding}); }
ir::AttrRef product(bool transposed = false, Activation a = Activation::f32) {
  return ir::make_attr(QuantMatmulAttrs{"q8_0", transposed, a});
}

TEST(Dequantize, GivesTheElementType) {
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const HostArray y =
        eval_all(rows::Dequantize, attr(), {diagonal(2)}, {}, {weights(2, 32, "q8_0", t)})[0];
    EXPECT_EQ(y.dtype(), t);
    EXPECT_EQ(y.element(0), 1);
    EXPECT_EQ(y.element(33), 2);
    EXPECT_EQ(y.element(32), 0);
  }
  EXPECT_THAT(values(eval_all(rows::Dequantize, attr(), {array(DType::u8, {0, 34}, {})}, {},
                              {weights(0, 32)})[0]),
              IsEmpty());
}
TEST(QuantMatmul, BothDirections) {
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const HostArray x = counting(t, {1, 32}, 1), z = array(t, {2, 2}, {1, 2, 3, 4});
    EXPECT_EQ(to_string(eval_all(rows::QuantMatmul, product(), {x, diagonal(2)}, {},
                                 {type_of(x), weights(2, 32)})[0]),
              std::string(name(t)) + "[1, 2] {1, 4}");
    const HostArray y = eval_all(rows::QuantMatmul, product(true), {z, diagonal(2)}, {},
                                 {type_of(z), weights(2, 32)})[0];
    EXPECT_EQ(y.extents(), (Extents{2, 32}));
    EXPECT_EQ(y.element(1), 4);
    EXPECT_EQ(y.element(32), 3);
    EXPECT_EQ(y.element(33), 8);
    EXPECT_EQ(y.element(34), 0);
  }
}
TEST(QuantMatmul, RoundsActivationsOnRequest) {
  std::vector<double> x(32, 0);
  x[0] = 127, x[1] = 0.4;
  EXPECT_THAT(values(eval_all(rows::QuantMatmul, product(false, Activation::q8_32),
                              {array(DType::f32, {32}, x), diagonal(2)}, {},
                              {Type::get(DType::f32, {32}), weights(2, 32)})[0]),
              ElementsAre(127, 0));
}
TEST(QuantGather, RowsAreClamped) {
  const HostArray i = array(DType::i32, {2, 1}, {-5, 9});
  const HostArray y =
      eval_all(rows::QuantGather, attr(), {diagonal(2), i}, {}, {weights(2, 32), type_of(i)})[0];
  EXPECT_EQ(y.extents(), (Extents{2, 1, 32}));
  EXPECT_EQ(y.element(0), 1);
  EXPECT_EQ(y.element(33), 2);
}
TEST(Quant, InfersSymbolicSizes) {
  const Dim n = ir::Symbol::fresh("n"), k = ir::Symbol::fresh("k"), b = ir::Symbol::fresh("b");
  EXPECT_EQ(
      inferred(rows::QuantMatmul, product(), {Type::get(DType::bf16, {b, 64}), weights(n, 64)}),
      "bf16[b, n]");
  EXPECT_EQ(inferred(rows::Dequantize, attr(), {weights(n, k)}),
            "f32[n, k]\nequal: rest of the last axis by the block: mod(k, 32), 0");
  EXPECT_EQ(inferred(rows::QuantGather, attr(), {weights(5, 32), Type::get(DType::i64, {b})}),
            "f32[b, 32]");
}
TEST(Quant, Refusals) {
  const Type x = Type::get(DType::f32, {32});
  EXPECT_EQ(refusal(rows::Dequantize, attr(), {x}), "TL-DTYPE-004");
  EXPECT_EQ(refusal(rows::Dequantize, attr("q4_0"), {weights(2, 32)}), "TL-DTYPE-004");
  EXPECT_EQ(refusal(rows::Dequantize, attr(), {weights(2, 48)}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::QuantMatmul, product(), {x, weights(2, 64)}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::QuantMatmul, product(), {x.with_dtype(DType::i32), weights(2, 32)}),
            "TL-DTYPE-004");
  EXPECT_EQ(refusal(rows::QuantMatmul, product(), {Type::scalar(DType::f32), weights(2, 32)}),
            "TL-RANK-001");
  EXPECT_EQ(refusal(rows::QuantMatmul, product(true, Activation::q8_32), {x, weights(32, 32)}),
            "TL-QUANT-001");
  EXPECT_EQ(refusal(rows::QuantGather, attr(), {weights(2, 32), x}), "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
