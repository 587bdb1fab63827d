// Shardings and manual computations as text, both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/import_testing.h"
#include "tlaloc/stablehlo/mesh_text.h"

namespace tlaloc::stablehlo {
namespace {

using ir::GraphRef;
using ir::Type;
using ir::Vals;
using ::testing::HasSubstr;
using ::testing::Not;

const ir::Mesh kMesh{"grid", {{"x", 2}, {"y", 4}}, {}};

GraphRef graph(const std::vector<Type>& types, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b;
  Vals params;
  for (Type t : types) params.push_back(b.param(t));
  return b.build(f(params));
}
Type f32(std::initializer_list<ir::Dim> shape) { return Type::get(DType::f32, shape); }

/// A module of one function, in pretty form.
std::string module(const std::string& params, const std::string& results, const std::string& body,
                   const std::string& mesh = R"(sdy.mesh @grid = <["x"=2, "y"=4]>)") {
  return mesh + "\nfunc.func @main(" + params + ") -> " + results + " {\n" + body + "\n}\n";
}
/// A constraint in an otherwise empty module.
std::string constraint(const std::string& sharding) {
  return module("%a: tensor<8x4xf32>", "tensor<8x4xf32>",
                "%0 = sdy.sharding_constraint %a <" + sharding +
                    "> : tensor<8x4xf32>\nreturn %0 : tensor<8x4xf32>");
}

TEST(Mesh, EveryTermOfShardingsComesBack) {
  for (const char* text : {
           R"(@grid, [{}, {}])",
           R"(@grid, [{"x"}, {?}])",
           R"(@grid, [{"x", "y"}, {}])",
           R"(@grid, [{"y":(1)2, ?}p1, {"y":(2)2}p0])",
           R"(@grid, [{?}p3, {}], replicated={"x", "y":(2)2})",
       }) {
    const GraphRef g = imported(constraint(text));
    const Emitted e = emit(*g, {});
    EXPECT_THAT(e.text, HasSubstr("sharding = #sdy.sharding<" + std::string(text) + ">"));
    EXPECT_THAT(e.text, HasSubstr(R"(sdy.mesh @grid = <["x"=2, "y"=4]>)"));
    EXPECT_EQ(e.partitions, 8);
    const GraphRef again = imported(e.text);
    EXPECT_TRUE(same_graph(*g, *again)) << e.text;
    EXPECT_EQ(g->content_hash(), again->content_hash());
  }
}

TEST(Mesh, DevicesInAnotherOrder) {
  const std::string mesh = R"(sdy.mesh @m = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>)";
  const GraphRef g = imported(module("%a: tensor<4xf32>", "tensor<4xf32>",
                                     "%0 = sdy.sharding_constraint %a <@m, [{\"a\"}]> : "
                                     "tensor<4xf32>\nreturn %0 : tensor<4xf32>",
                                     mesh));
  EXPECT_THAT(emit(*g, {}).text, HasSubstr(mesh));
  const ir::Mesh reversed{"m", {{"a", 2}, {"b", 2}}, {3, 2, 1, 0}};
  const std::string b[] = {"b"};
  EXPECT_EQ(device_groups(reversed, b), (std::vector<std::vector<std::int64_t>>{{3, 2}, {1, 0}}));
}

TEST(Mesh, ArgumentsAndResultsSayHowTheyLie) {
  const ir::Sharding rows{kMesh, {{.axes = {{"x"}}}}, {}}, whole{kMesh, {{}}, {}};
  const GraphRef g = graph({f32({4}), f32({4}), f32({4})}, [&](const Vals& p) -> Vals {
    const auto once = ops::sharding_constraint(p[0], rows);
    const auto twice = ops::sharding_constraint(p[1], rows);
    return {ops::add(once, ops::add(p[1], twice)), ops::sharding_constraint(p[2], whole)};
  });
  const Layouts l = layouts_of(*g);
  EXPECT_EQ(l.params[0], rows);
  EXPECT_EQ(l.params[1], std::nullopt);  // something else reads it too
  EXPECT_EQ(l.params[2], whole);
  EXPECT_EQ(l.results[0], std::nullopt);
  EXPECT_EQ(l.results[1], whole);
  const std::string text = emit(*g, {}, {.donors = {0}}).text;
  EXPECT_THAT(text, HasSubstr("@main(%0: tensor<4xf32> {jax.buffer_donor = true, sdy.sharding = "
                              "#sdy.sharding<@grid, [{\"x\"}]>}, %1: tensor<4xf32>, %2"));
  EXPECT_THAT(text, HasSubstr("-> (tensor<4xf32>, tensor<4xf32> {sdy.sharding = "
                              "#sdy.sharding<@grid, [{}]>}) {"));
  const Layouts again = layouts_of(*imported(text));
  EXPECT_EQ(again.params, l.params);
  EXPECT_EQ(again.results, l.results);
  // Where nothing is left to propagation.
  ir::Sharding open = rows;
  open.dims[0].open = true;
  const GraphRef loose = graph({f32({4}), f32({2, 3})}, [&](const Vals& p) -> Vals {
    return {ops::sharding_constraint(p[0], open), p[1]};
  });
  const Emitted fixed = emit(*loose, {}, {.fixed_layouts = true});
  EXPECT_EQ(fixed.layouts.params[0], rows);
  EXPECT_THAT(fixed.text, HasSubstr("@main(%0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@grid, "
                                    "[{\"x\"}]>}, %1: tensor<2x3xf32> {sdy.sharding = "
                                    "#sdy.sharding<@grid, [{}, {}]>}) -> (tensor<4xf32> "
                                    "{sdy.sharding = #sdy.sharding<@grid, [{\"x\"}]>}, "
                                    "tensor<2x3xf32> {sdy.sharding"));
}

TEST(Mesh, ShardingsOfAnyOperation) {
  const GraphRef pretty = imported(module(
      "%a: tensor<8xf32>", "tensor<8xf32>",
      "%0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{\"y\"}]>]>} : "
      "tensor<8xf32>\nreturn %0 : tensor<8xf32>"));
  const GraphRef said = imported(
      module("%a: tensor<8xf32>", "tensor<8xf32>",
             "%0 = stablehlo.tanh %a : tensor<8xf32>\n%1 = sdy.sharding_constraint %0 <@grid, "
             "[{\"y\"}]> : tensor<8xf32>\nreturn %1 : tensor<8xf32>"));
  EXPECT_TRUE(same_graph(*pretty, *said));
  const GraphRef generic = imported(
      R"("builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "grid"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@grid, [{"x"}]>}], function_type = (tensor<8xf32>) -> tensor<8xf32>, res_attrs = [{sdy.sharding = #sdy.sharding<@grid, [{"y"}]>}], sym_name = "main"}> ({
  ^bb0(%arg0: tensor<8xf32>):
    %0 = "stablehlo.tanh"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%0) : (tensor<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)");
  const Layouts l = layouts_of(*generic);
  EXPECT_EQ(l.params[0]->dims[0].axes[0].axis, "x");
  EXPECT_EQ(l.results[0]->dims[0].axes[0].axis, "y");
}

/// Each of 8 devices has a part of x.
GraphRef manual(std::vector<std::string> axes, const std::function<ops::Val(ops::Val)>& body,
                ir::ShardSpec out) {
  return graph({f32({8, 4})}, [&](const Vals& p) -> Vals {
    return ops::manual({kMesh, axes, {{{{"x"}, {}}}}, {out}}, p,
                       [&](const Vals& v) -> Vals { return {body(v[0])}; });
  });
}

TEST(Mesh, ManualComputations) {
  const GraphRef g =
      manual({"x", "y"},
             [](ops::Val v) {
               const auto sum = ops::all_reduce(v, ops::Collective::sum, {"y", 4});
               return ops::reduce_scatter(ops::all_gather(sum, 0, {"x", 2}), 1, {"y", 4});
             },
             {{{}, {"y"}}});
  const Emitted e = emit(*g, {});
  EXPECT_THAT(e.text, HasSubstr("in_shardings = #sdy.sharding_per_value<[<@grid, [{\"x\"}, {}]>]>, "
                                "manual_axes = #sdy<manual_axes{\"x\", \"y\"}>, out_shardings = "
                                "#sdy.sharding_per_value<[<@grid, [{}, {\"y\"}]>]>"));
  EXPECT_THAT(e.text, HasSubstr("dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, "
                                "use_global_device_ids"));
  EXPECT_THAT(e.text, HasSubstr("dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"));
  EXPECT_THAT(e.text, HasSubstr("\"sdy.return\""));
  EXPECT_TRUE(same_graph(*g, *imported(e.text))) << e.text;
  EXPECT_EQ(e.devices, 1);
  // What is not manual is left open.
  const GraphRef some = manual({"x"}, [](ops::Val v) { return v; }, {{{"x"}, {}}});
  const std::string text = emit(*some, {}).text;
  EXPECT_THAT(text, HasSubstr("[<@grid, [{\"x\", ?}, {?}]>]"));
  EXPECT_TRUE(same_graph(*some, *imported(text)));
}

TEST(Mesh, WhatCanNotBeEmitted) {
  const auto refused = [](const GraphRef& g, const char* why) {
    try {
      emit(*g, {});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-BACKEND-001");
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  const ir::ShardSpec out{{{"x"}, {}}};
  refused(
      manual(
          {"x"}, [](auto v) { return ops::all_reduce(v, ops::Collective::sum, {"y", 4}); }, out),
      "axis 'y' is not one of the manual computation's");
  refused(
      manual(
          {"x"}, [](auto v) { return ops::all_reduce(v, ops::Collective::sum, {"x", 3}); }, out),
      "axis 'x' has 2 devices here");
  refused(graph({f32({8, 4})},
                [](const Vals& p) -> Vals {
                  const auto y = ops::sharding_constraint(p[0], {kMesh, {{}, {}}, {}});
                  return {ops::all_reduce(y, ops::Collective::sum, {"other", 2})};
                }),
          "outside of the mesh");
  refused(graph({f32({8, 4})},
                [](const Vals& p) -> Vals {
                  const auto y = ops::sharding_constraint(p[0], {kMesh, {{}, {}}, {}});
                  const ir::Mesh two{"two", {{"x", 2}}, {}};
                  return {ops::sharding_constraint(y, {two, {{}, {}}, {}})};
                }),
          "meshes of 8 and of 2 devices");
  refused(
      manual(
          {"x"},
          [](auto v) { return ops::sharding_constraint(v, {kMesh, {{.axes = {{"x"}}}, {}}, {}}); },
          out),
      "axis 'x' is manual here");
  refused(manual(
              {"x"},
              [](ops::Val v) {
                return ops::manual({kMesh, {"y"}, {{{{"y"}, {}}}}, {{{{"y"}, {}}}}}, {v},
                                   [](const Vals& p) { return p; })[0];
              },
              out),
          "within another one");
}

TEST(Mesh, ShardingsAreMadeAsShardyWantsThem) {
  const auto written = [](const char* sharding) {
    const std::string text = emit(*imported(constraint(sharding)), {}).text;
    const std::size_t from = text.find("= #sdy.sharding<@grid, ") + 23;
    return text.substr(from, text.find('>', from) - from);
  };
  EXPECT_EQ(written("@grid, [{\"x\":(1)2}, {}]"), "[{\"x\"}, {}]");
  EXPECT_EQ(written("@grid, [{\"y\":(1)2, \"y\":(2)2}, {}]"), "[{\"y\"}, {}]");
  EXPECT_EQ(written("@grid, [{\"y\":(2)2, \"y\":(1)2}, {}]"), "[{\"y\":(2)2, \"y\":(1)2}, {}]");
  EXPECT_EQ(written("@grid, [{}, {}], replicated={\"y\":(2)2, \"x\", \"y\":(1)2}"),
            "[{}, {}], replicated={\"x\", \"y\":(1)2, \"y\":(2)2}");
}

TEST(Mesh, EmptyArraysAreLaidOutToo) {
  const GraphRef g =
      imported(module("%a: tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@grid, "
                      "[{\"x\"}, {}]>}",
                      "tensor<0x4xf32>", "return %a : tensor<0x4xf32>"));
  EXPECT_THAT(emit(*g, {}).text, HasSubstr("sdy.mesh @grid"));
}

TEST(Mesh, OneThatSaysNothingIsNone) {
  const GraphRef g = imported(
      module("%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@none, [{}]>}", "tensor<8xf32>",
             "%0 = sdy.sharding_constraint %a <@grid, [{\"x\"}]> : "
             "tensor<8xf32>\nreturn %0 : tensor<8xf32>",
             "sdy.mesh @none = <[]>\nsdy.mesh @grid = <[\"x\"=2]>"));
  EXPECT_EQ(emit(*g, {}).partitions, 2);
}

TEST(Mesh, NamesOfMeshesAreSymbols) {
  const auto with = [](const std::string& name) {
    return emit(*graph({f32({2})},
                       [&](const Vals& p) -> Vals {
                         const ir::Mesh m{name, {{"x", 2}}, {}}, n{name, {{"y", 2}}, {}};
                         return {ops::sharding_constraint(
                             ops::sharding_constraint(p[0], {m, {{}}, {}}), {n, {{}}, {}})};
                       }),
                {})
        .text;
  };
  EXPECT_THAT(with("main"), HasSubstr("sdy.mesh @main_mesh = <[\"x\"=2]>"));
  EXPECT_THAT(with("f_0"), HasSubstr("sdy.mesh @f_0_mesh = "));
  EXPECT_THAT(with(""), HasSubstr("sdy.mesh @mesh_too = <[\"y\"=2]>"));
}

TEST(Mesh, HostileShardings) {
  const auto refused = [](const char* code, const std::string& text, const char* why) {
    EXPECT_THAT(error_of(code, text), HasSubstr(why));
  };
  refused("TL-HLO-001", constraint("@none, [{}, {}]"), "there is no mesh @none");
  refused("TL-HLO-001", constraint("@grid, [{}, {}"), "");
  refused("TL-HLO-001", constraint("@grid"), "expected ','");
  refused("TL-HLO-001", constraint("@grid, [{?, \"x\"}, {}]"), "'?' stands last");
  refused("TL-HLO-001", constraint("@grid, [{}, {}] more"), "expected the end");
  refused("TL-HLO-001", constraint("@grid, [{x}, {}]"), "expected '\"'");
  refused("TL-HLO-001", constraint("@grid, [{\"y\":(1)0}, {}]"), "a part of an axis has devices");
  refused("TL-HLO-001", constraint("@grid, [{\"y\":(99999999999999999999)2}, {}]"),
          "expected a number");
  refused("TL-MESH-002", constraint("@grid, [{\"z\"}, {}]"), "has no axis 'z'");
  refused("TL-MESH-002", constraint("@grid, [{\"x\"}]"), "is of 1 dimensions");
  refused("TL-MESH-002", constraint("@grid, [{\"x\"}, {\"x\"}]"), "is used twice");
  refused("TL-HLO-002", constraint("@grid, [{}, {}], unreduced={\"x\"}"), "not reduced yet");
  refused("TL-HLO-002", constraint("mesh<[\"x\"=2]>, [{}, {}]"), "meshes within shardings");
  const auto mesh = [](const std::string& declared) {
    return module("%a: tensor<4xf32>", "tensor<4xf32>",
                  "%0 = sdy.sharding_constraint %a <@m, [{}]> : tensor<4xf32>\nreturn %0 : "
                  "tensor<4xf32>",
                  "sdy.mesh @m = <" + declared + ">");
  };
  refused("TL-HLO-001", mesh("[\"x\"=0]"), "has no devices");
  refused("TL-HLO-001", mesh("[\"x\"=1048576, \"y\"=1048576]"), "more than 2^20");
  refused("TL-HLO-001", mesh("[\"x\"=2, \"x\"=2]"), "two axes 'x'");
  refused("TL-HLO-001", mesh("[\"x\"=2], device_ids=[0, 0]"), "are not 0, 1");
  refused("TL-HLO-001", mesh("[\"x\"=2], device_ids=[0]"), "another number of devices");
  refused("TL-HLO-001", mesh("[\"x\"=2]>\nsdy.mesh @m = <[\"x\"=4]"), "two meshes @m");
  std::string axes, devices;
  for (int k = 0; k < 65; ++k) axes += (k ? ", \"a" : "\"a") + std::to_string(k) + "\"=1";
  for (int k = 0; k < 8192; ++k) devices += (k ? ", " : "") + std::to_string(8191 - k);
  refused("TL-HLO-001", mesh("[" + axes + "]"), "more than 64 axes");
  refused("TL-HLO-001", mesh("[\"x\"=8192], device_ids=[" + devices + "]"), "one by one");
  refused("TL-MESH-002", constraint("@grid, [{\"y\":(1)3}, {}]"), "has no part");
  refused("TL-MESH-002",
          module("%a: tensor<24xf32>", "tensor<24xf32>",
                 "%0 = sdy.sharding_constraint %a <@m, [{\"x\":(3)2, \"x\":(1)2}]> : "
                 "tensor<24xf32>\nreturn %0 : tensor<24xf32>",
                 "sdy.mesh @m = <[\"x\"=12]>"),
          "don't fit beside each other");
  // With its place, though no operation has it.
  refused("TL-MESH-002",
          module("%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@grid, [{\"x\"}]>}",
                 "tensor<3xf32>", "return %a : tensor<3xf32>"),
          ":2:");
  refused(
      "TL-HLO-001",
      module("%a: tensor<4xf32> {sdy.sharding = 3}", "tensor<4xf32>", "return %a : tensor<4xf32>"),
      "expected a sharding");
  refused("TL-HLO-001",
          module("%a: tensor<8xf32>", "tensor<8xf32>",
                 "%0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[]>} : "
                 "tensor<8xf32>\nreturn %0 : tensor<8xf32>"),
          "another number of results");
}

/// One manual computation, with these shardings, param types and body.
std::string computation(const std::string& in, const std::string& out, const std::string& part,
                        const std::string& body, const std::string& axes = R"({"x", "y"})") {
  return module("%a: tensor<8x4xf32>", "tensor<8x4xf32>",
                "%0 = sdy.manual_computation(%a) in_shardings=" + in + " out_shardings=" + out +
                    " manual_axes=" + axes + " (%p: " + part + ") {\n" + body +
                    "\n} : (tensor<8x4xf32>) -> tensor<8x4xf32>\nreturn %0 : tensor<8x4xf32>");
}

TEST(Mesh, HostileComputations) {
  const std::string rows = R"([<@grid, [{"x"}, {}]>])", part = "tensor<4x4xf32>";
  const std::string same = "sdy.return %p : tensor<4x4xf32>";
  imported(computation(rows, rows, part, same));
  const auto refused = [](const char* code, const std::string& text, const char* why) {
    EXPECT_THAT(error_of(code, text), HasSubstr(why));
  };
  refused("TL-HLO-001",
          computation(rows, rows, "tensor<8x4xf32>", "sdy.return %p : tensor<8x4xf32>"),
          "its param 0 is of another type");
  refused("TL-HLO-001", computation(rows, R"([<@grid, [{}, {}]>])", part, same),
          "and the text says");
  refused("TL-MESH-002", computation("[]", rows, part, same), "0 shardings for 1 operands");
  refused("TL-HLO-001", computation(rows, "[]", part, same), "another number");
  refused("TL-HLO-002", computation(rows, rows, part, same, R"({"y"})"),
          "axis 'x', which is not manual");
  refused("TL-MESH-002", computation(rows, rows, part, same, R"({"x", "x"})"), "is used twice");
  refused("TL-HLO-002", computation(R"([<@grid, [{"y":(1)2}, {}]>])", rows, part, same),
          "along a part of an axis");
  const std::string ask = "%i = stablehlo.partition_id : tensor<ui32>\n";
  refused("TL-HLO-002",
          module("%a: tensor<ui32>", "tensor<ui32>", ask + "return %i : tensor<ui32>"),
          "outside of a manual computation");
  refused("TL-HLO-002", computation("[<@grid, [{\"x\"}, {}]>]", rows, part, ask + same, "{\"x\"}"),
          "axes that are not manual");
  const auto permute = [&](const std::string& pairs) {
    return computation(
        rows, rows, part,
        "%s = \"stablehlo.collective_permute\"(%p) <{source_target_pairs = " + pairs +
            "}> : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
            "sdy.return %s : tensor<4x4xf32>");
  };
  imported(permute("dense<[[0, 4], [4, 0]]> : tensor<2x2xi64>"));
  imported(permute("dense<> : tensor<0x2xi64>"));
  refused("TL-HLO-001", permute("dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>"), "receives twice");
  refused("TL-HLO-001", permute("dense<[[1, 0], [2, 0]]> : tensor<2x2xi64>"), "receives twice");
  refused("TL-HLO-001", permute("dense<[[0, 8]]> : tensor<1x2xi64>"), "has no device 8");
  refused("TL-HLO-001", permute("dense<[0, 1, 2]> : tensor<3xi64>"), "are no pairs");
  const std::string replica = "%i = stablehlo.replica_id : tensor<ui32>\n";
  refused("TL-HLO-002",
          module("%a: tensor<ui32>", "tensor<ui32>", replica + "return %i : tensor<ui32>"),
          "outside of a manual computation");
  imported(computation(rows, rows, part, replica + same));
  const auto exchange = [&](const std::string& split, const std::string& join,
                            const std::string& groups, const std::string& result = "4x4") {
    return computation(rows, rows, part,
                       "%s = \"stablehlo.all_to_all\"(%p) <{split_dimension = " + split +
                           " : i64, concat_dimension = " + join +
                           " : i64, split_count = 2 : i64, replica_groups = dense<" + groups +
                           ">}> : (tensor<4x4xf32>) -> tensor<" + result +
                           "xf32>\nsdy.return %p : tensor<4x4xf32>");
  };
  const std::string columns = "[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64";
  imported(exchange("1", "1", columns));
  imported(exchange("0", "1", columns, "2x8"));
  refused("TL-HLO-001", exchange("0", "1", columns), "and the text says");
  refused("TL-HLO-001", exchange("2", "1", columns), "axis 2");
  refused("TL-HLO-001", exchange("1", "-1", columns), "axis -1");
  refused("TL-HLO-001", exchange("0", "1", "[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64"),
          "other than one part for each device");
  refused("TL-HLO-002", exchange("0", "1", "[[4, 0], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64"),
          "not those along axes");
  refused("TL-HLO-001",
          computation(rows, rows, part,
                      "%k = stablehlo.slice %p [0:3, 0:4] : (tensor<4x4xf32>) -> tensor<3x4xf32>\n"
                      "%s = \"stablehlo.all_to_all\"(%k) <{split_dimension = 0 : i64, "
                      "concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<" +
                          columns + ">}> : (tensor<3x4xf32>) -> tensor<1x8xf32>\n" + same),
          "the size 3 is not one of 2 parts");
  const auto reduce = [&](const std::string& groups) {
    return computation(rows, rows, part,
                       "%s = \"stablehlo.all_reduce\"(%p) <{replica_groups = " + groups +
                           ", use_global_device_ids}> ({\n^bb0(%u: tensor<f32>, %v: tensor<f32>):\n"
                           "%w = stablehlo.add %u, %v : tensor<f32>\nstablehlo.return %w : "
                           "tensor<f32>\n}) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                           "sdy.return %s : tensor<4x4xf32>");
  };
  EXPECT_THAT(
      imported(reduce("dense<[[0, 4], [5, 1], [2, 6], [3, 7]]> : tensor<4x2xi64>"))->to_string(),
      HasSubstr("over={name=\"x\", devices=2}"));
  const std::string both =
      imported(reduce("dense<[[7, 1, 2, 3, 4, 5, 6, 0]]> : tensor<1x8xi64>"))->to_string();
  EXPECT_THAT(both, HasSubstr("over={name=\"x\", devices=2}"));
  EXPECT_THAT(both, HasSubstr("over={name=\"y\", devices=4}"));
  refused("TL-HLO-002", reduce("dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>"),
          "not those along axes");
  refused("TL-HLO-002", reduce("dense<[[0, 4]]> : tensor<1x2xi64>"), "not of all devices");
  refused("TL-HLO-001", reduce("dense<[[0, 9], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"),
          "has no device 9");
  refused("TL-HLO-002",
          computation(rows, rows, part,
                      "%n = sdy.manual_computation(%p) in_shardings=" + rows +
                          " out_shardings=" + rows +
                          " manual_axes={\"x\"} (%q: tensor<2x4xf32>) {\nsdy.return %q : "
                          "tensor<2x4xf32>\n} : (tensor<4x4xf32>) -> tensor<4x4xf32>\nsdy.return "
                          "%n : tensor<4x4xf32>"),
          "within another one");
}

}  // namespace
}  // namespace tlaloc::stablehlo
