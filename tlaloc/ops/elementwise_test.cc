// Values of elementwise ops at edges, for every element type; what they refuse.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {

using testing::array;
using testing::difference;
using testing::eval;
using testing::f64;
using testing::kInf;
using testing::kNan;
using testing::numbers;
using testing::refusal;

constexpr double kPi = std::numbers::pi;
constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                               DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// The least and greatest value of an integer type; the latter saturates to it in `array`.
double least(DType t) { return is_unsigned_integer(t) ? 0 : -std::ldexp(1, bit_width(t) - 1); }
double greatest(DType t) { return std::ldexp(1, bit_width(t) - is_signed_integer(t)); }

ir::AttrRef power(std::int64_t n) { return ir::make_attr(IntegerPowAttrs{n}); }

struct UnaryCase {
  const ir::OpDef& op;
  std::vector<double> x, y;
};

TEST(Elementwise, UnaryEdges) {
  const UnaryCase cases[] = {
      {rows::Neg, {0, -0., kInf, kNan}, {-0., 0, -kInf, kNan}},
      {rows::Abs, {-0., -kInf, kNan}, {0, kInf, kNan}},
      {rows::Sign, {0, -0., -3, kInf, kNan}, {0, -0., -1, 1, kNan}},
      {rows::Ceil, {-0.5, 0.5, -0., kInf}, {-0., 1, -0., kInf}},
      {rows::Floor, {-0.5, 0.5, -0., -kInf}, {-1, 0, -0., -kInf}},
      {rows::Round, {0.5, -0.5, 1.5, 2.5, kNan}, {1, -1, 2, 3, kNan}},
      {rows::RoundEven, {0.5, -0.5, 1.5, 2.5, kNan}, {0, -0., 2, 2, kNan}},
      {rows::Exp, {-kInf, 0, kInf, kNan}, {0, 1, kInf, kNan}},
      {rows::Expm1, {-kInf, -0., kInf, 1e-20}, {-1, -0., kInf, 1e-20}},
      {rows::Log, {0, -0., -1, 1, kInf}, {-kInf, -kInf, kNan, 0, kInf}},
      {rows::Log1p, {-1, -2, -0., kInf}, {-kInf, kNan, -0., kInf}},
      {rows::Sqrt, {0, -0., -1, kInf}, {0, -0., kNan, kInf}},
      {rows::Rsqrt, {0, -0., -1, kInf, 4}, {kInf, -kInf, kNan, 0, 0.5}},
      {rows::Cbrt, {-8, -0., kInf}, {-2, -0., kInf}},
      {rows::Logistic, {-1000, 0, 1000, -kInf, kNan}, {0, 0.5, 1, 0, kNan}},
      {rows::Tanh, {-kInf, -0., kInf}, {-1, -0., 1}},
      {rows::Sin, {-0., kInf}, {-0., kNan}},
      {rows::Cos, {-0., kInf}, {1, kNan}},
      {rows::Tan, {-0., kInf}, {-0., kNan}},
      {rows::Asin, {-0., 1, 2}, {-0., kPi / 2, kNan}},
      {rows::Acos, {1, -1, 2}, {0, kPi, kNan}},
      {rows::Atan, {-0., kInf, -kInf}, {-0., kPi / 2, -kPi / 2}},
      {rows::Sinh, {-0., 1000, -1000}, {-0., kInf, -kInf}},
      {rows::Cosh, {-0., 1000, -1000}, {1, kInf, kInf}},
      {rows::Asinh, {-0., kInf, -kInf}, {-0., kInf, -kInf}},
      {rows::Acosh, {1, 0.5, kInf}, {0, kNan, kInf}},
      {rows::Atanh, {-0., 1, -1, 2}, {-0., kInf, -kInf, kNan}},
      {rows::Erf, {-0., kInf, -kInf}, {-0., 1, -1}},
      {rows::Erfc, {0, kInf, -kInf}, {1, 0, 2}},
      {rows::ErfInv, {0, -0., 1, -1, 2, kNan}, {0, -0., kInf, -kInf, kNan, kNan}},
  };
  for (const UnaryCase& c : cases) {
    for (DType t : {DType::f64, DType::f32}) {
      const HostArray y = eval(c.op, nullptr, {numbers(t, c.x)});
      EXPECT_EQ(difference(y, numbers(t, c.y), t == DType::f64 ? 1e-15 : 1e-7), "") << c.op.name;
    }
    EXPECT_EQ(eval(c.op, nullptr, {array(DType::f64, {0, 3}, {})}).size(), 0) << c.op.name;
    EXPECT_EQ(eval(c.op, nullptr, {array(DType::f64, {}, {0.5})}).rank(), 0) << c.op.name;
    EXPECT_EQ(refusal(c.op, nullptr, {Type::scalar(DType::boolean)}), "TL-DTYPE-004") << c.op.name;
    EXPECT_EQ(refusal(c.op, nullptr, {}), "TL-ARITY-001") << c.op.name;
  }
}

