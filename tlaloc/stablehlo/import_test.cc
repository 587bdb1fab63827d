#include "tlaloc/stablehlo/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/import_testing.h"

namespace tlaloc::stablehlo {
namespace {

using ir::GraphRef;
using ::testing::HasSubstr;

/// @main of a module with this body.
std::string function(const std::string& params, const std::string& results,
                     const std::string& body) {
  return "func.func @main(" + params + ") -> (" + results + ") {\n" + body + "\n}\n";
}
TEST(Import, PrettyAndGenericFormAreOne) {
  const GraphRef pretty = imported(function(
      "%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>", "tensor<3x2xf32>",
      "%0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>\n"
      "%1 = stablehlo.add %arg0, %0 : tensor<3x2xf32>\n"
      "return %1 : tensor<3x2xf32>"));
  const GraphRef generic = imported(
      R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<3x2xf32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    "func.return"(%1) : (tensor<3x2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
)");
  EXPECT_TRUE(same_graph(*pretty, *generic)) << pretty->to_string() << generic->to_string();
  EXPECT_EQ(pretty->param_label(0).name, "arg0");
}

TEST(Import, LocationsCommentsAndAliasesMeanNothing) {
  const GraphRef g = imported(R"(// A comment.
#loc = loc(unknown)
#map = array<i64: 0>
!t = tensor<4xf32>
module @m attributes {mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: !t {jax.buffer_donor = true} loc("x"(#loc))) -> (tensor<4xf32> {jax.result_info = "r"}) {
    %0 = stablehlo.reverse %x, dims = #map : !t loc(callsite("f" at "a b.py":3:1))  // here
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xf32> loc(#loc1)
    return %1 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(fused<{a = 1}>["a" , "b"])
)");
  EXPECT_THAT(g->to_string(), HasSubstr("reverse(%x)"));
}

TEST(Import, ConstantsAreExact) {
  auto constant = [](const std::string& text, const std::string& type) {
    const GraphRef g = imported(function(
        "", type, "%0 = stablehlo.constant " + text + " : " + type + "\nreturn %0 : " + type));
    const std::string s = g->to_string();
    const std::size_t at = s.find("constant()");
    return s.substr(at, s.find('\n', at) - at);
  };
  EXPECT_THAT(constant("dense<0x7FC00001>", "tensor<f32>"), HasSubstr("nan(0x7fc00001)"));
  EXPECT_THAT(constant("dense<-0.0>", "tensor<f32>"), HasSubstr("{-0}"));
  EXPECT_THAT(constant("dense<[1.5, 0xFF800000]>", "tensor<2xf32>"), HasSubstr("{1.5, -inf}"));
  EXPECT_THAT(constant("dense<[[true, false], [false, true]]>", "tensor<2x2xi1>"),
              HasSubstr("{true, false, false, true}"));
  EXPECT_THAT(constant("dense<\"0x05\">", "tensor<3xi1>"), HasSubstr("{true, false, true}"));
  EXPECT_THAT(constant("dense<\"0x01000100FFFF\">", "tensor<3xi16>"), HasSubstr("{1, 1, -1}"));
  EXPECT_THAT(constant("dense<\"0x0000803F\">", "tensor<4xf32>"), HasSubstr("f32[]{1}"));
  EXPECT_THAT(constant("dense<[1, // one ]>\n2]>", "tensor<2xi8>"), HasSubstr("{1, 2}"));
  EXPECT_THAT(constant("dense<-1>", "tensor<ui8>"), HasSubstr("{255}"));
  EXPECT_THAT(constant("dense<0.1>", "tensor<bf16>"), HasSubstr("0.100097656"));
  EXPECT_THAT(constant("dense<>", "tensor<0x2xf32>"), HasSubstr("f32[0, 2]"));
  // One number for all is one element of the graph, however many they are.
  EXPECT_THAT(constant("dense<7>", "tensor<1000000x1000000xi8>"), HasSubstr("i8[]{7}"));
}

TEST(Import, RegionsReadWhatSurroundsThem) {
  const GraphRef g = imported(function("%x: tensor<f32>, %n: tensor<i32>", "tensor<f32>",
                                       R"(%c = stablehlo.constant dense<0> : tensor<i32>
%0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<f32>
cond {
  %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
} do {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.add %i, %one : tensor<i32>
  %2 = stablehlo.multiply %y, %x : tensor<f32>
  stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
}
return %0#1 : tensor<f32>)"));
  EXPECT_THAT(g->to_string(), HasSubstr("n_inv=2"));
}

TEST(Import, UnknownSizesAreDims) {
  const GraphRef g = imported(
      function("%x: tensor<?x3xf32>", "tensor<?xf32>",
               R"(%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
%c = stablehlo.constant dense<3> : tensor<i32>
%m = stablehlo.multiply %n, %c : tensor<i32>
%s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
%y = stablehlo.dynamic_reshape %x, %s : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
return %y : tensor<?xf32>)"));
  EXPECT_EQ(g->dims().size(), 1u);
  EXPECT_THAT(g->result_types()[0].to_string(), HasSubstr("3*"));
}

TEST(Import, ChecksBecomeResults) {
  const ImportedModule m = import_stablehlo(R"(
func.func @add() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%1, %0) {max_ulp_difference = 5 : ui64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
})");
  const ImportedFunction& f = m.main();
  EXPECT_EQ(f.result_count, 0u);
  ASSERT_EQ(f.checks.size(), 2u);
  EXPECT_EQ(f.graph->results().size(), 4u);
  EXPECT_EQ(f.checks[0].kind, Check::Kind::almost);
  EXPECT_EQ(f.checks[0].place.line, 5);
  EXPECT_EQ(f.checks[1].kind, Check::Kind::close);
  EXPECT_EQ(f.checks[1].got, 2u);
  EXPECT_EQ(f.checks[1].max_ulp, 5);
}

TEST(Import, ModulesOfAFile) {
  const auto parts = split_modules(
      "// About this file.\n// -----\nfunc.func @a() {\n  return\n}\n// -----\n\n// ----- x\n"
      "func.func @b(\n");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].first_line, 3);
  EXPECT_EQ(parts[1].first_line, 9);
  try {
    import_stablehlo(parts[1].text, "t.mlir", parts[1].first_line);
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_EQ(e.info().place.line, 10);
  }
}

TEST(Import, EachFunctionOfAModuleThatHoldsAnything) {
  const std::string good = "func.func @good() {\n  return\n}\n";
  /// "good, bad: TL-HLO-002": names, and codes of refusals.
  auto functions = [](const std::string& text) {
    std::string s;
    for (const ImportedFunction& f : import_each_function(text, "t.mlir").functions) {
      const std::size_t code = f.refusal.find("TL-");
      s += (s.empty() ? "" : ", ") + f.name;
      EXPECT_EQ(f.graph == nullptr, code != std::string::npos) << f.refusal;
      if (!f.graph) s += ": " + f.refusal.substr(code, 10);
      EXPECT_TRUE(f.graph || f.refusal.starts_with("t.mlir:")) << f.refusal;
    }
    return s;
  };
  const std::string type =
      "func.func @bad(%x: tensor<2xcomplex<f32>> {a = \"}\"}) {\n  return\n}\n";
  const std::string op =
      "func.func @bad() {\n  stablehlo.custom_call @none() : () -> ()\n  return\n}\n";
  const std::string generic =
      "\"func.func\"() <{function_type = () -> (), sym_name = \"bad\"}> ({\n  %0 = "
      "\"stablehlo.fft\"() : () "
      "-> !none\n  \"func.return\"() : () -> ()\n}) : () -> ()\n";
  for (const std::string& bad : {type, op, generic}) {
    EXPECT_EQ(functions("module {\n" + bad + good + "}\n"), "bad: TL-HLO-002, good");
    EXPECT_EQ(functions("module {\n" + good + bad + "}\n"), "good, bad: TL-HLO-002");
    EXPECT_EQ(functions("module {\n" + good + bad), "good, bad: TL-HLO-002, : TL-HLO-001");
    EXPECT_EQ(
        functions("module {\n" + bad +
                  "func.func @calls() {\n  call @bad() : () -> ()\n  return\n}\n" + good + "}\n"),
        "bad: TL-HLO-002, calls: TL-HLO-002, good");
  }
  EXPECT_EQ(functions(type + good), "bad: TL-HLO-002, good");
  EXPECT_EQ(functions("func.func @f() {\n  call @g() : () -> ()\n  return\n}\nfunc.func @g() {\n  "
                      "call @f() : () "
                      "-> ()\n  return\n}\n" +
                      good),
            "f: TL-HLO-002, g: TL-HLO-002, good");
  EXPECT_EQ(functions("func.func @f() {\n  call @g() : () -> ()\n  return\n}\n" + good),
            "f: TL-HLO-001, good");
  EXPECT_EQ(functions(good + good), "good, good: TL-HLO-001");
  EXPECT_EQ(functions("other.op @x {a = \"func.func\"}\n" + good), ": TL-HLO-002, good");
  EXPECT_EQ(functions("}\n" + good), ": TL-HLO-001, good");
  EXPECT_EQ(functions("func.func @f(\n"), "f: TL-HLO-002");
  EXPECT_EQ(functions(""), ": TL-HLO-001");
}

TEST(Import, FunctionsToRun) {
  const std::string body = "{\n  return\n}\n";
  EXPECT_EQ(
      import_stablehlo("func.func @f() " + body + "func.func private @g() " + body).main().name,
      "f");
  const ImportedModule two = import_stablehlo("func.func @f() " + body + "func.func @g() " + body);
  EXPECT_EQ(two.find("g")->name, "g");
  EXPECT_EQ(two.find("h"), nullptr);
  try {
    two.main();
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-HLO-003");
    EXPECT_THAT(e.what(), HasSubstr("@f, @g"));
  }
}

TEST(Import, TheCallsOfEmissionComeBack) {
  const ir::Type t = ir::Type::get(DType::f32, {3});
  auto graph = [&](const std::function<ir::Vals(ir::Val)>& f) {
    ir::Builder b;
    const ir::Val x = b.param(t);
    return b.build(f(x));
  };
  const GraphRef inner = graph([](ir::Val x) -> ir::Vals { return {ops::exp(x)}; });
  const GraphRef g = graph([&](ir::Val x) {
    ir::CallAttrs a;
    a.name = "my exp";
    a.params = {{"axis", {1, 2}, {}}, {"scale", {}, {0.5, 3}}};
    a.version = 4;
    const ir::Val args[] = {ops::tanh(x)};
    return ir::call_graph(a, inner, args);
  });
  const GraphRef back = imported(emit(*g, {}, {.composites = true}).text);
  EXPECT_TRUE(same_graph(*g, *back)) << g->to_string() << back->to_string();
  EXPECT_EQ(g->content_hash(), back->content_hash());
}

TEST(Import, CollectivesOverAllDevices) {
  const ir::Type t = ir::Type::get(DType::f32, {4});
  ir::Builder b;
  const ir::Val x = b.param(t);
  const ops::MeshAxis over{"devices", 2};
  const ir::Vals out = {ops::all_reduce(x, ops::Collective::sum, over), ops::all_gather(x, 0, over),
                        ops::reduce_scatter(x, 0, over)};
  const GraphRef g = b.build(out);
  const std::string text = emit(*g, {}).text;
  EXPECT_TRUE(same_graph(*g, *imported(text))) << text;
  std::string two = text;
  for (std::size_t at; (at = two.find("dense<[[0, 1]]> : tensor<1x2xi64>")) != std::string::npos;) {
    two.replace(at, 33, "dense<[[0], [1]]> : tensor<2x1xi64>");
  }
  EXPECT_THAT(error_of("TL-HLO-002", two), HasSubstr("several groups"));
}

// ---- what is refused ----

TEST(ImportErrors, HaveLineAndColumn) {
  EXPECT_THAT(
      error_of("TL-HLO-001", "func.func @main() {\n  %0 = stablehlo.add %x, %x : tensor<f32>\n"),
      HasSubstr("t.mlir:2:22: TL-HLO-001: import: there is no value %x here"));
}

TEST(ImportErrors, MalformedText) {
  const std::string x = "%x: tensor<2xf32>", t = "tensor<2xf32>";
  auto body = [&](const std::string& text) {
    return error_of("TL-HLO-001", function(x, t, text + "\nreturn %x : tensor<2xf32>"));
  };
  error_of("TL-HLO-001", "");
  error_of("TL-HLO-001", "module {");
  error_of("TL-HLO-001", "func.func @main() {\n return\n} junk");
  EXPECT_THAT(body("%y = stablehlo.add %x : tensor<2xf32>"), HasSubstr("expected 2 operands"));
  EXPECT_THAT(body("%y = stablehlo.add %x, %x : tensor<3xf32>"), HasSubstr("another type"));
  EXPECT_THAT(body("%y = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>"),
              HasSubstr("gives f32[2], and the text says f32[3]"));
  EXPECT_THAT(body("%x = stablehlo.abs %x : tensor<2xf32>"), HasSubstr("%x is defined twice"));
  EXPECT_THAT(body("%y:2 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<2xf32>"),
              HasSubstr("names for 2"));
  EXPECT_THAT(body("%y = nonsense %x : tensor<2xf32>"), HasSubstr("'nonsense' is no operation"));
  EXPECT_THAT(body("%y = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>"),
              HasSubstr("there is no function @f"));
  EXPECT_THAT(body("%y = stablehlo.constant dense<[1.0]> : tensor<2xf32>"),
              HasSubstr("fewer elements"));
  EXPECT_THAT(body("%y = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>"), HasSubstr("bytes"));
  EXPECT_THAT(body("%y = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>"),
              HasSubstr("more elements"));
  EXPECT_THAT(body("%y = stablehlo.constant dense<300> : tensor<i8>"), HasSubstr("does not fit"));
  EXPECT_THAT(body("%y = stablehlo.constant dense<[1, 2]> : tensor<1000000000000xi8>"),
              HasSubstr("more elements than there are"));
  auto window = [&](const std::string& attributes, const std::string& element) {
    return "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%y = \"stablehlo.reduce_window\"(%x, "
           "%z) <{window_dimensions = array<i64: 1>" +
           attributes + "}> ({\n^bb0(%a: tensor<" + element + ">, %b: tensor<" + element +
           ">):\n%s = stablehlo.add %a, %b : tensor<" + element +
           ">\nstablehlo.return %s : tensor<" + element +
           ">\n}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>";
  };
  EXPECT_THAT(body(window(", window_dilations = array<i64>", "f32")), HasSubstr("another rank"));
  EXPECT_THAT(body(window(", window_dilations = array<i64o: 1>", "f32")),
              HasSubstr("element type"));
  EXPECT_THAT(
      error_of("TL-HLO-002", function(x, t, window("", "f64") + "\nreturn %y : tensor<2xf32>")),
      HasSubstr("another dtype"));
  imported(function(x, t, window("", "f32") + "\nreturn %y : tensor<2xf32>"));
  error_of("TL-HLO-001", "func.func @main() -> tensor<f32> {\n return\n}");
  EXPECT_THAT(error_of("TL-HLO-001",
                       "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n "
                       "foo.myreturn %x : tensor<f32>\n}"),
              HasSubstr("returns nothing"));
  error_of("TL-HLO-001", "func.func @f() {\n return\n}\nfunc.func @f() {\n return\n}");
}

TEST(ImportErrors, RegionsOfReducers) {
  // The branch reads a param of the reducer, which is not what surrounds it.
  EXPECT_THAT(error_of("TL-REGION-001", function("%x: tensor<3xf32>, %z: tensor<f32>", "",
                                                 R"(%0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = "stablehlo.if"(%p) ({
      %q = stablehlo.multiply %b, %a : tensor<f32>
      %q2 = stablehlo.add %q, %a : tensor<f32>
      stablehlo.return %q2 : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %m : tensor<f32>
}) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
return)")),
              HasSubstr("not if"));
}

TEST(ImportErrors, OptionsOfLapack) {
  auto cholesky = [](const std::string& uplo) {
    return function("%x: tensor<2x2xf32>", "",
                    "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = "
                    "{uplo = " +
                        uplo +
                        " : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)\nreturn");
  };
  imported(cholesky("76"));
  // Not the other triangle; and 332 is 'L' in eight bits.
  for (const char* other : {"88", "332"}) {
    EXPECT_THAT(error_of("TL-HLO-001", cholesky(other)), HasSubstr("none of the letters LU"));
  }
}

TEST(ImportErrors, NamesGivenTwice) {
  auto refused = [](const std::string& text) {
    EXPECT_THAT(error_of("TL-HLO-001", text), HasSubstr("twice"));
  };
  auto iota = [](const std::string& attributes) {
    return function("", "tensor<2x3xi32>",
                    "%0 = \"stablehlo.iota\"() " + attributes +
                        " : () -> tensor<2x3xi32>\nreturn %0 : tensor<2x3xi32>");
  };
  imported(iota("<{iota_dimension = 0 : i64}>"));
  refused(iota("<{iota_dimension = 0 : i64, iota_dimension = 1 : i64}>"));
  refused(iota("<{iota_dimension = 0 : i64}> {iota_dimension = 1 : i64}"));
  auto pretty = [](const std::string& body) {
    return function("%x: tensor<2x2xf32>", "tensor<2x2xf32>",
                    body + "\nreturn %x : tensor<2x2xf32>");
  };
  refused(
      pretty("%0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], "
             "contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> "
             "tensor<2x2xf32>"));
  refused(
      pretty("%0 = stablehlo.compare LT, %x, %x, comparison_direction = GE : "
             "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>"));
  refused(
      "!t = tensor<2xf32>\n!t = tensor<3xf32>\nfunc.func @main(%x: !t) -> !t {\n return %x : "
      "!t\n}");
}

TEST(ImportErrors, FieldsThatNobodyKnows) {
  auto unknown = [](const std::string& body) {
    EXPECT_THAT(error_of("TL-HLO-001", function("%x: tensor<1x1x4xf32>, %k: tensor<1x1x2xf32>, "
                                                "%i: tensor<1xi32>",
                                                "", body + "\nreturn")),
                HasSubstr("nothing is known of"));
  };
  unknown(
      "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window "
      "= {strid = [2]} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>");
  unknown(
      "%0 = \"stablehlo.dot_general\"(%x, %k) <{dot_dimension_numbers = "
      "#stablehlo.dot<lhs_contracting_dimension = [0]>}> : (tensor<1x1x4xf32>, "
      "tensor<1x1x2xf32>) -> tensor<1x1x4x1x1x2xf32>");
  auto gather = [](const std::string& axis) {
    return "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims "
           "= [0, 1, 2], start_index_map = [0], " +
           axis +
           ">, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<1x1x4xf32>, tensor<1xi32>) -> "
           "tensor<1x1x1xf32>";
  };
  unknown(gather("index_vector_dims = 0"));
  EXPECT_THAT(error_of("TL-HLO-001", function("%x: tensor<1x1x4xf32>, %i: tensor<1xi32>", "",
                                              gather("index_vector_dim = \"1\"") + "\nreturn")),
              HasSubstr("no integer"));
}

TEST(ImportErrors, AxesOfMoreThan32Bits) {
  EXPECT_THAT(
      error_of("TL-HLO-001",
               function("%x: tensor<2xf32>", "",
                        "%0 = stablehlo.concatenate %x, %x, dim = 4294967296 : (tensor<2xf32>, "
                        "tensor<2xf32>) -> tensor<4xf32>\nreturn")),
      HasSubstr("no axis 4294967296"));
  EXPECT_THAT(
      error_of("TL-HLO-001",
               function("%x: tensor<2xf32>", "",
                        "%0 = \"stablehlo.all_gather\"(%x) {all_gather_dim = 4294967296 : i64, "
                        "replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2xf32>) -> "
                        "tensor<2xf32>\nreturn")),
      HasSubstr("no axis 4294967296"));
}

TEST(ImportErrors, ProductsOfAnotherKind) {
  auto dot = [](const std::string& a, const std::string& result) {
    const std::string t = "tensor<2x" + a + ">";
    return function("%x: " + t, "tensor<" + result + ">",
                    "%0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (" + t +
                        ", " + t + ") -> tensor<" + result + ">\nreturn %0 : tensor<" + result +
                        ">");
  };
  for (const auto& [operand, result] : {std::pair("f32", "i32"), {"f16", "bf16"}, {"i32", "i1"}}) {
    EXPECT_THAT(error_of("TL-HLO-002", dot(operand, result)), HasSubstr("a rounding of"));
  }
  for (const auto& [operand, result] : {std::pair("f32", "bf16"), {"i8", "f32"}, {"i32", "i8"}}) {
    imported(dot(operand, result));
  }
}

TEST(ImportErrors, WhatIsNotSupported) {
  auto with_type = [&](const std::string& t) {
    return error_of("TL-HLO-002", function("%x: " + t, t, "return %x : " + t));
  };
  EXPECT_THAT(with_type("tensor<2xcomplex<f32>>"), HasSubstr("complex numbers"));
  EXPECT_THAT(with_type("!stablehlo.token"), HasSubstr("tokens"));
  EXPECT_THAT(with_type("tensor<2x!quant.uniform<i8:f32, 1.0>>"), HasSubstr("quantized"));
  EXPECT_THAT(with_type("tensor<2xf8E4M3FN>"), HasSubstr("no dtype is 'f8E4M3FN'"));
  EXPECT_THAT(with_type("tensor<?xf32, #stablehlo.bounds<3>>"), HasSubstr("bounds"));
  EXPECT_THAT(with_type("tensor<*xf32>"), HasSubstr("unknown rank"));
  EXPECT_THAT(with_type("tensor<4611686018427387904x4xf32>"), HasSubstr("64 bits"));
  EXPECT_THAT(with_type("tuple<tensor<f32>>"), HasSubstr("tuples"));
  const std::string x = "%x: tensor<2xf32>", t = "tensor<2xf32>";
  auto body = [&](const std::string& text) {
    return error_of("TL-HLO-002", function(x, t, text + "\nreturn %x : tensor<2xf32>"));
  };
  EXPECT_THAT(body("%y = stablehlo.fft %x, type = FFT, length = [2] : tensor<2xf32>"),
              HasSubstr("t.mlir:2:6: TL-HLO-002: stablehlo.fft"));
  EXPECT_THAT(body("%y = stablehlo.custom_call @mine(%x) : (tensor<2xf32>) -> tensor<2xf32>"),
              HasSubstr("nothing is known of @mine"));
  EXPECT_THAT(error_of("TL-HLO-002", "ML\xefR\x06"), HasSubstr("tools/stablehlo_text.py"));
  EXPECT_THAT(error_of("TL-HLO-002",
                       "func.func @f() {\n call @g() : () -> ()\n return\n}\n"
                       "func.func @g() {\n call @f() : () -> ()\n return\n}"),
              HasSubstr("call themselves"));
}

TEST(ImportErrors, DepthIsBounded) {
  std::string text = "func.func @main(%p: tensor<i1>) {\n", end = " return\n}";
  for (int i = 0; i < 100; ++i) {
    text += "\"stablehlo.if\"(%p) ({\n";
    end = "stablehlo.return\n}, {\nstablehlo.return\n}) : (tensor<i1>) -> ()\n" + end;
  }
  EXPECT_THAT(error_of("TL-HLO-001", text + end), HasSubstr("deeper than 64"));
  error_of("TL-HLO-001", "module attributes {a = " + std::string(100000, '[') + "} {}");
}

TEST(ImportErrors, CallsThatWouldWriteOutTooMuch) {
  // Each function calls the one before it twice.
  std::string text =
      "func.func @f0(%x: tensor<f32>) -> tensor<f32> {\n return %x : tensor<f32>\n}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string callee = "call @f" + std::to_string(i - 1) + "(";
    text += "func.func @f" + std::to_string(i) +
            "(%x: tensor<f32>) -> tensor<f32> {\n %0 = " + callee +
            "%x) : (tensor<f32>) -> tensor<f32>\n %1 = " + callee +
            "%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32>\n}\n";
  }
  EXPECT_THAT(error_of("TL-HLO-002", text), HasSubstr("2^24"));
  std::string sizes = text;
  for (std::size_t at = 0; (at = sizes.find("tensor<f32>", at)) != std::string::npos; at += 5) {
    sizes.replace(at, 11, "tensor<?xf32>");
  }
  EXPECT_THAT(error_of("TL-HLO-002", sizes), HasSubstr("write out too many"));
}

TEST(ImportErrors, OfOperationsHaveTheirPlace) {
  const std::string e = error_of(
      "TL-AXIS-001",
      function("%x: tensor<2xf32>", "tensor<2xf32>",
               "%y = stablehlo.reverse %x, dims = [3] : tensor<2xf32>\nreturn %y : tensor<2xf32>"));
  EXPECT_THAT(e, HasSubstr("t.mlir:2:6"));
}

}  // namespace
}  // namespace tlaloc::stablehlo
