// Texts that ask for more than they are worth, or say what no writer of modules says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/stablehlo/import.h"
#include "tlaloc/stablehlo/import_testing.h"

namespace tlaloc::stablehlo {
namespace {

using ::testing::HasSubstr;

/// CPU seconds of this thread.
template <class F>
double seconds(F f) {
  auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  f();
  return now() - start;
}
/// The most memory that this process has ever had, in MiB.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// A loop that counts to what `limit` defines as %n, with %v, an f32[3] that changes.
std::string counting(const std::string& limit) {
  return R"(func.func @main(%x: tensor<3xf32>, %d: tensor<?xf32>) -> (tensor<i32>, tensor<3xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<3xf32>
   cond {
)" + limit +
         R"(
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<3xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<3xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<3xf32>
})";
}

TEST(ImportSizes, OfAFunctionThatJoinsThem) {
  const ir::GraphRef g = imported(R"(
func.func private @shape(%n: tensor<i32>) -> tensor<2xi32> {
  %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<[7, 2, 9]> : tensor<3xi32>
  %d = stablehlo.slice %c [1:2] : (tensor<3xi32>) -> tensor<1xi32>
  %r = stablehlo.concatenate %a, %d, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %s = call @shape(%n) : (tensor<i32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
})");
  EXPECT_EQ(g->result_types()[0].to_string(), "f32[3, 2]");
}

TEST(ImportSizes, OfWhatIsNotImportedYet) {
  // Of a type, it is known; of an array's numbers, it is not, and both are loops.
  EXPECT_THAT(imported(counting("%n = stablehlo.get_dimension_size %v, dim = 0 : (tensor<3xf32>) "
                                "-> tensor<i32>"))
                  ->to_string(),
              HasSubstr("scan"));
  EXPECT_THAT(imported(counting(R"(
    %k = stablehlo.convert %v : (tensor<3xf32>) -> tensor<3xi32>
    %s = stablehlo.slice %k [0:1] : (tensor<3xi32>) -> tensor<1xi32>
    %n = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>)"))
                  ->to_string(),
              HasSubstr("while"));
  // Steps as large as there are.
  imported(counting(R"(
    %k = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
    %s = stablehlo.slice %k [1:2:9223372036854775807] : (tensor<2xi32>) -> tensor<1xi32>
    %n = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>)"));
  error_of("TL-HLO-001", counting("%n = \"func.call\"() : () -> tensor<i32>"));
  error_of("TL-HLO-001", counting("%n = \"stablehlo.constant\"() : () -> tensor<i32>"));
}

TEST(ImportSizes, ThroughCallsOfCallsEndSoon) {
  // Each function calls the one before it twice.
  auto text = [](int levels) {
    const std::string params = "(%x: tensor<i32>, %d: tensor<?xf32>) -> tensor<i32>",
                      types = " : (tensor<i32>, tensor<?xf32>) -> tensor<i32>\n";
    std::string r = "func.func private @f0" + params + " {\n return %x : tensor<i32>\n}\n";
    for (int i = 1; i <= levels; ++i) {
      const std::string callee = "call @f" + std::to_string(i - 1) + "(%x, %d)" + types;
      r += "func.func private @f" + std::to_string(i) + params + " {\n %0 = " + callee +
           " %1 = " + callee +
           " %2 = stablehlo.minimum %0, %1 : tensor<i32>\n return %2 : tensor<i32>\n}\n";
    }
    return r + counting("%k = stablehlo.constant dense<2> : tensor<i32>\n%n = func.call @f" +
                        std::to_string(levels) + "(%k, %d)" + types);
  };
  EXPECT_THAT(imported(text(5))->to_string(), HasSubstr("scan"));
  EXPECT_LT(seconds([&] { error_of("TL-HLO-002", text(40)); }), 2);
}

TEST(ImportErrors, CountsOfResults) {
  // Together they are 1 in 32 bits.
  std::string names = "%b:967297";
  for (int i = 0; i < 4294; ++i) names += ", %a" + std::to_string(i) + ":1000000";
  EXPECT_THAT(error_of("TL-HLO-001", "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n" + names +
                                         " = stablehlo.abs %x : (tensor<f32>) -> tensor<f32>\n"
                                         "return %a4000#5 : tensor<f32>\n}"),
              HasSubstr("names for 4294967297"));
  // A type between all stands for one result.
  std::string text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n";
  for (int i = 0; i < 100; ++i) {
    text += "%a" + std::to_string(i) + ":1000000 = stablehlo.add %x, %x : tensor<f32>\n";
  }
  const long before = peak_memory();
  EXPECT_THAT(error_of("TL-HLO-001", text + "return %x : tensor<f32>\n}"),
              HasSubstr("names for 1000000"));
  EXPECT_LT(peak_memory() - before, 64);
}

TEST(ImportErrors, RegionsOfScatters) {
  auto scatter = [](const std::string& region, const std::string& numbers,
                    const std::string& more = "") {
    return "func.func @main(%x: tensor<3xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> "
           "tensor<3xf32> {\n %0 = \"stablehlo.scatter\"(%x, %i, %u) ({ ^bb0(%a: tensor<f32>, %b: "
           "tensor<f32>): " +
           region +
           " }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
           "scatter_dims_to_operand_dims = [0], " +
           numbers + ">" + more +
           "} : (tensor<3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<3xf32>\n return %0 : "
           "tensor<3xf32>\n}";
  };
  const std::string subtract =
      "%c = stablehlo.subtract %a, %b : tensor<f32> stablehlo.return %c : tensor<f32>";
  for (const char* more : {"", ", unique_indices = true"}) {
    imported(scatter(subtract, "index_vector_dim = 1", more));
    for (const char* region :
         {"stablehlo.return", "stablehlo.return %a, %b : tensor<f32>, tensor<f32>"}) {
      EXPECT_THAT(error_of("TL-HLO-001", scatter(region, "index_vector_dim = 1", more)),
                  HasSubstr("a number for each array"));
    }
    for (const char* axis : {"-1", "3", "100", "2000000000", "4294967297"}) {
      error_of("TL-AXIS-001", scatter(subtract, std::string("index_vector_dim = ") + axis, more));
      error_of(
          "TL-AXIS-001",
          scatter(subtract,
                  std::string("index_vector_dim = 1, update_window_dims = [") + axis + "]", more));
    }
  }
}

TEST(ImportErrors, SizesThatNobodyTakes) {
  auto size = [](const std::string& axis, const std::string& result) {
    return error_of("TL-HLO-001",
                    "func.func @main(%x: tensor<3xf32>) {\n \"stablehlo.get_dimension_size\"(%x) "
                    "{dimension = " +
                        axis + " : i64} : (tensor<3xf32>) -> (" + result + ")\n return\n}");
  };
  EXPECT_THAT(size("0", ""), HasSubstr("no result 0"));
  EXPECT_THAT(size("1", "tensor<i32>"), HasSubstr("no such axis"));
}

TEST(ImportErrors, BranchesWithParams) {
  for (const char* op : {"if", "case"}) {
    const std::string region = "{ ^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32> }";
    EXPECT_THAT(error_of("TL-HLO-001",
                         "func.func @main(%p: tensor<i1>, %i: tensor<i32>) -> tensor<f32> "
                         "{\n %0 = \"stablehlo." +
                             std::string(op) + "\"(" + (*op == 'i' ? "%p" : "%i") + ") (" + region +
                             ", " + region + ") : (tensor<" + (*op == 'i' ? "i1" : "i32") +
                             ">) -> tensor<f32>\n return %0 : tensor<f32>\n}"),
                HasSubstr("its regions take no params"));
  }
}

TEST(ImportErrors, AnAssertionOfNothing) {
  EXPECT_THAT(error_of("TL-HLO-001", R"(func.func @main(%x: tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = "stablehlo.constant"() {value = dense<> : tensor<0xi32>} : () -> tensor<i32>
  %p = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p) : (tensor<i1>) -> ()
  return
})"),
              HasSubstr("its value is of another type"));
  error_of("TL-HLO-001",
           "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n %0 = "
           "\"stablehlo.dynamic_iota\"() {iota_dimension = 0 : i64} : () -> tensor<?xf32>\n "
           "return %0 : tensor<?xf32>\n}");
}

TEST(ImportErrors, WindowsThatDoNotMove) {
  for (const char* steps : {"window_strides", "base_dilations", "window_dilations"}) {
    EXPECT_THAT(
        error_of("TL-HLO-001",
                 "func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<3xf32> {\n %0 = "
                 "\"stablehlo.reduce_window\"(%x, %z) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): "
                 "%c = stablehlo.add %a, %b : tensor<f32> stablehlo.return %c : tensor<f32> }) "
                 "{window_dimensions = array<i64: 1>, " +
                     std::string(steps) +
                     " = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>\n return "
                     "%0 : tensor<3xf32>\n}"),
        HasSubstr("at least 1"));
  }
  EXPECT_THAT(
      error_of("TL-HLO-001",
               "func.func @main(%x: tensor<1x1x4xf32>, %k: tensor<1x1x2xf32>) -> "
               "tensor<1x1x3xf32> {\n %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, "
               "0]x[o, i, 0]->[b, f, 0], window = {reverse = [2]} : (tensor<1x1x4xf32>, "
               "tensor<1x1x2xf32>) -> tensor<1x1x3xf32>\n return %0 : tensor<1x1x3xf32>\n}"),
      HasSubstr("not true or false"));
}

TEST(ImportErrors, SizesThatNoArrayHas) {
  for (const char* size :
       {"9223372036854775807", "?x9223372036854775807", "4294967296x4294967296"}) {
    const std::string type = "tensor<" + std::string(size) + "xf32>";
    EXPECT_THAT(error_of("TL-HLO-002", "func.func @main(%x: " + type + ") -> " + type +
                                           " {\n return %x : " + type + "\n}"),
                HasSubstr("64 bits"));
  }
}

TEST(ImportErrors, LapackOfAnotherType) {
  EXPECT_THAT(error_of("TL-HLO-001",
                       "func.func @main(%x: tensor<2x2xf64>) -> tensor<i32> {\n %0:3 = "
                       "stablehlo.custom_call @lapack_sgetrf_ffi(%x) : (tensor<2x2xf64>) -> "
                       "(tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)\n return %0#2 : "
                       "tensor<i32>\n}"),
              HasSubstr("it takes f32"));
}

TEST(ImportErrors, ChecksOfNothing) {
  const std::string end = " : () -> ()\n return\n}";
  error_of("TL-HLO-001", "func.func @main() {\n stablehlo.custom_call @check.expect_eq()" + end);
  error_of("TL-HLO-001", "func.func @main() {\n \"check.expect_close\"()" + end);
}

TEST(ImportErrors, CompositesOfTwoFunctions) {
  auto composite = [](const std::string& decomposition) {
    return "func.func private @a(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n"
           "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n %0 = \"stablehlo.composite\"(%x) "
           "{callee = @a, name = \"my.f\", decomposition = @" +
           decomposition + "} : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}";
  };
  imported(composite("a"));
  EXPECT_THAT(error_of("TL-HLO-001", composite("nowhere")), HasSubstr("no function @nowhere"));
  EXPECT_THAT(error_of("TL-HLO-002", composite("main")), HasSubstr("call themselves"));
}

TEST(ImportErrors, AliasesOfAliases) {
  auto text = [](int levels) {
    std::string r = "#a0 = [\"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\"]\n";
    for (int i = 1; i <= levels; ++i) {
      const std::string one = "#a" + std::to_string(i - 1);
      r += "#a" + std::to_string(i) + " = [" + one;
      for (int k = 1; k < 8; ++k) r += "," + one;
      r += "]\n";
    }
    return r +
           "module { func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }";
  };
  imported(text(3));
  const long before = peak_memory();
  EXPECT_THAT(error_of("TL-HLO-002", text(7)), HasSubstr("aliases of aliases"));
  EXPECT_LT(peak_memory() - before, 128);
}

TEST(ImportErrors, PlacesAreFoundSoon) {
  // Many functions, and many operations on a line.
  std::string functions, line = "func.func @main(%x: tensor<f32>) -> tensor<f32> {";
  for (int i = 0; i < 20000; ++i)
    functions += "func.func @f" + std::to_string(i) + "() { return }\n";
  for (int i = 0; i < 40000; ++i) {
    line += " %" + std::to_string(i) + " = stablehlo.add %x, %x : tensor<f32>";
  }
  EXPECT_LT(seconds([&] { import_stablehlo(functions, "t.mlir"); }), 2);
  EXPECT_LT(seconds([&] { imported(line + " return %x : tensor<f32> }"); }), 1);
  EXPECT_THAT(error_of("TL-HLO-001", functions + "\n  func.func @main() { return %x }"),
              HasSubstr("t.mlir:20002:30: "));
}

}  // namespace
}  // namespace tlaloc::stablehlo
