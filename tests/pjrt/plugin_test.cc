// Clients, arrays, programs and the back end, on each plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {
namespace {

using ir::Dim;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator-, ops::operator*, ops::operator<;
using runtime::Buffer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OnPlugin : public ::testing::TestWithParam<const char*> {
 protected:
  const Plugin& plugin() const { return Plugin::load(find_plugin(GetParam())); }
  const Client& client() const { return Client::get(plugin()); }
  std::shared_ptr<runtime::Backend> backend(std::int64_t recorded_trips = 0) const {
    return make_backend({.plugin = GetParam(), .recorded_trips = recorded_trips});
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, OnPlugin, ::testing::ValuesIn(tested_plugins()));

HostArray f32(std::vector<float> values) {
  return HostArray::from(std::span<const float>(values),
                         {static_cast<std::int64_t>(values.size())});
}
std::vector<float> values(const Buffer& b) {
  const HostArray a = b.to_host();
  const auto s = a.as<float>();
  return {s.begin(), s.end()};
}
ir::GraphRef graph(const std::vector<Type>& params, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b("test");
  Vals p;
  for (Type t : params) p.push_back(b.param(t));
  return b.build(f(p));
}
template <class E, class F>
std::string error_of(const char* code, F f) {
  try {
    f();
  } catch (const E& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
/// x + 1 for three numbers: that nothing before has broken the client.
void expect_usable(const Client& client) {
  const auto g =
      graph({Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; });
  const auto program = client.compile(stablehlo::emit(*g, {}).text);
  const auto x = client.upload(f32({1, 2, 3}));
  const DeviceArray* args[] = {x.get()};
  const auto out = program->run(args, {});
  const HostArray y = out.arrays.at(0)->read(DType::f32, {3});
  EXPECT_THAT(std::vector<float>(y.as<float>().begin(), y.as<float>().end()), ElementsAre(2, 3, 4));
}

TEST_P(OnPlugin, SaysWhatItIs) {
  EXPECT_GE(plugin().minor_version(), c::kOldestMinorVersion);
  EXPECT_EQ(client().platform(), test_device());
  EXPECT_FALSE(client().platform_version().empty());
  EXPECT_FALSE(client().device_kind(0).empty());
  EXPECT_FALSE(plugin().attribute("stablehlo_current_version").empty());
  EXPECT_EQ(plugin().attribute("nothing of the kind"), "");
}

TEST_P(OnPlugin, ArraysOfEveryTypeComeBack) {
  for (DType t :
       {DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
        DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Extents& e : {Extents{}, Extents{0, 3}, Extents{2, 3}}) {
      HostArray a(t, e);
      auto* bytes = static_cast<unsigned char*>(a.mutable_data());
      for (std::size_t i = 0; i < a.bytes(); ++i) {
        bytes[i] = static_cast<unsigned char>(t == DType::boolean ? i % 2 : 17 * i + 1);
      }
      EXPECT_TRUE(identical(client().upload(a)->read(t, e), a)) << name(t);
    }
  }
}

TEST_P(OnPlugin, SeveralDevices) {
  if (!on_cpu()) GTEST_SKIP() << "only the CPU can be made into several devices";
  const Client& two = Client::get(plugin(), {{"cpu_device_count", std::int64_t{2}}});
  ASSERT_EQ(two.devices().size(), 2u);
  const auto g = graph({Type::get(DType::f32, {2})}, [](const Vals& p) -> Vals {
    return {ops::all_reduce(p[0], ops::Collective::sum, {"data", 2})};
  });
  const stablehlo::Emitted e = stablehlo::emit(*g, {});
  EXPECT_EQ(e.devices, 2);
  const auto program = two.compile(e.text, e.devices);
  const auto a = two.upload(f32({1, 2}), 0), b = two.upload(f32({10, 20}), 1);
  const std::vector<const DeviceArray*> args[] = {{a.get()}, {b.get()}};
  for (const auto& out : program->run_on_all(args)) {
    out.done.wait();
    const HostArray y = out.arrays.at(0)->read(DType::f32, {2});
    EXPECT_EQ(y.as<float>()[0], 11);
    EXPECT_EQ(y.as<float>()[1], 22);
  }
  EXPECT_THAT(error_of<UserError>("TL-MESH-001", [&] { backend()->compile(g); }),
              HasSubstr("over 2 devices"));
}

TEST_P(OnPlugin, ProgramsAreSavedAndLoaded) {
  const auto g =
      graph({Type::get(DType::f32, {2})}, [](const Vals& p) -> Vals { return {p[0] * 3.0}; });
  const std::string saved = client().compile(stablehlo::emit(*g, {}).text)->serialize();
  const auto loaded = client().load(saved);
  const auto x = client().upload(f32({1, 2}));
  const DeviceArray* args[] = {x.get()};
  EXPECT_EQ(loaded->run(args, {}).arrays.at(0)->read(DType::f32, {2}).as<float>()[1], 6);
  error_of<PluginError>("TL-PJRT-003", [&] { client().load(saved.substr(0, saved.size() / 2)); });
  expect_usable(client());
}

TEST_P(OnPlugin, StatisticsWhereThereAreAny) {
  const auto g =
      graph({Type::get(DType::f32, {64})}, [](const Vals& p) -> Vals { return {ops::tanh(p[0])}; });
  const auto program = client().compile(stablehlo::emit(*g, {}).text);
  const auto memory = program->memory();
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->arguments, 256);
  EXPECT_EQ(memory->outputs, 256);
  // Of the two for the CPU only the older one counts operations.
  if (on_cpu()) {
    EXPECT_EQ(program->costs().has_value(), GetParam() == std::string("xla_cpu_pjrt"));
  }
}

TEST_P(OnPlugin, DonatedBuffersAreGivenUp) {
  const auto e = backend()->compile(
      graph({Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; }));
  const Buffer kept = backend()->upload(f32({1, 2, 3}));
  EXPECT_THAT(values(e->run({kept}).outputs[0]), ElementsAre(2, 3, 4));
  EXPECT_THAT(values(kept), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(e->run({kept}, {.donate = {true}}).outputs[0]), ElementsAre(2, 3, 4));
  EXPECT_TRUE(kept.consumed());
  error_of<UserError>("TL-BUFFER-001", [&] { e->run({kept}); });
  error_of<UserError>("TL-BUFFER-001", [&] { kept.to_host(); });
}

TEST_P(OnPlugin, ResultsTakeOverTheMemoryOfDonatedArguments) {
  const auto g =
      graph({Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; });
  const auto may = backend()->compile(g, {.aliases = {{0, 0, false}}});
  const Buffer x = backend()->upload(f32({1, 2, 3}));
  EXPECT_THAT(values(may->run({x}).outputs[0]), ElementsAre(2, 3, 4));
  EXPECT_THAT(values(x), ElementsAre(1, 2, 3));
  const auto must = backend()->compile(g, {.aliases = {{0, 0, true}}});
  error_of<UserError>("TL-ALIAS-001", [&] { must->run({x}); });
  EXPECT_THAT(values(must->run({x}, {.donate = {true}}).outputs[0]), ElementsAre(2, 3, 4));
  EXPECT_TRUE(x.consumed());
}

TEST_P(OnPlugin, WhatDependsOnBoundArgumentsIsComputedOnce) {
  const Type t = Type::get(DType::f32, {3});
  const auto e = backend()->compile(
      graph({t, t}, [](const Vals& p) -> Vals { return {p[0] + ops::exp(p[1]) * 2.0, p[1]}; }));
  const auto bound = e->bind({{1, Buffer(f32({0, 0, 0}))}});
  for (float x : {1.0f, 5.0f}) {
    const auto r = bound->run({Buffer(f32({x, x, x}))}, {.donate = {true}});
    EXPECT_THAT(values(r.outputs[0]), ElementsAre(x + 2, x + 2, x + 2));
    EXPECT_THAT(values(r.outputs[1]), ElementsAre(0, 0, 0));
  }
}

TEST_P(OnPlugin, BuffersStayOnTheDevice) {
  const auto e = backend()->compile(
      graph({Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; }));
  const auto first = e->run({Buffer(f32({1, 2, 3}))});
  EXPECT_EQ(first.outputs[0].device().platform, "pjrt:" + client().platform());
  const auto second = e->run({first.outputs[0]});
  second.done.wait();
  EXPECT_TRUE(second.done.ready());
  EXPECT_THAT(values(second.outputs[0]), ElementsAre(3, 4, 5));
}

TEST_P(OnPlugin, OneProgramServesEverySize) {
  const Symbol n = Symbol::fresh("n");
  const std::int64_t axes[] = {0};
  const auto e = backend()->compile(graph({Type::get(DType::f32, {n})}, [&](const Vals& p) -> Vals {
    return {p[0] - ops::broadcast_in_dim(ops::reduce_sum(p[0], axes), p[0].shape(), {})};
  }));
  EXPECT_THAT(values(e->run({Buffer(f32({1, 2, 3}))}).outputs[0]), ElementsAre(-5, -4, -3));
  EXPECT_THAT(values(e->run({Buffer(f32({4}))}).outputs[0]), ElementsAre(0));
}

/// while (x < 100) { record x; x = 3 x }
ir::GraphRef tripling(std::int64_t max_trips) {
  const Type t = Type::scalar(DType::f32);
  return graph({t}, [&](const Vals& p) -> Vals {
    return ir::emit_while(
               {.init = {p[0]},
                .cond = graph(
                    {t},
                    [](const Vals& b) -> Vals { return {b[0] < ops::scalar(100, DType::f32)}; }),
                .body = graph({t}, [](const Vals& b) -> Vals { return {b[0] * 3.0, b[0]}; }),
                .max_trips = max_trips})
        .out;
  });
}
TEST_P(OnPlugin, RecordedValuesHaveTheLengthOfTheRun) {
  const auto r = backend()->compile(tripling(8))->run({Buffer(HostArray::scalar(5.0f))});
  EXPECT_EQ(r.outputs[0].to_host().as<float>()[0], 135);
  EXPECT_THAT(values(r.outputs[1]), ElementsAre(5, 15, 45));
  EXPECT_EQ(r.outputs[2].to_host().as<std::int64_t>()[0], 3);
}
TEST_P(OnPlugin, SeveralLoopsHaveLengthsOfTheirOwn) {
  const ir::GraphRef loop = tripling(8);
  const auto e = backend()->compile(
      graph({Type::scalar(DType::f32), Type::scalar(DType::f32)}, [&](const Vals& p) -> Vals {
        return {ir::inline_graph(*loop, std::span(&p[0], 1)).results[1],
                ir::inline_graph(*loop, std::span(&p[1], 1)).results[1]};
      }));
  const auto r = e->run({Buffer(HostArray::scalar(5.0f)), Buffer(HostArray::scalar(50.0f))});
  EXPECT_THAT(values(r.outputs[0]), ElementsAre(5, 15, 45));
  EXPECT_THAT(values(r.outputs[1]), ElementsAre(50));
}
TEST_P(OnPlugin, ALoopThatDoesNotEndIsAnError) {
  const auto e = backend()->compile(tripling(2));
  error_of<UserError>("TL-LOOP-001", [&] { e->run({Buffer(HostArray::scalar(5.0f))}); });
  EXPECT_THAT(values(e->run({Buffer(HostArray::scalar(50.0f))}).outputs[1]), ElementsAre(50));
  EXPECT_THAT(error_of<UserError>("TL-BACKEND-001", [&] { backend()->compile(tripling(0)); }),
              HasSubstr("its trips have no bound"));
}

TEST_P(OnPlugin, MalformedModulesAreRefused) {
  EXPECT_THAT(
      error_of<PluginError>("TL-PJRT-003", [&] { client().compile("module { nonsense }"); }),
      HasSubstr("nonsense"));
  EXPECT_THAT(error_of<PluginError>("TL-PJRT-003",
                                    [&] {
                                      client().compile(
                                          "func.func @main(%0: tensor<2xf32>) -> tensor<3xf32> {\n"
                                          "  %1 = stablehlo.tanh %0 : tensor<3xf32>\n"
                                          "  return %1 : tensor<3xf32>\n}\n");
                                    }),
              HasSubstr("2xf32"));
  expect_usable(client());
}
TEST_P(OnPlugin, WhatThePluginCantCompileIsAnErrorWithItsCode) {
  try {
    client().compile(
        "func.func @main(%0: tensor<f32>) -> tensor<f32> {\n"
        "  %1 = \"stablehlo.custom_call\"(%0) {call_target_name = \"nobody.has.this\", "
        "api_version = 4 : i32, backend_config = {}} : (tensor<f32>) -> tensor<f32>\n"
        "  return %1 : tensor<f32>\n}\n");
    FAIL();
  } catch (const PluginError& e) {
    EXPECT_NE(e.status(), Status::ok);
    EXPECT_THAT(e.what(), HasSubstr("nobody.has.this"));
  }
  expect_usable(client());
}
TEST_P(OnPlugin, WrongArgumentsAreRefused) {
  const auto e = backend()->compile(
      graph({Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; }));
  error_of<UserError>("TL-ARITY-001", [&] { e->run({}); });
  error_of<UserError>("TL-SHAPE-002", [&] { e->run({Buffer(f32({1, 2}))}); });
  error_of<UserError>("TL-SHAPE-002", [&] { e->run({Buffer(HostArray(DType::f64, {3}))}); });
  error_of<UserError>("TL-BACKEND-001",
                      [&] { e->run({Buffer(f32({1, 2, 3}))}, {.check_nan = true}); });
  // The same where only the plugin looks.
  const auto program = client().compile(
      "func.func @main(%0: tensor<3xf32>) -> tensor<3xf32> { return %0 : tensor<3xf32> }");
  const auto x = client().upload(f32({1, 2}));
  const DeviceArray* args[] = {x.get()};
  error_of<PluginError>("TL-PJRT-003", [&] { program->run({}, {}); });
  error_of<PluginError>("TL-PJRT-003", [&] { program->run(args, {}).done.wait(); });
  expect_usable(client());
}
TEST_P(OnPlugin, MemoryThatIsNotThereIsAnError) {
  const auto g = graph({Type::scalar(DType::f32)}, [](const Vals& p) -> Vals {
    return {ops::broadcast_in_dim(p[0], std::vector<Dim>{Dim(std::int64_t{1} << 48)}, {})};
  });
  EXPECT_THROW(
      {
        const auto r = backend()->compile(g)->run({Buffer(HostArray::scalar(1.0f))});
        r.done.wait();
        r.outputs[0].ready().wait();
      },
      EnvironmentError);
  expect_usable(client());
}

/// Whatever their order on the device. The older plugin copies what lies there; all that is emitted
/// is row-major on it.
TEST(Layouts, ArraysAreReadInRowMajorOrder) {
  if (!on_cpu()) GTEST_SKIP() << "other devices choose layouts of their own";
  const Client& client = Client::get(Plugin::load(find_plugin("lammps_jax_pjrt_cpu")));
  const auto program = client.compile(
      "func.func @main(%0: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {\n"
      "  return %0 : tensor<2x3xf32>\n}\n");
  const auto x = client.upload(f32({1, 2, 3, 4, 5, 6}).reshaped({2, 3}));
  const DeviceArray* args[] = {x.get()};
  const HostArray y = program->run(args, {}).arrays.at(0)->read(DType::f32, {2, 3});
  EXPECT_THAT(std::vector<float>(y.as<float>().begin(), y.as<float>().end()),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

}  // namespace
}  // namespace tlaloc::plugins
