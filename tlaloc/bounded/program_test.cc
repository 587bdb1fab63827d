// The runner: hashes and signatures of bodies, sizes of arguments, buffers.
#include "tlaloc/bounded/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#include "tlaloc/base/digest.h"
#include "tlaloc/base/error.h"
#include "tlaloc/bounded/check.h"
#include "tlaloc/bounded/export.h"
#include "tlaloc/bounded/padding.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::bounded {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Sums of rows, and of all: over two open sizes.
constexpr char kSums[] = R"(graph @sums {n, k} (%x: f32[n, k], %y: f32[n]) -> (f32[n], f32[]) {
  %2 = reduce_sum(%x) {axes=[1]} : f32[n]
  %3 = add(%2, %y) : f32[n]
  %4 = reduce_sum(%3) {axes=[0]} : f32[]
  return %3, %4
}
)";

ExportOptions options_for(const ir::Graph& g, std::vector<std::int64_t> most) {
  ExportOptions o;
  for (std::size_t k = 0; k < most.size(); ++k) {
    o.bounds.push_back({.symbol = g.dims()[k], .most = most[k]});
  }
  return o;
}
Exported sums() {
  const ir::GraphRef g = ir::parse_graph(kSums, ops::find);
  ExportOptions o = options_for(*g, {20, 6});
  o.bounds[1].buckets = {2, 6};
  o.padding = {7, -3};  // which no sum may see
  return export_program(g, o);
}
HostArray floats(Extents extents) {
  HostArray a(DType::f32, extents);
  float next = 0;
  for (float& x : a.as_mutable<float>()) x = (next += 0.5f);
  return a;
}
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Padding, AtTheEndOfEachAxis) {
  const HostArray x = floats({2, 2});
  const HostArray y = pad(x, {3, 4}, -1);
  EXPECT_THAT(y.as<float>(), ElementsAre(0.5, 1, -1, -1, 1.5, 2, -1, -1, -1, -1, -1, -1));
  EXPECT_TRUE(identical(cut(y, {2, 2}), x));
  EXPECT_THAT(pad(HostArray(DType::i8, {0}), {2}, 7).as<std::int8_t>(), ElementsAre(7, 7));
  EXPECT_THAT(pad(HostArray(DType::f32, {0, 2}), {1, 2}, 3).as<float>(), ElementsAre(3, 3));
}

TEST(Program, ServesAllSizes) {
  const ir::GraphRef g = ir::parse_graph(kSums, ops::find);
  const Program p = sums().program(interp::interp_backend());
  for (std::int64_t n = 1; n <= 20; ++n) {
    for (std::int64_t k = 1; k <= 6; ++k) {
      const std::vector<HostArray> in = {floats({n, k}), floats({n})};
      const auto want = interp::run(*g, in), got = p.run_host(in);
      ASSERT_EQ(got.size(), 2u);
      EXPECT_TRUE(identical(got[0], want[0])) << n << ", " << k;
      EXPECT_FLOAT_EQ(got[1].as<float>()[0], want[1].as<float>()[0]);
    }
  }
  EXPECT_EQ(p.compiled(), 4u);
}

TEST(Program, SizesAsNumbersAreThoseOfTheElements) {
  const ir::GraphRef g =
      ir::parse_graph(R"(graph @f {n} (%x: f32[n]) -> (i64[], i64[], i64[], i64[]) {
  %1 = dim_value() {dim=n*n+3*n-1} : i64[]
  %2 = dim_value() {dim=floordiv(n-8, 3)} : i64[]
  %3 = dim_value() {dim=mod(n-8, 3)} : i64[]
  %4 = dim_value() {dim=min(n, 5)+max(n, 18)} : i64[]
  return %1, %2, %3, %4
}
)",
                      ops::find);
  const Program p = export_program(g, options_for(*g, {20})).program(interp::interp_backend());
  for (std::int64_t n = 1; n <= 20; ++n) {
    const auto got = p.run_host({floats({n})});
    const std::int64_t r = ((n - 8) % 3 + 3) % 3;
    EXPECT_EQ(got[0].element_int(0), n * n + 3 * n - 1);
    EXPECT_EQ(got[1].element_int(0), (n - 8 - r) / 3) << n;
    EXPECT_EQ(got[2].element_int(0), r) << n;
    EXPECT_EQ(got[3].element_int(0), std::min<std::int64_t>(n, 5) + std::max<std::int64_t>(n, 18));
  }
}