TEST(Elementwise, HalfTypesRoundTheFloatResult) {
  for (const ir::OpDef* op : {&rows::Exp, &rows::Tan, &rows::Asinh, &rows::Erf, &rows::ErfInv}) {
    for (DType t : {DType::f16, DType::bf16}) {
      const HostArray x = numbers(t, {0.3, -0.7, 0.001});
      const HostArray wide = numbers(DType::f32, {x.element(0), x.element(1), x.element(2)});
      const HostArray y = eval(*op, nullptr, {wide});
      EXPECT_EQ(difference(eval(*op, nullptr, {x}),
                           numbers(t, {y.element(0), y.element(1), y.element(2)})),
                "")
          << op->name;
    }
  }
}

TEST(Elementwise, ErfInvInvertsErf) {
  for (double x : {1e-8, 0.1, 0.5, 0.9, 0.99, 0.999999, 1 - 1e-9, 1 - 1e-15}) {
    const double y = eval(rows::ErfInv, nullptr, {f64({x})}).element(0);
    EXPECT_NEAR(std::erf(y), x, 4e-16) << x;
    const auto single = static_cast<float>(x);
    if (single == 1) continue;
    const double z = eval(rows::ErfInv, nullptr, {numbers(DType::f32, {single})}).element(0);
    EXPECT_NEAR(z / eval(rows::ErfInv, nullptr, {f64({single})}).element(0), 1, 1e-6) << x;
  }
}

TEST(Elementwise, IntegersWrapAndNeverTrap) {
  for (DType t : kIntegers) {
    SCOPED_TRACE(name(t));
    const double low = least(t), high = greatest(t);
    const bool is_signed = is_signed_integer(t);
    auto check = [&](const ir::OpDef& op, std::vector<std::vector<double>> in,
                     std::vector<double> out) {
      std::vector<HostArray> arrays;
      for (auto x : in) arrays.push_back(numbers(t, x));
      EXPECT_EQ(difference(eval(op, nullptr, arrays), numbers(t, out)), "") << op.name;
    };
    check(rows::Add, {{high, 1}, {1, 2}}, {low, 3});
    check(rows::Sub, {{low}, {1}}, {high});
    check(rows::Mul, {{high}, {high}}, {1});
    check(rows::Max, {{low}, {high}}, {high});
    check(rows::Min, {{low}, {high}}, {low});
    check(rows::Sign, {{0, high}}, {0, 1});
    check(rows::Pow, {{2, 0, 1, 3}, {3, 0, high, 2}}, {8, 1, 1, 9});
    if (is_signed) {
      check(rows::Neg, {{low, 3}}, {low, -3});
      check(rows::Abs, {{low, -3}}, {low, 3});
      check(rows::Sign, {{low}}, {-1});
      check(rows::Div, {{7, -7, 7, low, 5}, {2, 2, 0, -1, -3}}, {3, -3, -1, low, -1});
      check(rows::Rem, {{7, -7, 7, low, 5}, {2, 2, 0, -1, -3}}, {1, -1, 7, 0, 2});
      check(rows::Pow, {{2, 1, -1, -1, 0}, {-1, -3, -3, -2, -1}}, {0, 1, -1, 1, 0});
    } else {
      check(rows::Neg, {{1}}, {high});
      check(rows::Div, {{7, 7}, {2, 0}}, {3, high});
      check(rows::Rem, {{7, 7}, {2, 0}}, {1, 7});
    }
    const double w = bit_width(t);
    check(rows::ShiftLeft, {{1, 1, 3}, {1, w, w - 1}},
          {2, 0, is_signed ? low : std::ldexp(1, bit_width(t) - 1)});
    check(rows::ShiftRightLogical, {{6, 6}, {1, w}}, {3, 0});
    check(rows::ShiftRightArithmetic, {{6, 6}, {1, w}}, {3, 0});
    if (is_signed) {
      check(rows::ShiftLeft, {{1}, {-1}}, {0});
      check(rows::ShiftRightLogical, {{-1, -1, -1}, {w - 1, -1, w}}, {1, 0, 0});
      check(rows::ShiftRightArithmetic, {{-5, -5, 5}, {1, -1, -1}}, {-3, -1, 0});
    } else {
      check(rows::ShiftRightArithmetic, {{high}, {w + 3}}, {high});
    }
    check(rows::Popcnt, {{0, 5, high}}, {0, 2, w - is_signed});
    check(rows::Clz, {{0, 1}}, {w, w - 1});
    check(rows::Xor, {{6}, {3}}, {5});
    check(rows::And, {{6}, {3}}, {2});
    check(rows::Or, {{6}, {3}}, {7});
    EXPECT_EQ(
        difference(eval(rows::IntegerPow, power(3), {numbers(t, {3, 0})}), numbers(t, {27, 0})),
        "");
    EXPECT_EQ(refusal(rows::IntegerPow, power(-1), {Type::scalar(t)}), "TL-DTYPE-004");
  }
}

