#include "tlaloc/ops/effects.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;

ir::AttrRef print(std::string format) { return ir::make_attr(DebugPrintAttrs{std::move(format)}); }

/// What is printed while it lives.
struct Capture {
  std::vector<std::string> lines;
  PrintHook before = set_print_hook([this](std::string_view s) { lines.emplace_back(s); });
  ~Capture() { set_print_hook(before); }
};

TEST(DebugPrint, FormatsScalarsAndArrays) {
  Capture capture;
  eval_all(rows::DebugPrint, print("x = {}, {{y}} = {}"),
           {array(DType::f32, {}, {0.5}), counting(DType::i32, {2, 2})});
  eval_all(rows::DebugPrint, print("{}{}"),
           {array(DType::boolean, {2}, {1, 0}), array(DType::bf16, {0, 3}, {})});
  eval_all(rows::DebugPrint, print("here"), {});
  EXPECT_THAT(capture.lines, ElementsAre("x = 0.5, {y} = [[0, 1], [2, 3]]",
                                         "[true, false][] of shape [0, 3]", "here"));
}
TEST(DebugPrint, EveryElementType) {
  Capture capture;
  for (DType t : all_dtypes()) eval_all(rows::DebugPrint, print("{}"), {array(t, {1}, {1})});
  for (const std::string& line : capture.lines) EXPECT_TRUE(line == "[1]" || line == "[true]");
}
TEST(DebugPrint, Refusals) {
  const Type x = Type::scalar(DType::f32);
  EXPECT_EQ(refusal(rows::DebugPrint, print("{}"), {}), "TL-FORMAT-001");
  EXPECT_EQ(refusal(rows::DebugPrint, print("a"), {x}), "TL-FORMAT-001");
  EXPECT_EQ(refusal(rows::DebugPrint, print("{0}"), {x}), "TL-FORMAT-001");
  EXPECT_EQ(refusal(rows::DebugPrint, print("}"), {}), "TL-FORMAT-001");
}

ir::AttrRef call(std::string name, std::vector<Type> results) {
  return ir::make_attr(CustomCallAttrs{std::move(name), "twice", std::move(results)});
}
std::string code(const ir::AttrRef& attr, std::vector<HostArray> args) {
  try {
    eval_all(rows::CustomCall, attr, std::move(args));
    return "";
  } catch (const UserError& e) {
    return e.code();
  }
}

TEST(CustomCall, RunsWhatIsRegistered) {
  register_custom_call("test.double", [](std::span<const HostArray> in, const std::string& config) {
    EXPECT_EQ(config, "twice");
    return std::vector{array(DType::f32, in[0].extents(), {2 * in[0].element(0)})};
  });
  const Type one = Type::get(DType::f32, {1});
  const HostArray x = array(DType::f32, {1}, {3});
  EXPECT_THAT(values(eval(rows::CustomCall, call("test.double", {one}), {x})), ElementsAre(6));
  EXPECT_EQ(code(call("test.unknown", {one}), {x}), "TL-CUSTOM-004");
  EXPECT_EQ(code(call("test.double", {Type::get(DType::f32, {2})}), {x}), "TL-CUSTOM-002");
  EXPECT_EQ(code(call("test.double", {one, one}), {x}), "TL-CUSTOM-002");
  EXPECT_EQ(refusal(rows::CustomCall, call("test.double", {}), {one}), "TL-ARITY-001");
}
TEST(CustomCall, ResultTypesMayBeSymbolic) {
  const Dim n = ir::Symbol::fresh("n");
  const Type t = Type::get(DType::f32, {n});
  EXPECT_EQ(inferred(rows::CustomCall, call("test.any", {t, Type::scalar(DType::i32)}), {t}),
            "f32[n]; i32[]");
}

}  // namespace
}  // namespace tlaloc::ops