TEST(Program, ThreadsShareWhatIsCompiled) {
  const Program p = sums().program(interp::interp_backend());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t n = 1; n <= 20; ++n) p.run_host({floats({n, 3}), floats({n})});
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(p.compiled(), 2u);
}

TEST(Program, CountsWhileItCompiles) {
  const Exported e = sums();
  std::vector<std::thread> threads;
  const Program* program = nullptr;
  bool waited = false;
  const Program p(
      e.manifest,
      [&](std::size_t k) {
        std::promise<std::size_t> count;
        auto counted = count.get_future();
        threads.emplace_back(
            [&, count = std::move(count)]() mutable { count.set_value(program->compiled()); });
        waited = counted.wait_for(std::chrono::seconds(5)) != std::future_status::ready;
        return *e.bodies[k];
      },
      interp::interp_backend());
  program = &p;
  p.run_host({floats({2, 2}), floats({2})});
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(waited);
  EXPECT_EQ(p.compiled(), 1u);
}

TEST(Program, SharesTheTextsOfItsExport) {
  const Exported e = sums();
  const Program p = e.program(interp::interp_backend());
  EXPECT_EQ(e.bodies[0].use_count(), 2);
}

TEST(Program, ArgumentsThatDoNotFit) {
  const Program p = sums().program(interp::interp_backend());
  const auto run = [&](std::vector<HostArray> in) { return error_of([&] { p.run_host(in); }); };
  EXPECT_THAT(run({floats({2, 3})}), HasSubstr("TL-ARITY-001"));
  EXPECT_THAT(run({floats({2, 3}), floats({3})}), HasSubstr("TL-SHAPE-011: sums: n is 2"));
  EXPECT_THAT(run({floats({21, 3}), floats({21})}), HasSubstr("TL-BOUND-001: sums: n is 21"));
  EXPECT_THAT(run({floats({2, 0}), floats({2})}), HasSubstr("must be from 1 to 6"));
  EXPECT_THAT(run({floats({2}), floats({2})}), HasSubstr("where f32[n, k] is expected"));
  EXPECT_THAT(run({HostArray(DType::f64, {2, 3}), floats({2})}), HasSubstr("TL-SHAPE-002"));
}

TEST(Program, BodiesThatAreNotThoseOfTheManifest) {
  const auto run = [](const Exported& e) {
    const Program p = e.program(interp::interp_backend());
    return error_of([&] { p.run_host({floats({2, 2}), floats({2})}); });
  };
  Exported e = sums();
  const auto text = [](std::string s) { return std::make_shared<const std::string>(std::move(s)); };
  e.bodies[0] = text(*e.bodies[0] + "\n");
  EXPECT_THAT(run(e), HasSubstr("TL-BOUNDED-003: bounded: body_16_2.mlir is not the file"));
  // The hash fits, and the program does not.
  e = sums();
  e.bodies[0] = e.bodies[1];
  e.manifest.bodies[0].sha256 = e.manifest.bodies[1].sha256;
  EXPECT_THAT(run(e), HasSubstr("has the parameter 0 of type f32[16, 6], not f32[16, 2]"));
  e = sums();
  e.manifest.results.pop_back();
  EXPECT_THAT(run(e), HasSubstr("has 2 results, not 1"));
  e.bodies[0] = text("module {");
  e.manifest.bodies[0].sha256 = to_hex(sha256(*e.bodies[0]));
  EXPECT_THAT(run(e), HasSubstr("TL-HLO-001"));
}

TEST(Program, FoldersThatLackAPart) {
  const std::string folder = ::testing::TempDir() + "tlaloc_bounded_program_test";
  std::filesystem::remove_all(folder);
  const auto open = [&] { return Program::open(folder, interp::interp_backend()); };
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("TL-FILE-001"));
  sums().write(folder);
  EXPECT_EQ(open()->manifest(), sums().manifest);
  std::filesystem::remove(folder + "/body_16_2.mlir");
  const auto p = open();
  EXPECT_THAT(error_of([&] { p->run_host({floats({2, 2}), floats({2})}); }),
              HasSubstr("TL-FILE-001"));
  p->run_host({floats({2, 3}), floats({2})});  // other bodies are there
  std::ofstream(folder + "/tlaloc-bounded.json") << "{";
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("TL-JSON-001"));
  std::filesystem::remove_all(folder);
}

