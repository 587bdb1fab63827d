// Values of reductions and running reductions; what they refuse.
#include "tlaloc/ops/reduce.h"

#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {

using testing::all_dtypes;
using testing::array;
using testing::counting;
using testing::difference;
using testing::eval;
using testing::f64;
using testing::kInf;
using testing::kNan;
using testing::numbers;
using testing::refusal;

ir::AttrRef over(std::vector<std::int64_t> axes) { return ir::make_attr(ReduceAttrs{axes}); }
ir::AttrRef along(std::int64_t axis, bool reverse = false, bool exclusive = false) {
  return ir::make_attr(CumulativeAttrs{axis, reverse, exclusive});
}
ir::AttrRef position(std::int64_t axis, DType t = DType::i32) {
  return ir::make_attr(ArgReduceAttrs{axis, t});
}
bool takes(const ir::OpDef& op, const ir::AttrRef& attr, DType t) {
  return refusal(op, attr, {Type::get(t, {2})}).empty();
}

TEST(Reduce, EveryElementType) {
  for (DType t : all_dtypes()) {
    SCOPED_TRACE(name(t));
    auto check = [&](const ir::OpDef& op, std::vector<double> x, double y) {
      EXPECT_EQ(difference(eval(op, over({0}), {numbers(t, x)}), array(t, {}, {y})), "") << op.name;
    };
    const bool is_bool = t == DType::boolean;
    const std::vector<double> x{3, 1, 2};
    check(rows::ReduceMax, x, 3);
    check(rows::ReduceMin, x, 1);
    EXPECT_EQ(takes(rows::ReduceSum, over({0}), t), !is_bool);
    EXPECT_EQ(takes(rows::ReduceProd, over({0}), t), !is_bool);
    EXPECT_EQ(takes(rows::ReduceAnd, over({0}), t), !is_float(t));
    EXPECT_EQ(takes(rows::ReduceOr, over({0}), t), !is_float(t));
    if (!is_bool) {
      check(rows::ReduceSum, x, 6);
      check(rows::ReduceProd, x, 6);
      check(rows::ReduceSum, {}, 0);
      check(rows::ReduceProd, {}, 1);
    }
    if (!is_float(t)) {
      check(rows::ReduceAnd, {7, 3, 6}, is_bool ? 1 : 2);
      check(rows::ReduceOr, {4, 1, 0}, is_bool ? 1 : 5);
      check(rows::ReduceOr, {}, 0);
      // All ones: -1 of signed types, the greatest value of the others.
      check(rows::ReduceAnd, {}, is_signed_integer(t) ? -1 : 1e30);
    }
    check(rows::ReduceMax, {}, is_bool ? 0 : -kInf);
    check(rows::ReduceMin, {}, kInf);
  }
}

TEST(Reduce, EdgesOfFloats) {
  auto check = [](const ir::OpDef& op, std::vector<double> x, double y) {
    EXPECT_EQ(difference(eval(op, over({0}), {f64(x)}), array(DType::f64, {}, {y})), "") << op.name;
  };
  check(rows::ReduceSum, {-0., -0.}, 0);
  check(rows::ReduceProd, {-0., 2}, -0.);
  check(rows::ReduceMax, {-0., 0, -1}, 0);
  check(rows::ReduceMin, {0, -0., 1}, -0.);
  check(rows::ReduceMax, {1, kNan, 3}, kNan);
  check(rows::ReduceMin, {1, kNan, 3}, kNan);
  check(rows::ReduceProd, {0, kInf}, kNan);
  check(rows::ReduceMax, {-kInf}, -kInf);
}

TEST(Reduce, HalfTypesRoundOnce) {
  // One by one each 1 would be lost next to 2048.
  const HostArray x = numbers(DType::f16, {2048, 1, 1, 1, 1});
  EXPECT_EQ(eval(rows::ReduceSum, over({0}), {x}).element(0), 2052);
  const HostArray y = numbers(DType::bf16, {256, 1, 1});
  EXPECT_EQ(difference(eval(rows::CumSum, along(0), {y}), numbers(DType::bf16, {256, 256, 258})),
            "");
}

TEST(Reduce, IntegersWrap) {
  EXPECT_EQ(eval(rows::ReduceSum, over({0}), {numbers(DType::i8, {127, 1})}).element_int(0), -128);
  EXPECT_EQ(eval(rows::ReduceProd, over({0}), {numbers(DType::u8, {16, 17})}).element_int(0), 16);
  EXPECT_EQ(difference(eval(rows::CumSum, along(0), {numbers(DType::i8, {127, 1})}),
                       numbers(DType::i8, {127, -128})),
            "");
}

TEST(Reduce, Axes) {
  const HostArray x = counting(DType::f64, {2, 3, 4});
  EXPECT_EQ(difference(eval(rows::ReduceSum, over({0, 2}), {x}), f64({60, 92, 124})), "");
  EXPECT_EQ(difference(eval(rows::ReduceMax, over({1}), {x}),
                       array(DType::f64, {2, 4}, {8, 9, 10, 11, 20, 21, 22, 23})),
            "");
  EXPECT_EQ(eval(rows::ReduceProd, over({1}), {array(DType::f64, {3, 0}, {})}).size(), 3);
  for (const ir::OpDef* op : {&rows::ReduceSum, &rows::ReduceProd, &rows::ReduceMin}) {
    const std::vector<Type> in{Type::get(DType::f32, {2, 3})};
    EXPECT_EQ(refusal(*op, over({2}), in), "TL-AXIS-001");
    EXPECT_EQ(refusal(*op, over({-1}), in), "TL-AXIS-001");
    EXPECT_EQ(refusal(*op, over({1, 0}), in), "TL-AXIS-001");
    EXPECT_EQ(refusal(*op, over({0}), {}), "TL-ARITY-001");
  }
}

