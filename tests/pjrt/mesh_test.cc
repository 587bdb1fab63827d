// Programs over meshes of two and four devices of each plugin, against one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cache/testing.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/pjrt/sharded_array.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::plugins {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Mesh;
using ir::Sharding;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator-, ops::operator*;
using runtime::Buffer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Mesh kTwo{"mesh", {{"x", 2}}, {}}, kFour{"mesh", {{"x", 2}, {"y", 2}}, {}},
    kTurned{"mesh", {{"x", 2}, {"y", 2}}, {2, 0, 3, 1}};

class OnMesh : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!on_cpu()) GTEST_SKIP() << "only the CPU can be made into several devices";
  }
  std::shared_ptr<runtime::Backend> backend(
      std::int64_t devices = 4, const std::optional<cache::Settings>& programs = {}) const {
    return make_backend(
        {.plugin = GetParam(), .create = {{"cpu_device_count", devices}}, .cache = programs});
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, OnMesh, ::testing::ValuesIn(tested_plugins()));

GraphRef graph(const std::vector<Type>& params, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b("test");
  Vals p;
  for (Type t : params) p.push_back(b.param(t));
  return b.build(f(p));
}
Type f32(std::initializer_list<Dim> shape) { return Type::get(DType::f32, shape); }
HostArray waves(const Extents& extents, float phase) {
  HostArray a = HostArray::uninitialized(DType::f32, extents);
  for (float& v : a.as_mutable<float>()) v = std::sin(phase += 0.7f);
  return a;
}
std::vector<HostArray> arguments(const ir::Graph& g) {
  std::vector<HostArray> r;
  for (Type t : g.param_types()) {
    Extents e;
    for (Dim d : t.shape()) e.push_back(d.is_constant() ? d.constant() : 8);
    r.push_back(waves(e, static_cast<float>(r.size())));
  }
  return r;
}
std::vector<Buffer> buffers(const std::vector<HostArray>& arrays) {
  std::vector<Buffer> r;
  for (const HostArray& a : arrays) r.emplace_back(a);
  return r;
}
void expect_near(const std::vector<Buffer>& got, const std::vector<HostArray>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const HostArray a = got[k].to_host();
    ASSERT_EQ(a.extents(), wanted[k].extents());
    for (std::int64_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a.element(i), wanted[k].element(i), 2e-6) << k << " at " << i;
    }
  }
}
Sharding over(const Mesh& mesh, std::vector<ir::DimSharding> dims) { return {mesh, dims, {}}; }
Val matmul(Val a, Val b) {
  return ops::dot_general(a, b, {.lhs_contract = {1}, .rhs_contract = {0}});
}

/// A layer with its arguments and results laid out.
GraphRef layer(const Mesh& mesh, ir::DimSharding rows, ir::DimSharding columns) {
  return graph({f32({8, 4}), f32({4, 12})}, [&](const Vals& p) -> Vals {
    const Val x = ops::sharding_constraint(p[0], over(mesh, {rows, {}}));
    const Val w = ops::sharding_constraint(p[1], over(mesh, {{}, columns}));
    const Val y = ops::tanh(matmul(x, w));
    const std::int64_t first = 0;
    return {ops::sharding_constraint(y, over(mesh, {rows, columns})),
            ops::reduce_sum(y, std::span(&first, 1))};
  });
}

TEST_P(OnMesh, LaidOutProgramsGiveTheSameResults) {
  const ir::DimSharding x{.axes = {{"x"}}}, y{.axes = {{"y"}}}, whole{};
  const ir::DimSharding both{.axes = {{"y"}, {"x"}}}, open{.axes = {{"x"}}, .open = true};
  for (const GraphRef& g :
       {layer(kTwo, x, whole), layer(kTwo, whole, x), layer(kFour, x, y), layer(kFour, both, whole),
        layer(kTurned, x, y), layer(kTurned, both, whole), layer(kFour, open, y),
        layer({"mesh", {{"x", 4}}, {}}, {.axes = {{"x", 1, 2}}}, {.axes = {{"x", 2, 2}}})}) {
    const auto e = backend()->compile(g);
    const auto args = arguments(*g);
    expect_near(e->run(buffers(args)).outputs, interp::run(*g, args));
  }
}

/// The sum over y of tanh of products of parts, and what lies along x.
GraphRef exchange(const Mesh& mesh) {
  return graph({f32({8, 4}), f32({4, 6})}, [&](const Vals& p) {
    return ops::manual(
        {mesh, {"x", "y"}, {{{{"x"}, {"y"}}}, {{{"y"}, {}}}}, {{{{"x"}, {}}}, {{{}, {"y"}}}}}, p,
        [](const Vals& v) -> Vals {
          const Val part = ops::tanh(matmul(v[0], v[1]));
          const Val sum = ops::all_reduce(part, ops::Collective::sum, {"y", 2});
          const Val all = ops::all_gather(v[0], 0, {"x", 2});
          return {sum, all * all};
        });
  });
}

