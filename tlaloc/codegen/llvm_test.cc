#include "tlaloc/codegen/llvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/codegen/elf_link.h"
#include "tlaloc/codegen/testing.h"

namespace tlaloc::codegen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST(Llvm, SyntaxErrorsHaveTheirLine) {
  EXPECT_THAT([] { compile(request("define void @f() {\n\n  %x = add i33 1, 2.5\n}\n")); },
              ThrowsMessage<InternalError>(HasSubstr("LLVM refuses test: test:3:19: error: ")));
}

TEST(Llvm, VerifierErrorsHaveTheirLine) {
  EXPECT_THAT(
      [] {
        compile(
            request("define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n"
                    "  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}\n"));
      },
      ThrowsMessage<InternalError>(
          HasSubstr("LLVM refuses test: line 4: Instruction does not dominate all uses!")));
}

TEST(Llvm, UnknownPassesAreRefused) {
  EXPECT_THAT([] { compile(request("", {.passes = "make-faster"})); },
              ThrowsMessage<InternalError>(HasSubstr("make-faster")));
}

TEST(Llvm, ErrorsOfCodeGenerationAreRefused) {
  EXPECT_THAT(
      [] {
        compile(
            request("define void @f() {\n  call void asm \"make_faster\", \"\"()\n"
                    "  ret void\n}\n"));
      },
      ThrowsMessage<InternalError>(HasSubstr("make_faster")));
}

constexpr std::string_view kMultiplyAdd = R"(
define <8 x float> @f(<8 x float> %a, <8 x float> %b, <8 x float> %c) {
  %m = fmul <8 x float> %a, %b
  %s = fadd <8 x float> %m, %c
  ret <8 x float> %s
}
)";

TEST(Llvm, CompilesForTheProcessorThatIsNamed) {
  const std::string avx =
      compile(request(kMultiplyAdd, {.cpu = "x86-64-v3", .explain = true})).assembly;
  EXPECT_THAT(avx, AllOf(HasSubstr("ymm"), Not(HasSubstr("zmm"))));
  const std::string sse =
      compile(request(kMultiplyAdd, {.cpu = "x86-64", .explain = true})).assembly;
  EXPECT_THAT(sse, AllOf(HasSubstr("xmm"), Not(HasSubstr("ymm"))));
  const std::string without =
      compile(request(kMultiplyAdd, {.cpu = "x86-64-v3", .features = "-avx", .explain = true}))
          .assembly;
  EXPECT_THAT(without, Not(HasSubstr("ymm")));
}

TEST(Llvm, MultiplyAndAddRoundTwiceUnlessTold) {
  EXPECT_THAT(compile(request(kMultiplyAdd, {.cpu = "x86-64-v3", .explain = true})).assembly,
              Not(HasSubstr("vfmadd")));
  std::string contracted(kMultiplyAdd);
  contracted.replace(contracted.find("fmul"), 4, "fmul contract");
  contracted.replace(contracted.find("fadd"), 4, "fadd contract");
  EXPECT_THAT(compile(request(contracted, {.cpu = "x86-64-v3", .explain = true})).assembly,
              HasSubstr("vfmadd"));
}

/// Loops that fill and copy, which LLVM likes to make calls of.
TEST(Llvm, LoopsDoNotBecomeCalls) {
  const Compiled compiled = compile(request(R"(
define void @fill_and_copy(ptr noalias %y, ptr noalias %x, ptr noalias %z, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %pz = getelementptr float, ptr %z, i64 %i
  %v = load float, ptr %px
  store float %v, ptr %py
  store float 0.0, ptr %pz
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}
)",
                                            {.passes = "default<O2>", .explain = true}));
  EXPECT_THAT(compiled.optimized_ir, Not(HasSubstr("@llvm.mem")));
  EXPECT_NO_THROW(link_object(compiled.object, "test"));
}

TEST(Llvm, ExplainsOnRequestOnly) {
  const Compiled plain = compile(request(kMultiplyAdd));
  EXPECT_THAT(plain.optimized_ir + plain.assembly, IsEmpty());
  const Compiled explained = compile(request(kMultiplyAdd, {.explain = true}));
  EXPECT_EQ(explained.object, plain.object);
  EXPECT_THAT(explained.optimized_ir, HasSubstr("define hidden <8 x float> @f("));
}

}  // namespace
}  // namespace tlaloc::codegen
