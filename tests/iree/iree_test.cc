// IREE as a back end: what it finds, compiles, runs and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/iree/limits.h"
#include "tlaloc/base/digest.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cache/store.h"
#include "tlaloc/cache/testing.h"
#include "tlaloc/iree/compiler.h"
#include "tlaloc/iree/finder.h"
#include "tlaloc/iree/iree_backend.h"
#include "tlaloc/iree/runner.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::iree {
namespace {

namespace fs = std::filesystem;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator*;
using runtime::Buffer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

ir::GraphRef graph(const std::vector<Type>& params, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b("test");
  Vals p;
  for (Type t : params) p.push_back(b.param(t));
  return b.build(f(p));
}
std::string error_of(const std::string& code, const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
std::vector<double> values(const Buffer& b) {
  const HostArray a = b.to_host();
  std::vector<double> v;
  for (std::int64_t i = 0; i < a.size(); ++i) v.push_back(a.element(i));
  return v;
}
HostArray f32(std::vector<float> v) {
  return HostArray::from(std::span<const float>(v), {static_cast<std::int64_t>(v.size())});
}

TEST(Iree, DoublesStayDoubles) {
  const auto e = make_backend()->compile(
      graph({Type::get(DType::f64, {2})}, [](const Vals& p) -> Vals { return {ops::tanh(p[0])}; }));
  const double x[] = {0.5, 1e-3};
  const auto y =
      values(e->run({Buffer(HostArray::from(std::span<const double>(x), {2}))}).outputs[0]);
  EXPECT_NEAR(y[0], std::tanh(0.5), 1e-15);
  EXPECT_NEAR(y[1], std::tanh(1e-3), 1e-18);
}

TEST(Iree, ElementsOfEveryTypePass) {
  std::vector<Type> types;
  std::vector<Buffer> inputs;
  for (DType t :
       {DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
        DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Extents& e : {Extents{}, Extents{0, 3}, Extents{2, 3}}) {
      types.push_back(Type::get(t, std::vector<ir::Dim>(e.begin(), e.end())));
      HostArray a(t, e);
      auto* bytes = static_cast<unsigned char*>(a.mutable_data());
      for (std::size_t i = 0; i < a.bytes(); ++i) {
        bytes[i] = static_cast<unsigned char>(t == DType::boolean ? i % 2 : 17 * i + 1);
      }
      inputs.emplace_back(std::move(a));
    }
  }
  const auto g = graph(types, [](const Vals& p) { return p; });
  const auto out = make_backend()->compile(g)->run(inputs).outputs;
  ASSERT_EQ(out.size(), inputs.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    EXPECT_TRUE(identical(out[k].to_host(), inputs[k].to_host())) << type_text(inputs[k]);
  }
}

TEST(Iree, OneProgramServesEverySizeAndBindsArguments) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  const Type t = Type::get(DType::f32, {n});
  const auto e =
      make_backend()->compile(graph({t, t}, [](const Vals& p) -> Vals { return {p[0] * p[1]}; }));
  EXPECT_THAT(values(e->run({Buffer(f32({1, 2})), Buffer(f32({3, 4}))}).outputs[0]),
              ElementsAre(3, 8));
  const auto bound = e->bind({{1, Buffer(f32({5}))}});
  EXPECT_THAT(values(bound->run({Buffer(f32({7}))}).outputs[0]), ElementsAre(35));
  error_of("TL-SHAPE-002", [&] { bound->run({Buffer(HostArray(DType::f64, {1}))}); });
  error_of("TL-ARITY-001", [&] { bound->run({}); });
  error_of("TL-BACKEND-001", [&] { bound->run({Buffer(f32({7}))}, {.check_nan = true}); });
}

TEST(Iree, OneDeviceDoesTheWorkOfAMesh) {
  const ir::ShardSpec cut{{{"x"}}}, whole{std::vector<std::vector<std::string>>(1)};
  const ir::ManualAttrs attrs{{"mesh", {{"x", 2}}, {}}, {"x"}, {cut}, {whole}};
  const auto e = make_backend()->compile(graph({Type::get(DType::f32, {4})}, [&](const Vals& p) {
    return ops::manual(attrs, p, [](const Vals& v) -> Vals {
      return {ops::all_reduce(v[0], ops::Collective::sum, {"x", 2})};
    });
  }));
  EXPECT_THAT(values(e->run({Buffer(f32({1, 2, 3, 4}))}).outputs[0]), ElementsAre(4, 6));
}

/// Shown by putting another module under the key of the first.
TEST(Iree, ModulesAreKeptOnDisk) {
  const cache::testing::TemporaryFolder temporary;
  const cache::Settings settings{.folder = (temporary.path() / "cache").string()};
  const auto times = [&](double factor) {
    const auto e = make_backend({.cache = settings})
                       ->compile(graph({Type::get(DType::f32, {2})},
                                       [&](const Vals& p) -> Vals { return {p[0] * factor}; }));
    return values(e->run({Buffer(f32({1, 2}))}).outputs[0]);
  };
  EXPECT_THAT(times(3), ElementsAre(3, 6));
  const std::vector<Digest> first = cache::testing::keys_in(*settings.folder);
  ASSERT_THAT(first, SizeIs(1));
  cache::Store disk(settings);
  const auto three = disk.find(first[0]);
  ASSERT_TRUE(three);
  EXPECT_THAT(times(5), ElementsAre(5, 10));
  for (const Digest& key : cache::testing::keys_in(*settings.folder)) disk.store(key, *three);
  EXPECT_THAT(times(5), ElementsAre(3, 6));
}

/// The runner leaves in the folder for temporary files what it loaded.
TEST(Iree, RunsLeaveNothing) {
  const cache::testing::TemporaryFolder temporary;
  cache::testing::Variables variables;
  variables.set("TMPDIR", temporary.path().string());
  {
    const auto e = make_backend()->compile(
        graph({Type::get(DType::f32, {2})}, [](const Vals& p) -> Vals { return {p[0] * 3.0}; }));
    e->run({Buffer(f32({1, 2}))});
    const fs::path ours = *fs::directory_iterator(temporary.path());
    EXPECT_EQ(std::distance(fs::directory_iterator(ours), {}), 1) << "the module";
  }
  EXPECT_TRUE(fs::is_empty(temporary.path()));
}

TEST(Iree, WhatItsCompilerRefusesIsAnErrorInItsWords) {
  const Compiler& compiler = Compiler::load(require_iree().compiler);
  EXPECT_THAT(error_of("TL-IREE-002", [&] { compiler.compile("module { nonsense }"); }),
              HasSubstr("nonsense"));
  const char* flags[] = {"--no-such-flag"};
  EXPECT_THAT(error_of("TL-IREE-002", [&] { compiler.compile("module {}", flags); }),
              HasSubstr("no-such-flag"));
  // The process stays usable.
  EXPECT_FALSE(
      compiler
          .compile(
              "func.func @main(%0: tensor<f32>) -> tensor<f32> {\n return %0 : tensor<f32>\n}\n")
          .empty());
}

TEST(Iree, WhatTheRunnerRefusesIsAnErrorInItsWords) {
  const std::byte nonsense[64] = {};
  const Module broken(require_iree().runner, nonsense);
  EXPECT_THAT(error_of("TL-IREE-003", [&] { broken.run({}, {}); }),
              HasSubstr("iree-run-module failed"));
  EXPECT_THAT(error_of("TL-IREE-003", [&] { Module("/nowhere/runner", nonsense).run({}, {}); }),
              HasSubstr("can't be started"));
}

/// The list in docs/iree.md.
TEST(Iree, LimitsAreThoseOfTheDocumentation) {
  std::string limits;
  for (const auto& [op, why] : kCantDo) limits += "- `" + op + "`: " + why + ";\n";
  for (const auto& [op, ulps] : kUlps) {
    limits += "- `" + op + "` in f32 may be " + std::to_string(static_cast<int>(ulps)) +
              " units in the last place off;\n";
  }
  limits += "- collectives over several devices: refused (TL-MESH-001).\n";
  const char* page = "docs/iree.md";
  std::stringstream read;
  read << std::ifstream(page).rdbuf();
  const std::string text = read.str(), begin = "<!-- limits -->\n",
                    end = "<!-- end of limits -->\n";
  const std::size_t from = text.find(begin) + begin.size(), to = text.find(end);
  ASSERT_LT(from, text.size());
  ASSERT_LE(from, to);
  if (std::getenv("TLALOC_UPDATE_DOCS")) {
    std::ofstream(page) << text.substr(0, from) + limits + text.substr(to);
    return;
  }
  EXPECT_EQ(text.substr(from, to - from), limits) << "TLALOC_UPDATE_DOCS=1 writes it anew";
}

/// Its compiler leaves out what StableHLO says of indices outside of an array: it is written out.
TEST(Iree, IndicesOutsideOfAnArrayAreThoseOfTheInterpreter) {
  const Type x = Type::get(DType::f32, {7}), i = Type::get(DType::i64, {3});
  const auto e = make_backend()->compile(graph({x, i}, [](const Vals& p) -> Vals {
    return {ops::take(p[0], p[1], 0, ops::OutOfBounds::clip),
            ops::take(p[0], p[1], 0, ops::OutOfBounds::fill),
            ops::scatter_at(p[0], p[1], ops::take(p[0], p[1], 0, ops::OutOfBounds::clip), 0,
                            ops::Update::add, ops::OutOfBounds::fill)};
  }));
  const std::int64_t places[] = {2, 1000, -1000};
  const auto out = e->run({Buffer(f32({1, 2, 3, 4, 5, 6, 7})),
                           Buffer(HostArray::from(std::span<const std::int64_t>(places), {3}))})
                       .outputs;
  EXPECT_THAT(values(out[0]), ElementsAre(3, 7, 1));
  const auto filled = values(out[1]);
  EXPECT_EQ(filled[0], 3);
  EXPECT_TRUE(std::isnan(filled[1]) && std::isnan(filled[2]));
  EXPECT_THAT(values(out[2]), ElementsAre(1, 2, 6, 4, 5, 6, 7));
}

TEST(Iree, WhatIsNotThereIsSaid) {
  const cache::testing::TemporaryFolder empty;
  cache::testing::Variables variables;
  variables.set("TLALOC_IREE", ":" + empty.path().string() + "::");
  variables.set("VIRTUAL_ENV", std::nullopt);
  variables.set("HOME", empty.path().string());
  const Installation found = find_iree();
  if (found.complete()) GTEST_SKIP() << "the system has IREE";
  const std::string text = error_of("TL-IREE-001", [] { make_backend(); });
  EXPECT_THAT(text, HasSubstr("there is no compiler (iree-base-compiler) and there is no runtime"));
  EXPECT_THAT(text, HasSubstr(empty.path().string()));
  EXPECT_THAT(text, HasSubstr("./setup --iree"));
  EXPECT_THAT(error_of("TL-IREE-002", [] { Compiler::load("/nowhere/x.so"); }),
              HasSubstr("there is no such library"));
  EXPECT_THAT(error_of("TL-IREE-002", [] { Compiler::load("/proc/self/exe"); }),
              Not(HasSubstr("version")));
}

}  // namespace
}  // namespace tlaloc::iree