TEST(ArgReduce, FirstOfEqualsAndFirstNan) {
  auto check = [](const ir::OpDef& op, std::vector<double> x, double y) {
    EXPECT_EQ(difference(eval(op, position(0), {f64(x)}), array(DType::i32, {}, {y})), "")
        << op.name;
  };
  check(rows::ArgMax, {1, 3, 3}, 1);
  check(rows::ArgMin, {2, 1, 1}, 1);
  check(rows::ArgMax, {1, kNan, 3, kNan}, 1);
  check(rows::ArgMin, {1, kNan, 0, kNan}, 1);
  check(rows::ArgMax, {-0., 0}, 0);
  check(rows::ArgMax, {-kInf, -kInf}, 0);
  for (DType t : all_dtypes()) {
    EXPECT_EQ(eval(rows::ArgMax, position(0, DType::u8), {numbers(t, {0, 1, 0})}).element(0), 1);
    EXPECT_EQ(eval(rows::ArgMin, position(0, DType::i64), {numbers(t, {1, 0, 1})}).element(0), 1);
  }
  const HostArray x = array(DType::i32, {2, 3}, {1, 5, 2, 7, 0, 9});
  EXPECT_EQ(difference(eval(rows::ArgMax, position(0), {x}), numbers(DType::i32, {1, 0, 1})), "");
  EXPECT_EQ(difference(eval(rows::ArgMax, position(1), {x}), numbers(DType::i32, {1, 2})), "");
  EXPECT_EQ(eval(rows::ArgMax, position(1), {array(DType::f64, {0, 3}, {})}).size(), 0);
}

TEST(ArgReduce, Refusals) {
  const std::vector<Type> in{Type::get(DType::f32, {2, 0})};
  EXPECT_EQ(refusal(rows::ArgMax, position(1), in), "TL-SHAPE-001");
  try {
    ir::Builder b;
    argmax(b.param(in[0]), 1);
    ADD_FAILURE() << "an empty axis went unseen";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("argmax"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("axis 1 is empty"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("pad the axis"));
  }
  EXPECT_EQ(refusal(rows::ArgMax, position(2), in), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::ArgMax, position(0, DType::f32), in), "TL-DTYPE-004");
  const std::vector<Type> long_axis{Type::get(DType::f32, {129})};
  EXPECT_EQ(refusal(rows::ArgMax, position(0, DType::i8), long_axis), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::ArgMax, position(0, DType::u8), long_axis), "");
}

TEST(Cumulative, Values) {
  auto check = [](const ir::OpDef& op, const ir::AttrRef& attr, std::vector<double> x,
                  std::vector<double> y) {
    EXPECT_EQ(difference(eval(op, attr, {f64(x)}), f64(y), 1e-15), "") << op.name;
  };
  check(rows::CumSum, along(0), {1, 2, 3}, {1, 3, 6});
  check(rows::CumSum, along(0, true), {1, 2, 3}, {6, 5, 3});
  check(rows::CumSum, along(0, false, true), {1, 2, 3}, {0, 1, 3});
  check(rows::CumSum, along(0, true, true), {1, 2, 3}, {5, 3, 0});
  check(rows::CumSum, along(0), {-0.}, {0});
  check(rows::CumProd, along(0), {2, 0, 3}, {2, 0, 0});
  check(rows::CumProd, along(0, true, true), {2, 5, 3}, {15, 3, 1});
  check(rows::CumMax, along(0), {1, kNan, 2}, {1, kNan, kNan});
  check(rows::CumMax, along(0), {-0., 0, -1}, {-0., 0, 0});
  check(rows::CumMax, along(0, false, true), {1, 0, 2}, {-kInf, 1, 1});
  check(rows::CumMin, along(0, true), {3, 1, 2}, {1, 1, 2});
  check(rows::CumLogSumExp, along(0), {-kInf, -kInf, 1, 1},
        {-kInf, -kInf, 1, 1 + 0.69314718055994530942});
  check(rows::CumLogSumExp, along(0), {1, kInf, 2, kNan}, {1, kInf, kInf, kNan});
  check(rows::CumLogSumExp, along(0), {1000, 1000}, {1000, 1000 + 0.69314718055994530942});
  const HostArray x = counting(DType::i32, {2, 3});
  EXPECT_EQ(
      difference(eval(rows::CumSum, along(0), {x}), array(DType::i32, {2, 3}, {0, 1, 2, 3, 5, 7})),
      "");
  EXPECT_EQ(
      difference(eval(rows::CumSum, along(1), {x}), array(DType::i32, {2, 3}, {0, 1, 3, 3, 7, 12})),
      "");
}

TEST(Cumulative, TypesAndRefusals) {
  for (DType t : all_dtypes()) {
    const bool is_bool = t == DType::boolean;
    EXPECT_EQ(takes(rows::CumSum, along(0), t), !is_bool);
    EXPECT_EQ(takes(rows::CumProd, along(0), t), !is_bool);
    EXPECT_EQ(takes(rows::CumLogSumExp, along(0), t), is_float(t));
    EXPECT_EQ(
        difference(eval(rows::CumMax, along(0), {numbers(t, {0, 1, 0})}), numbers(t, {0, 1, 1})),
        "");
    EXPECT_EQ(
        difference(eval(rows::CumMin, along(0), {numbers(t, {1, 0, 1})}), numbers(t, {1, 0, 0})),
        "");
  }
  EXPECT_EQ(refusal(rows::CumSum, along(0), {Type::scalar(DType::f32)}), "TL-AXIS-001");
  EXPECT_EQ(eval(rows::CumMax, along(0), {array(DType::f64, {0, 2}, {})}).size(), 0);
}

}  // namespace
}  // namespace tlaloc::ops
