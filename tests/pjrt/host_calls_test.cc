// Custom calls of programs on a plugin: functions of this process.
#include "tlaloc/pjrt/host_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/cache/testing.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::plugins {
namespace {

using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+;
using runtime::Buffer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostArray f32(std::vector<float> v) {
  return HostArray::from(std::span<const float>(v), {static_cast<std::int64_t>(v.size())});
}
std::vector<float> values(const Buffer& b) {
  const HostArray a = b.to_host();
  return {a.as<float>().begin(), a.as<float>().end()};
}

class HostCalls : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!on_cpu()) GTEST_SKIP() << "its devices are not processors of this machine";
    ASSERT_TRUE(takes_host_calls(Client::get(Plugin::load(find_plugin(GetParam())))));
    // All operands the other way round, and the config's first letter added to what is f32.
    ops::register_custom_call("test.turn", [](std::span<const HostArray> in, const std::string& c) {
      std::vector<HostArray> out(in.rbegin(), in.rend());
      for (HostArray& a : out) {
        if (a.dtype() != DType::f32 || c.empty()) continue;
        for (float& x : a.as_mutable<float>()) x += static_cast<float>(c[0]);
      }
      return out;
    });
    ops::register_custom_call(
        "test.refuse",
        [](std::span<const HostArray>, const std::string& c) -> std::vector<HostArray> {
          throw std::runtime_error("not today, " + c);
        });
  }
  static Vals turn(const Vals& in, const std::string& config = "") {
    std::vector<Type> types;
    for (auto v = in.rbegin(); v != in.rend(); ++v) types.push_back(v->type());
    return ops::custom_call("test.turn", config, in, types);
  }
  std::shared_ptr<const runtime::Executable> compile(const std::vector<Type>& params,
                                                     const std::function<Vals(const Vals&)>& f,
                                                     const cache::Settings& kept = {
                                                         .folder = std::nullopt}) const {
    ir::Builder b("test");
    Vals p;
    for (Type t : params) p.push_back(b.param(t));
    return make_backend({.plugin = GetParam(), .cache = kept})->compile(b.build(f(p)));
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, HostCalls, ::testing::ValuesIn(tested_plugins()));

TEST_P(HostCalls, ElementsOfEveryTypePassRowByRow) {
  std::vector<Type> types;
  std::vector<Buffer> inputs;
  for (DType t :
       {DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
        DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Extents& e : {Extents{}, Extents{0, 3}, Extents{2, 3}, Extents{2, 3, 5}}) {
      types.push_back(Type::get(t, std::vector<ir::Dim>(e.begin(), e.end())));
      HostArray a(t, e);
      auto* bytes = static_cast<unsigned char*>(a.mutable_data());
      for (std::size_t i = 0; i < a.bytes(); ++i) {
        bytes[i] = static_cast<unsigned char>(t == DType::boolean ? i % 2 : i % 64);
      }
      inputs.emplace_back(std::move(a));
    }
  }
  const auto out = compile(types, [](const Vals& p) { return turn(p); })->run(inputs).outputs;
  ASSERT_EQ(out.size(), inputs.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    EXPECT_TRUE(identical(out[k].to_host(), inputs[inputs.size() - 1 - k].to_host()))
        << type_text(out[k]);
  }
}

/// The plugin would rather leave a transposed matrix as it lies.
TEST_P(HostCalls, TransposedMatricesArriveTransposed) {
  const auto e = compile({Type::get(DType::f32, {2, 3})}, [](const Vals& p) {
    return turn({ops::transpose(p[0] + 1.0, std::vector<std::int64_t>{1, 0})}, "A");
  });
  const std::vector<float> x{0, 1, 2, 3, 4, 5};
  const auto y = e->run({Buffer(HostArray::from(std::span<const float>(x), {2, 3}))}).outputs[0];
  EXPECT_THAT(values(y), ElementsAre(66, 69, 67, 70, 68, 71));
}

TEST_P(HostCalls, RunInLoops) {
  const auto e =
      compile({Type::get(DType::f32, {2}), Type::get(DType::i64, {})}, [](const Vals& p) -> Vals {
        return ops::fori_loop(p[1], {p[0]},
                              [](const Vals& v) -> Vals { return turn({v[1]}, "\x01"); });
      });
  const auto out =
      e->run({Buffer(f32({1, 2})), Buffer(HostArray::scalar(std::int64_t{5}))}).outputs;
  EXPECT_THAT(values(out[0]), ElementsAre(6, 7));
}

TEST_P(HostCalls, ErrorsAreThoseOfTheFunction) {
  const Type t = Type::get(DType::f32, {2});
  const auto error_of = [&](const char* name) {
    const auto e = compile(
        {t}, [&](const Vals& p) { return ops::custom_call(name, "said \"the\" host\n", p, {t}); });
    try {
      e->run({Buffer(f32({1, 2}))}).done.wait();
    } catch (const PluginError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(error_of("test.refuse"),
              AllOf(HasSubstr("INTERNAL"), HasSubstr("not today, said \"the\" host\n")));
  EXPECT_THAT(error_of("test.nobody"), HasSubstr("TL-CUSTOM-004: custom_call: nothing is "
                                                 "registered under the name 'test.nobody'"));
  // The process stays usable.
  const auto e = compile({t}, [](const Vals& p) { return turn(p, "A"); });
  EXPECT_THAT(values(e->run({Buffer(f32({1, 2}))}).outputs[0]), ElementsAre(66, 67));
}

TEST_P(HostCalls, ProgramsFromDiskCallThemToo) {
  const cache::testing::TemporaryFolder folder;
  const cache::Settings kept{.folder = (folder.path() / "cache").string()};
  for (const char* from : {"compiled", "from disk"}) {
    const auto bound =
        compile(
            {Type::get(DType::f32, {2})}, [](const Vals& p) { return turn(p, "A"); }, kept)
            ->bind({});
    EXPECT_THAT(values(bound->run({Buffer(f32({1, 2}))}).outputs[0]), ElementsAre(66, 67));
    EXPECT_THAT(compilations(*bound), ElementsAre(HasSubstr(from)));
  }
}

}  // namespace
}  // namespace tlaloc::plugins