/// The sum of x * mask, or of x: as if it had forgotten its mask.
std::string masked(bool uses) {
  return std::string("graph @f {n} (%x: f32[n], %m: f32[n]) -> (f32[]) {\n  %2 = ") +
         (uses ? "mul(%x, %m)" : "add(%x, %m)") +
         " : f32[n]\n  %3 = reduce_sum(%2) {axes=[0]} : f32[]\n  return %3\n}\n";
}

/// A step of training, and rows that are changed.
constexpr char kStep[] =
    R"(graph @step {n} (%x: f32[n], %w: f32[], %v: f32[]) -> (f32[], f32[n], f32[]) {
  %3 = reduce_sum(%x) {axes=[0]} : f32[]
  %4 = add(%w, %3) : f32[]
  %5 = add(%x, %x) : f32[n]
  %6 = add(%v, %v) : f32[]
  return %4, %5, %6
}
)";
Exported step(std::vector<std::size_t> donated) {
  const ir::GraphRef g = ir::parse_graph(kStep, ops::find);
  ExportOptions o = options_for(*g, {20});
  o.donated = std::move(donated);
  return export_program(g, o);
}

TEST(Export, ResultsTakeTheMemoryOfWhatIsDonated) {
  using Result = std::optional<std::size_t>;
  const auto results = [](const Exported& e) {
    std::vector<Result> r;
    for (const Input& i : e.manifest.inputs) r.push_back(i.result);
    return r;
  };
  // The last input is the length that the bodies take.
  EXPECT_THAT(results(step({})), ElementsAre(Result(), Result(), Result(), Result()));
  EXPECT_THAT(results(step({1})), ElementsAre(Result(), Result(0), Result(), Result()));
  const Exported all = step({0, 1, 2});
  EXPECT_THAT(results(all), ElementsAre(Result(1), Result(0), Result(2), Result()));
  EXPECT_THAT(results(step({2, 1})), ElementsAre(Result(), Result(2), Result(0), Result()));
  for (const auto& body : all.bodies) {
    EXPECT_THAT(*body, HasSubstr("%1: tensor<f32> {tf.aliasing_output = 0 : i32}"));
  }
  EXPECT_THAT(*step({}).bodies[0], Not(HasSubstr("aliasing")));
  const auto refusal = [](std::vector<std::size_t> donated) {
    return error_of([&] { step(std::move(donated)); });
  };
  EXPECT_THAT(refusal({4}), HasSubstr("TL-BOUNDED-001: step: parameter 4 is donated, and is not"));
  EXPECT_THAT(refusal({1, 1}), HasSubstr("parameter 1 is donated twice"));
  const ir::GraphRef g = ir::parse_graph(kSums, ops::find);
  ExportOptions o = options_for(*g, {20, 6});
  o.donated = {0};
  EXPECT_THAT(error_of([&] { export_program(g, o); }),
              HasSubstr("parameter 0 is donated, and no result of type f32[n, k] is left for it"));
  const ir::GraphRef with_mask = ir::parse_graph(masked(true), ops::find);
  o = options_for(*with_mask, {20});
  o.valid = {{.param = 1, .role = Role::valid_mask, .symbol = with_mask->dims()[0]}};
  o.donated = {1};
  EXPECT_THAT(error_of([&] { export_program(with_mask, o); }),
              HasSubstr("parameter 1 is donated, and is made for each call"));
}

/// The interpreter, and what it was told.
class Recording final : public runtime::Backend {
 public:
  std::string_view name() const override { return "recording"; }
  std::shared_ptr<const runtime::Executable> compile(
      ir::GraphRef graph, const runtime::CompileOptions& options) override {
    aliases = options.aliases;
    return interp::interp_backend().compile(std::move(graph), options);
  }
  std::vector<runtime::Alias> aliases;
};

TEST(Program, BackEndsAreToldWhichResultTakesWhoseMemory) {
  Recording backend;
  const Program p = step({0, 2}).program(backend);
  p.run_host({floats({3}), HostArray::scalar(1.0f), HostArray::scalar(1.0f)});
  ASSERT_EQ(backend.aliases.size(), 2u);
  EXPECT_EQ(backend.aliases[0].param, 0u);
  EXPECT_EQ(backend.aliases[0].result, 1u);
  EXPECT_EQ(backend.aliases[1].param, 2u);
  EXPECT_EQ(backend.aliases[1].result, 0u);
}