TEST_P(OnMesh, ManualComputationsAndTheirDerivatives) {
  for (const Mesh& mesh : {kFour, kTurned}) {
    const GraphRef f = exchange(mesh);
    for (const GraphRef& g : {f, transform::vjp(f, {true, true}), transform::jvp(f, {true, false}),
                              transform::vmap(f, {0, std::nullopt}, 3)}) {
      const auto e = backend()->compile(g);
      const auto args = arguments(*g);
      expect_near(e->run(buffers(args)).outputs, interp::run(*g, args));
    }
  }
}

TEST_P(OnMesh, DevicesThatAreNotManualAreTheCompilers) {
  const GraphRef g = graph({f32({8, 4})}, [&](const Vals& p) {
    return ops::manual({kFour, {"y"}, {{{{"y"}, {}}}}, {{{{"y"}, {}}}}}, p,
                       [](const Vals& v) -> Vals {
                         return {v[0] + ops::all_reduce(v[0], ops::Collective::max, {"y", 2})};
                       });
  });
  const auto args = arguments(*g);
  expect_near(backend()->compile(g)->run(buffers(args)).outputs, interp::run(*g, args));
}

TEST_P(OnMesh, ResultsStayWhereTheyAre) {
  const Sharding rows = over(kFour, {{.axes = {{"x"}}}, {.axes = {{"y"}}}});
  const GraphRef g = graph({f32({4, 6})}, [&](const Vals& p) -> Vals {
    return {ops::sharding_constraint(ops::sharding_constraint(p[0], rows) * 2.0, rows)};
  });
  const auto device = backend();
  const auto e = device->compile(g);
  const HostArray x = waves({4, 6}, 0);
  const Buffer once = e->run({Buffer(x)}).outputs[0];
  const auto parts = std::dynamic_pointer_cast<const ShardedArray>(once.memory());
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->layout().shard, (Extents{2, 3}));
  EXPECT_EQ(parts->layout().starts, (std::vector<Extents>{{0, 0}, {0, 3}, {2, 0}, {2, 3}}));
  EXPECT_EQ(parts->shard(3).device().ordinal, 3);
  const Buffer twice = e->run({once}).outputs[0];
  EXPECT_FLOAT_EQ(static_cast<float>(twice.to_host().element(23)),
                  static_cast<float>(4 * x.element(23)));
  // On one device, after all; and bound.
  const GraphRef plain = graph({f32({4, 6})}, [](const Vals& p) -> Vals { return {p[0] - 1.0}; });
  const auto moved = device->compile(plain)->run({once}).outputs[0];
  EXPECT_FLOAT_EQ(static_cast<float>(moved.to_host().element(5)),
                  static_cast<float>(2 * x.element(5) - 1));
  const auto bound = e->bind({{0, Buffer(x)}});
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(identical(bound->run({}).outputs[0].to_host(), once.to_host()));
  }
  // A donated buffer is used up, whatever its memory becomes.
  e->run({once}, {.donate = {true}});
  EXPECT_TRUE(once.consumed());
}

TEST_P(OnMesh, ManualComputationsSayHowArgumentsLie) {
  const GraphRef g = exchange(kTurned);
  const auto out = backend()->compile(g)->run(buffers(arguments(*g))).outputs;
  const auto rows = std::dynamic_pointer_cast<const ShardedArray>(out[0].memory());
  const auto columns = std::dynamic_pointer_cast<const ShardedArray>(out[1].memory());
  ASSERT_TRUE(rows && columns);
  EXPECT_EQ(rows->layout().shard, (Extents{4, 6}));
  EXPECT_EQ(columns->layout().shard, (Extents{8, 2}));
}

TEST_P(OnMesh, NaNWinsBetweenDevices) {
  const auto device = backend();
  for (DType t : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i32}) {
    for (const auto fold : {ops::Collective::max, ops::Collective::min, ops::Collective::sum}) {
      const GraphRef g = graph({f32({8})}, [&](const Vals& p) {
        return ops::manual({{"mesh", {{"x", 4}}, {}}, {"x"}, {{{{"x"}}}}, {{{{"x"}}}}}, p,
                           [&](const Vals& v) -> Vals {
                             const Val x = ops::convert(v[0], t);
                             return {ops::convert(ops::all_reduce(x, fold, {"x", 4}), DType::f32)};
                           });
      });
      HostArray x = waves({8}, 1);
      if (is_float(t)) x.as_mutable<float>()[2] = std::nanf("");
      const HostArray got = device->compile(g)->run({Buffer(x)}).outputs[0].to_host();
      const HostArray wanted = interp::run(*g, {x})[0];
      for (std::int64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(std::isnan(got.element(i)), is_float(t) && i % 2 == 0) << name(t) << i;
        if (std::isnan(got.element(i))) continue;
        EXPECT_NEAR(got.element(i), wanted.element(i), 0.02);
      }
    }
  }
}

