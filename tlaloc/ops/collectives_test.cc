#include "tlaloc/ops/collectives.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;

ir::AttrRef reduce(Collective r, Dim devices) {
  return ir::make_attr(AllReduceAttrs{r, {"data", devices}});
}
ir::AttrRef exchange(std::int64_t axis, Dim devices) {
  return ir::make_attr(ExchangeAttrs{axis, {"data", devices}});
}

TEST(Collectives, OneDeviceHandsItsOperandOn) {
  const HostArray x = counting(DType::f32, {2, 2});
  for (Collective r : {Collective::sum, Collective::max, Collective::min}) {
    EXPECT_TRUE(identical(eval(rows::AllReduce, reduce(r, 1), {x}), x));
  }
  EXPECT_TRUE(identical(eval(rows::AllGather, exchange(1, 1), {x}), x));
  EXPECT_TRUE(identical(eval(rows::ReduceScatter, exchange(0, 1), {x}), x));
  const Dim d = ir::Symbol::fresh("d");
  EXPECT_TRUE(
      identical(eval(rows::AllReduce, reduce(Collective::sum, d), {x}, {{*d.as_symbol(), 1}}), x));
}
TEST(Collectives, MoreDevicesAreRefusedByTheInterpreter) {
  const HostArray x = counting(DType::f32, {2});
  auto code = [&](const ir::OpDef& op, const ir::AttrRef& attr) {
    try {
      eval(op, attr, {x});
      return std::string();
    } catch (const UserError& e) {
      return e.code();
    }
  };
  EXPECT_EQ(code(rows::AllReduce, reduce(Collective::sum, 2)), "TL-MESH-001");
  EXPECT_EQ(code(rows::AllGather, exchange(0, 2)), "TL-MESH-001");
  EXPECT_EQ(code(rows::ReduceScatter, exchange(0, 2)), "TL-MESH-001");
}
TEST(Collectives, InferAndRefuse) {
  const Dim n = ir::Symbol::fresh("n");
  const Type x = Type::get(DType::f32, {n, 8});
  EXPECT_EQ(inferred(rows::AllReduce, reduce(Collective::sum, 4), {x}), "f32[n, 8]");
  EXPECT_EQ(inferred(rows::AllGather, exchange(0, 4), {x}), "f32[4*n, 8]");
  EXPECT_EQ(inferred(rows::ReduceScatter, exchange(1, 4), {x}), "f32[n, 2]");
  EXPECT_EQ(refusal(rows::ReduceScatter, exchange(1, 3), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::AllGather, exchange(2, 1), {x}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::AllReduce, reduce(Collective::sum, 0), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::AllReduce, reduce(Collective::sum, 1), {x.with_dtype(DType::boolean)}),
            "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