TEST(Program, DonatedArgumentsAreConsumed) {
  using runtime::Buffer;
  const Program p = step({0, 1}).program(interp::interp_backend());
  const auto scalar = [](float x) { return Buffer(HostArray::scalar(x)); };
  for (const std::int64_t n : {3, 16}) {  // padded, and as it is
    const Buffer x(floats({n})), w = scalar(1), v = scalar(5);
    const auto kept = p.run({x, w, v});
    for (const Buffer* b : {&x, &w, &v}) EXPECT_FALSE(b->consumed());
    const auto got = p.run({x, w, v}, {true, true, false});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_TRUE(identical(got[k].to_host(), kept[k].to_host())) << k;
    }
    EXPECT_TRUE(x.consumed() && w.consumed());
    EXPECT_FALSE(v.consumed());
    EXPECT_THAT(error_of([&] { p.run({x, scalar(1), v}); }), HasSubstr("TL-BUFFER-001"));
    EXPECT_THAT(error_of([&] { p.run({Buffer(floats({n})), w, v}); }), HasSubstr("TL-BUFFER-001"));
  }
  EXPECT_THAT(error_of([&] { p.run({Buffer(floats({3})), scalar(1), scalar(1)}, {true}); }),
              HasSubstr("TL-ARITY-001: step: it takes 3 arguments, and is told of 1"));
}

TEST(Export, RefusesWhatPaddingWouldChange) {
  const auto refusal = [](const std::string& text, std::vector<std::int64_t> most = {20}) {
    const ir::GraphRef g = ir::parse_graph(text, ops::find);
    return error_of([&] { export_program(g, options_for(*g, most)); });
  };
  EXPECT_THAT(refusal(R"(graph @f {n} (%x: f32[n]) -> (f32[n]) {
  %1 = reverse(%x) {axes=[0]} : f32[n]
  return %1
}
)"),
              HasSubstr("TL-BOUNDED-001: reverse: padding would change the result"));
  EXPECT_THAT(refusal(R"(graph @f {n} (%x: f32[2*n]) -> (f32[]) {
  %1 = reduce_sum(%x) {axes=[0]} : f32[]
  return %1
}
)"),
              HasSubstr("TL-BOUNDED-001"));
  // Nothing gives a size.
  EXPECT_THAT(refusal(kSums, {20}), HasSubstr("TL-SHAPE-004: sums: nothing gives the size k"));
}

TEST(Export, MasksOfTheFunctionAreChecked) {
  const auto exported = [](bool uses, double padding) {
    const ir::GraphRef g = ir::parse_graph(masked(uses), ops::find);
    ExportOptions o = options_for(*g, {20});
    o.valid = {{.param = 1, .role = Role::valid_mask, .symbol = g->dims()[0]}};
    o.padding = {padding};
    return export_program(g, o);
  };
  const Program p = exported(true, 5).program(interp::interp_backend());
  EXPECT_EQ(p.run_host({floats({3})})[0].as<float>()[0], 3);
  EXPECT_THAT(error_of([&] { exported(false, 5); }),
              HasSubstr("TL-BOUNDED-001: f: padding changes the result 0 where n = "));
  EXPECT_EQ(exported(false, 0).manifest.bodies.size(), 2u);  // where 0 changes nothing
}

/// Also where the function masks another axis itself: bodies that rely on the padding of an axis
/// that they should mask are found.
TEST(Export, MasksOfItsOwnAreCheckedBesideThoseOfTheFunction) {
  const ir::GraphRef g = ir::parse_graph(
      R"(graph @f {n, k} (%x: f32[n], %m: f32[n], %y: f32[k], %l: f32[k]) -> (f32[], f32[]) {
  %4 = reduce_sum(%x) {axes=[0]} : f32[]
  %5 = reduce_sum(%y) {axes=[0]} : f32[]
  return %4, %5
}
)",
      ops::find);
  ExportOptions o = options_for(*g, {20, 20});
  o.valid = {{.param = 1, .role = Role::valid_mask, .symbol = g->dims()[0]},
             {.param = 3, .role = Role::valid_mask, .symbol = g->dims()[1]}};
  Exported e = export_program(g, o);  // sums of zeros beyond the end
  check_padding(g, o, e);
  o.valid.pop_back();
  EXPECT_THAT(error_of([&] { check_padding(g, o, e); }),
              HasSubstr("padding changes the result 1 where n = "));
}