TEST_P(OnMesh, WindowsOfCutArrays) {
  // Starts beyond the end, and what XLA's partitioner does not survive.
  const Sharding cut = over(kTwo, {{.axes = {{"x"}}}});
  const std::int64_t first = 0;
  const GraphRef g = graph({f32({8}), Type::scalar(DType::i32)}, [&](const Vals& p) -> Vals {
    const Val x = ops::sharding_constraint(p[0], cut);
    const Dim four[] = {4};
    const Val taken = ops::dynamic_slice(x, std::span(&p[1], 1), four);
    ops::Window w = ops::plain_window({2});
    w.strides = {3};
    w.base_dilation = {2};
    w.low = {-1};
    w.high = {-2};
    return {ops::sharding_constraint(taken, cut),
            ops::dynamic_update_slice(x, taken * 2.0, std::span(&p[1], 1)),
            ops::reduce_window(x, ops::Monoid::sum, w), ops::reduce_sum(x, std::span(&first, 1))};
  });
  const auto e = backend()->compile(g);
  for (int start : {-3, 1, 4, 7, 100}) {
    const std::vector<HostArray> args{waves({8}, 0), HostArray::scalar<std::int32_t>(start)};
    expect_near(e->run(buffers(args)).outputs, interp::run(*g, args));
  }
}

TEST_P(OnMesh, WhatIsBoundIsCheckedAndKept) {
  const Sharding rows = over(kTwo, {{.axes = {{"x"}}}});
  const GraphRef g = graph({f32({4}), f32({4})}, [&](const Vals& p) -> Vals {
    return {ops::sharding_constraint(p[0], rows) + p[1]};
  });
  const auto device = backend();
  const auto e = device->compile(g);
  const HostArray x = waves({4}, 0);
  const Buffer given = device->upload(x);
  const auto bound = e->bind({{0, given}});
  e->run({given, Buffer(x)}, {.donate = {true, false}});
  for (int k = 0; k < 2; ++k) {
    expect_near(bound->run({Buffer(x)}).outputs, interp::run(*g, {x, x}));
  }
  const auto refused = [](const char* code, const auto& f) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), code);
    }
  };
  refused("TL-SHAPE-002", [&] { e->bind({{0, Buffer(waves({6}, 0))}}); });
  const Buffer foreign = backend(3)->upload(x);
  refused("TL-BUFFER-002", [&] { e->run({foreign, Buffer(x)}); });
  refused("TL-BUFFER-002", [&] { e->bind({{0, foreign}}); });
}

TEST_P(OnMesh, ProgramsComeFromDisk) {
  const cache::testing::TemporaryFolder temporary;
  const cache::Settings settings{.folder = (temporary.path() / "cache").string(),
                                 .bytes = std::uint64_t{1} << 24};
  const GraphRef g = exchange(kTurned);
  const auto args = arguments(*g);
  for (const char* from : {"compiled", "from disk"}) {
    const auto bound = backend(4, settings)->compile(g)->bind({});
    expect_near(bound->run(buffers(args)).outputs, interp::run(*g, args));
    EXPECT_THAT(compilations(*bound), ElementsAre(HasSubstr(from)));
  }
}

TEST_P(OnMesh, SizesThatARunTells) {
  const GraphRef g = graph({f32({Dim(ir::Symbol::fresh("n")), 2})}, [&](const Vals& p) {
    return ops::manual({kTwo, {"x"}, {{{{"x"}, {}}}}, {{{{"x"}, {}}}}}, p,
                       [](const Vals& v) -> Vals { return {v[0] * v[0]}; });
  });
  const auto e = backend()->compile(g);
  for (std::int64_t n : {2, 6}) {
    const std::vector<HostArray> args{waves({n, 2}, 0)};
    expect_near(e->run(buffers(args)).outputs, interp::run(*g, args));
  }
  try {
    e->run({Buffer(waves({3, 2}, 0))});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("by the number of devices"));
  }
}

TEST_P(OnMesh, TooFewDevices) {
  try {
    backend(2)->compile(exchange(kFour));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-MESH-001");
    EXPECT_THAT(e.what(), HasSubstr("its mesh has 4 devices, the plugin 2"));
  }
}

}  // namespace
}  // namespace tlaloc::plugins
