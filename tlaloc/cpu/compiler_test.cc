#include "tlaloc/cpu/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class CompileIr : public testing::CodegenTest {};

/// y[i] = x[i] * (i mod 8 + 1), by eights: reads a constant from memory.
constexpr std::string_view kVector = R"(
define void @scale(ptr %y, ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %a = load <8 x float>, ptr %px, align 4
  %b = fmul <8 x float> %a, <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0, float 7.0, float 8.0>
  store <8 x float> %b, ptr %py, align 4
  %next = add i64 %i, 8
  br label %head
done:
  ret void
}
)";

TEST_F(CompileIr, VectorKernel) {
  const auto image = compile_ir(kVector);
  std::vector<float> x(64), y(64);
  std::iota(x.begin(), x.end(), 1.0F);
  image->function<void(float*, const float*, std::int64_t)>("scale")(y.data(), x.data(), 64);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], x[i] * static_cast<float>(i % 8 + 1)) << i;
  EXPECT_THAT(testing::mapping_of(image->address("scale")), HasSubstr(" r-xp "));
}

/// The sum of the squares below n, and its use by a second function; variables in memory.
constexpr std::string_view kScalar = R"(
define i64 @squares(i64 %n) {
entry:
  %i = alloca i64
  %sum = alloca i64
  store i64 0, ptr %i
  store i64 0, ptr %sum
  br label %head
head:
  %i0 = load i64, ptr %i
  %more = icmp slt i64 %i0, %n
  br i1 %more, label %body, label %done
body:
  %square = mul i64 %i0, %i0
  %s0 = load i64, ptr %sum
  %s1 = add i64 %s0, %square
  store i64 %s1, ptr %sum
  %i1 = add i64 %i0, 1
  store i64 %i1, ptr %i
  br label %head
done:
  %s = load i64, ptr %sum
  ret i64 %s
}
define i64 @difference(i64 %n) noinline {
  %a = call i64 @squares(i64 %n)
  %m = sub i64 %n, 1
  %b = call i64 @squares(i64 %m)
  %d = sub i64 %a, %b
  ret i64 %d
}
)";

TEST_F(CompileIr, ScalarLoopsAtEveryEffort) {
  for (const std::string_view passes : {kKernelPasses, kScalarPasses})
    for (const int level : {0, 1, 2, 3}) {
      const auto image = compile_ir(kScalar, {.passes = std::string(passes), .level = level});
      EXPECT_EQ(image->function<std::int64_t(std::int64_t)>("squares")(1000), 332833500);
      EXPECT_EQ(image->function<std::int64_t(std::int64_t)>("difference")(1000), 998001);
    }
}

TEST_F(CompileIr, JumpTableAndTableOfConstants) {
  const auto image = compile_ir(R"(
@table = constant [4 x double] [double 0.5, double 1.5, double 2.5, double 3.5]
define double @choose(i64 %k) {
  switch i64 %k, label %other [ i64 0, label %a
                                i64 1, label %b
                                i64 2, label %c
                                i64 3, label %d
                                i64 4, label %e ]
a:
  ret double 10.0
b:
  ret double -20.0
c:
  %three = load double, ptr getelementptr (double, ptr @table, i64 3)
  ret double %three
d:
  %i = and i64 %k, 1
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  %w = fadd double %v, 40.0
  ret double %w
e:
  %f = sitofp i64 %k to double
  ret double %f
other:
  ret double 0.0
}
)",
                                {.passes = ""});
  auto* choose = image->function<double(std::int64_t)>("choose");
  const double expected[] = {10, -20, 3.5, 41.5, 4, 0, 0};
  for (std::int64_t k = 0; k < 7; ++k) EXPECT_EQ(choose(k), expected[k]) << k;
}

TEST_F(CompileIr, CallsOutThroughAPointer) {
  const auto image = compile_ir(R"(
define i64 @apply(ptr %f, i64 %x) {
  %y = call i64 %f(i64 %x)
  %z = add i64 %y, 1
  ret i64 %z
}
)");
  std::int64_t (*square)(std::int64_t) = [](std::int64_t x) { return x * x; };
  EXPECT_EQ(image->function<std::int64_t(decltype(square), std::int64_t)>("apply")(square, 7), 50);
}

TEST_F(CompileIr, NamesTheLineThatLlvmRefuses) {
  EXPECT_THAT(
      [] { compile_ir("define void @f() {\n  retire\n}\n", {.name = "loss"}); },
      ThrowsMessage<InternalError>(HasSubstr(
          "TL-INTERNAL-001: LLVM refuses loss: loss:2:3: error: expected instruction opcode")));
}

TEST_F(CompileIr, NamesTheSymbolThatIsMissing) {
  EXPECT_THAT(
      [] {
        compile_ir(
            "declare float @llvm.exp.f32(float)\n"
            "define float @f(float %x) {\n  %y = call float @llvm.exp.f32(float %x)\n"
            "  ret float %y\n}\n",
            {.name = "loss"});
      },
      ThrowsMessage<InternalError>(HasSubstr(
          "the code of loss can't be linked: it needs expf, and calls can leave the code only "
          "through a pointer that is passed in")));
}

}  // namespace
}  // namespace tlaloc::cpu