TEST(Export, PaddingThatATypeDoesNotHold) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto exported = [](const std::string& type, const std::string& op, double padding) {
    const ir::GraphRef g =
        ir::parse_graph("graph @f {n} (%x: " + type + "[n]) -> (" + type + "[]) {\n  %1 = " + op +
                            "(%x) {axes=[0]} : " + type + "[]\n  return %1\n}\n",
                        ops::find);
    ExportOptions o = options_for(*g, {20});
    o.names = {"x"};
    o.padding = {padding};
    const Exported e = export_program(g, o);
    EXPECT_EQ(parse_manifest(e.manifest.json(), "m"), e.manifest);
    return e;
  };
  EXPECT_EQ(exported("f32", "reduce_max", -inf).manifest.inputs[0].padding, -inf);
  const auto refusal = [&](const std::string& type, double padding) {
    return error_of([&] { exported(type, "reduce_max", padding); });
  };
  EXPECT_THAT(
      refusal("f32", std::nan("")),
      HasSubstr("TL-BOUNDED-001: f: x is of f32, which can't be padded with nan; give a number"));
  EXPECT_THAT(refusal("f32", 1e300), HasSubstr("can't be padded with 1e+300"));
  EXPECT_THAT(refusal("i32", 0.5), HasSubstr("x is of i32, which can't be padded with 0.5"));
  EXPECT_THAT(refusal("i32", 3e9), HasSubstr("can't be padded with 3000000000"));
  EXPECT_EQ(refusal("i64", 3e9), "no error");
  EXPECT_THAT(refusal("i64", -inf), HasSubstr("can't be padded with -inf"));
}

TEST(Export, WhatNoManifestCanSay) {
  const ir::GraphRef g = ir::parse_graph(masked(true), ops::find);
  ExportOptions o = options_for(*g, {20});
  for (const double x : {std::numeric_limits<double>::infinity(), std::nan(""), -1.0}) {
    o.tolerance = x;
    EXPECT_THAT(error_of([&] { export_program(g, o); }),
                HasSubstr("TL-BOUNDED-001: f: the tolerance is "));
  }
  o.tolerance = 1e-5;
  o.names = {"\xff"};
  EXPECT_THAT(error_of([&] { export_program(g, o); }),
              HasSubstr("TL-BOUNDED-001: f: its manifest could not be read again"));
  o.names = {"x", "m"};
  o.valid = {{.param = 1, .role = Role::valid_mask, .symbol = g->dims()[0]}};
  o.padding = {0, 1};
  EXPECT_THAT(error_of([&] { export_program(g, o); }),
              HasSubstr("m has a padding, and is made for each call"));
}

TEST(Export, MoreBoundsThanAManifestHas) {
  const auto exported = [](int count) {
    std::string dims, params, results, types;
    for (int k = 0; k < count; ++k) {
      const std::string n = std::to_string(k), comma = k ? ", " : "";
      dims += comma + "n" + n;
      params += comma + "%x" + n + ": f32[n" + n + "]";
      results += comma + "%x" + n;
      types += comma + "f32[n" + n + "]";
    }
    const ir::GraphRef g = ir::parse_graph("graph @f {" + dims + "} (" + params + ") -> (" + types +
                                               ") {\n  return " + results + "\n}\n",
                                           ops::find);
    return export_program(
        g, options_for(*g, std::vector<std::int64_t>(static_cast<std::size_t>(count), 2)));
  };
  EXPECT_EQ(exported(8).manifest.bounds.size(), 8u);
  EXPECT_THAT(error_of([&] { exported(9); }),
              HasSubstr("TL-BOUNDED-001: f: 9 sizes have bounds; bound at most 8"));
}

TEST(Export, LengthsThatATypeDoesNotHold) {
  const auto refusal = [](const std::string& type, std::int64_t most) {
    const ir::GraphRef g = ir::parse_graph(
        "graph @f {n} (%x: f32[n], %l: " + type + "[]) -> (" + type + "[]) {\n  return %l\n}\n",
        ops::find);
    ExportOptions o = options_for(*g, {most});
    o.bounds[0].buckets = {most};
    o.valid = {{.param = 1, .role = Role::valid_length, .symbol = g->dims()[0]}};
    return error_of([&] { export_program(g, o); });
  };
  EXPECT_EQ(refusal("u8", 255), "no error");
  EXPECT_EQ(refusal("bf16", 256), "no error");
  EXPECT_THAT(refusal("u8", 256), HasSubstr("TL-BOUNDED-001: f: parameter 1 is the valid length "
                                            "of n, up to 256, and u8 holds those up to 255"));
  EXPECT_THAT(refusal("bf16", 257), HasSubstr("bf16 holds those up to 256"));
}

}  // namespace
}  // namespace tlaloc::bounded
