#include "tlaloc/cpu/codegen_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::ThrowsMessage;

constexpr std::string_view kText = "define i32 @one() {\n  ret i32 1\n}\n";

TEST(CodegenLibrary, MissingIsAnErrorThatSaysWhatToDo) {
  EXPECT_THAT([] { generate("/nowhere/libtlaloc_codegen.so", kText, {}, false); },
              ThrowsMessage<EnvironmentError>(AllOf(
                  HasSubstr("TL-CODEGEN-001: compile: the library that generates code can't be "
                            "loaded: /nowhere/libtlaloc_codegen.so: cannot open shared object"),
                  HasSubstr("llvm-19-dev"), HasSubstr("TLALOC_CODEGEN_LIBRARY"))));
}

TEST(CodegenLibrary, AnotherLibraryIsRefused) {
  EXPECT_THAT([] { generate("libm.so.6", kText, {}, false); },
              ThrowsMessage<EnvironmentError>(
                  HasSubstr("libm.so.6: not of this version of Tlaloc; build Tlaloc where")));
}

class Codegen : public testing::CodegenTest {};

TEST_F(Codegen, ExplainsWhenAsked) {
  const Generated plain = generate("", kText, {}, false);
  EXPECT_THAT(plain.optimized_ir + plain.assembly, IsEmpty());
  const Generated explained = generate("", kText, {}, true);
  EXPECT_EQ(explained.image, plain.image);
  EXPECT_THAT(explained.optimized_ir, HasSubstr("ret i32 1"));
  EXPECT_THAT(explained.assembly, HasSubstr("\tretq"));
}

}  // namespace
}  // namespace tlaloc::cpu