TEST(Elementwise, BinaryEdges) {
  struct Case {
    const ir::OpDef& op;
    std::vector<double> x, y, z;
  };
  const Case cases[] = {
      {rows::Div, {1, 0, -1}, {0, 0, 0}, {kInf, kNan, -kInf}},
      {rows::Max, {0, -0., kNan, 1}, {-0., 0, 1, kNan}, {0, 0, kNan, kNan}},
      {rows::Min, {0, -0., kNan, 1}, {-0., 0, 1, kNan}, {-0., -0., kNan, kNan}},
      {rows::Rem, {5, 5, -3, -0., kInf, 5}, {0, kInf, 3, 2, 2, -3}, {kNan, 5, -0., -0., kNan, 2}},
      {rows::Pow,
       {0, 0, 0, -1, kNan, 1, -1, kInf, -8, -0.},
       {0, 1, -1, 2, 0, kNan, kInf, 0, 1. / 3, -1},
       {1, 0, kInf, 1, 1, 1, 1, 1, kNan, -kInf}},
      {rows::Atan2, {0, -0., 0, -0.}, {0, 0, -0., -0.}, {0, -0., kPi, -kPi}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(difference(eval(c.op, nullptr, {f64(c.x), f64(c.y)}), f64(c.z), 1e-15), "")
        << c.op.name;
    EXPECT_EQ(
        eval(c.op, nullptr, {array(DType::f64, {0, 3}, {}), array(DType::f64, {0, 3}, {})}).size(),
        0)
        << c.op.name;
    const Type x = Type::get(DType::f32, {2}), y = Type::get(DType::f64, {2});
    EXPECT_EQ(refusal(c.op, nullptr, {x, y}), "TL-DTYPE-001") << c.op.name;
    EXPECT_EQ(refusal(c.op, nullptr, {x, Type::scalar(DType::f32)}), "TL-RANK-001") << c.op.name;
    EXPECT_EQ(refusal(c.op, nullptr, {x, Type::get(DType::f32, {3})}), "TL-SHAPE-001") << c.op.name;
    EXPECT_EQ(refusal(c.op, nullptr, {x}), "TL-ARITY-001") << c.op.name;
  }
  for (const ir::OpDef* op : {&rows::ShiftLeft, &rows::Xor, &rows::Popcnt, &rows::Clz}) {
    const std::vector<Type> in(op == &rows::Popcnt || op == &rows::Clz ? 1 : 2,
                               Type::scalar(DType::f32));
    EXPECT_EQ(refusal(*op, nullptr, in), "TL-DTYPE-004") << op->name;
  }
}

TEST(Elementwise, IntegerPowOfFloats) {
  auto check = [](std::int64_t n, std::vector<double> x, std::vector<double> y) {
    EXPECT_EQ(difference(eval(rows::IntegerPow, power(n), {f64(x)}), f64(y)), "") << n;
  };
  check(0, {kNan, kInf, 0}, {1, 1, 1});
  check(1, {kNan, -0.}, {kNan, -0.});
  check(5, {2, -2, kInf}, {32, -32, kInf});
  check(-1, {0, -0., 4}, {kInf, -kInf, 0.25});
  check(-2, {-0., 2, kInf}, {kInf, 0.25, 0});
}

TEST(Elementwise, Clamp) {
  auto check = [](std::vector<HostArray> in, std::vector<double> y) {
    EXPECT_EQ(difference(eval(rows::Clamp, nullptr, std::move(in)), f64(y)), "");
  };
  check({array(DType::f64, {}, {0}), f64({-1, 0.5, 2, kNan}), array(DType::f64, {}, {1})},
        {0, 0.5, 1, kNan});
  check({array(DType::f64, {}, {2}), f64({0, 5}), array(DType::f64, {}, {1})},
        {1, 1});  // lo > hi gives hi
  check({f64({0, kNan}), f64({-1, 1}), array(DType::f64, {}, {1})}, {0, kNan});
  const Type scalar = Type::scalar(DType::f32), x = Type::get(DType::f32, {2, 3});
  EXPECT_EQ(refusal(rows::Clamp, nullptr, {Type::get(DType::f32, {3}), x, scalar}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::Clamp, nullptr, {Type::scalar(DType::f64), x, scalar}), "TL-DTYPE-001");
  EXPECT_EQ(refusal(rows::Clamp, nullptr, {scalar, x}), "TL-ARITY-001");
}

TEST(Elementwise, IsFinite) {
  for (DType t : kFloats) {
    EXPECT_EQ(difference(eval(rows::IsFinite, nullptr, {numbers(t, {0, kInf, -kInf, kNan, 1e30})}),
                         numbers(DType::boolean, {1, 0, 0, 0, t == DType::f16 ? 0. : 1.})),
              "");
  }
  EXPECT_EQ(refusal(rows::IsFinite, nullptr, {Type::scalar(DType::i32)}), "TL-DTYPE-004");
}

TEST(Elementwise, BitcastConvert) {
  auto to = [](DType t) { return ir::make_attr(BitcastConvertAttrs{t}); };
  const HostArray bytes = eval(rows::BitcastConvert, to(DType::u8), {numbers(DType::f32, {1, 2})});
  EXPECT_EQ(difference(bytes, array(DType::u8, {2, 4}, {0, 0, 128, 63, 0, 0, 0, 64})), "");
  EXPECT_EQ(
      difference(eval(rows::BitcastConvert, to(DType::f32), {bytes}), numbers(DType::f32, {1, 2})),
      "");
  EXPECT_EQ(difference(eval(rows::BitcastConvert, to(DType::u32), {numbers(DType::f32, {-0.})}),
                       numbers(DType::u32, {2147483648.})),
            "");
  EXPECT_EQ(refusal(rows::BitcastConvert, to(DType::f32), {Type::scalar(DType::u8)}),
            "TL-RANK-001");
  EXPECT_EQ(refusal(rows::BitcastConvert, to(DType::f32), {Type::get(DType::u8, {3})}),
            "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::BitcastConvert, to(DType::boolean), {Type::scalar(DType::u8)}),
            "TL-DTYPE-004");
}

TEST(Elementwise, ReducePrecision) {
  auto check = [](DType t, int exponent, int mantissa, std::vector<double> x,
                  std::vector<double> y) {
    const auto attr = ir::make_attr(ReducePrecisionAttrs{exponent, mantissa});
    EXPECT_EQ(difference(eval(rows::ReducePrecision, attr, {numbers(t, x)}), numbers(t, y)), "")
        << exponent << " " << mantissa;
  };
  const double tiny = std::ldexp(1, -14);
  check(DType::f32, 5, 10, {65519, 65520, 1e-9, -1e-9, kNan, kInf, tiny, tiny / 2},
        {65504, kInf, 0, -0., kNan, kInf, tiny, 0});
  check(DType::f32, 4, 3, {3.3, 1.0625, 448, 240}, {3.25, 1, kInf, 240});
  check(DType::f32, 8, 7, {3.3, 65519}, {3.296875, 65536});
  check(DType::f64, 8, 23, {1 + std::ldexp(1, -24), 1e39}, {1, kInf});
  check(DType::f16, 5, 2, {3.3, 63000}, {3.5, kInf});
  check(DType::bf16, 5, 7, {3.3, 1e30, 1e-30}, {3.296875, kInf, 0});
  const auto none = ir::make_attr(ReducePrecisionAttrs{0, 3});
  EXPECT_EQ(refusal(rows::ReducePrecision, none, {Type::scalar(DType::f32)}), "TL-ATTR-001");
}

TEST(Elementwise, ConvertRoundsOnce) {
  // Halfway between two neighbours in the narrow type plus a bit that a float can't hold.
  EXPECT_EQ(static_cast<float>(convert_element<BFloat16>(1 + 0x1p-8 + 0x1p-40)), 1 + 0x1p-7f);
  EXPECT_EQ(static_cast<float>(convert_element<BFloat16>(1 + 0x1p-8)), 1.f);
  EXPECT_EQ(static_cast<float>(convert_element<Half>(2049.0000001)), 2050.f);
  EXPECT_EQ(static_cast<float>(convert_element<Half>(-2049.0000001)), -2050.f);
  EXPECT_EQ(static_cast<float>(convert_element<Half>(1e300)),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(convert_element<Half>(0x1p-25 + 0x1p-70)), 0x1p-24f);
  const std::int64_t half = std::int64_t{1} << 54;
  EXPECT_EQ(static_cast<float>(convert_element<BFloat16>((half << 8) + half + 1)),
            0x1p62f + 0x1p55f);
  EXPECT_EQ(static_cast<float>(convert_element<BFloat16>(-(half << 8) - half)), -0x1p62f);
  EXPECT_EQ(static_cast<float>(convert_element<BFloat16>(std::numeric_limits<std::int64_t>::min())),
            -0x1p63f);
  EXPECT_EQ(convert_element<std::uint8_t>(-1.f), 0);
  EXPECT_EQ(convert_element<std::int32_t>(kNan), 0);
  EXPECT_EQ(convert_element<std::int8_t>(-1.9f), -1);
  EXPECT_EQ(convert_element<std::int64_t>(kInf), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(convert_element<bool>(kNan));
}

}  // namespace
}  // namespace tlaloc::ops
