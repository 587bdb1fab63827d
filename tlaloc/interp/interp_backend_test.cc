#include "tlaloc/interp/interp_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "tlaloc/interp/testing.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::interp {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Vals;
using runtime::Backend;
using runtime::Buffer;
using runtime::RunOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators

std::vector<std::string> texts(const runtime::RunResult& r) {
  std::vector<std::string> s;
  for (const Buffer& b : r.outputs) s.push_back(to_string(b.to_host()));
  return s;
}

GraphRef scaled_sum() {
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  ir::Builder b("f");
  const ir::Val w = b.param(f64({n}), {.name = "w", .axes = {"heads"}});
  const ir::Val x = b.param(f64({m}), {.name = "x", .axes = {"batch"}});
  return b.build(Vals{exp(w) * 2.0 + x, dim_value(Dim(m) + n)});
}

TEST(InterpBackend, RunsAndDescribesItself) {
  const auto e = interp_backend().compile(scaled_sum());
  EXPECT_EQ(e->signature().params[1].to_string(), "f64[m]");
  EXPECT_EQ(e->signature().dims.size(), 2u);
  EXPECT_THAT(e->signature().undetermined, IsEmpty());
  const Buffer w(f64s({0, 0})), x(f64s({1, 2}));
  EXPECT_THAT(texts(e->run({w, x})), ElementsAre("f64[2] {3, 4}", "i64[] {4}"));
  EXPECT_EQ(to_string(x.to_host()), "f64[2] {1, 2}");
}

TEST(InterpBackend, BindHoistsWhatDependsOnBoundArgumentsOnly) {
  struct Names : runtime::ProfileSink {
    std::vector<std::string> names;
    void record(const runtime::ProfileEvent& e) override { names.emplace_back(e.name); }
  } sink;
  const auto e = interp_backend().compile(scaled_sum());
  const auto bound = e->bind({{0, Buffer(f64s({0, 0}))}});
  for (int i = 0; i < 2; ++i) {
    sink.names.clear();
    EXPECT_THAT(texts(bound->run({Buffer(f64s({1, 2}))}, {.profile = &sink})),
                ElementsAre("f64[2] {3, 4}", "i64[] {4}"));
    EXPECT_THAT(sink.names, ElementsAre("add", "dim_value"));
  }
  // The whole graph's constraints and labels still count.
  EXPECT_THAT(
      error_of([&] { bound->run({Buffer(f64s({1, 2, 3}))}); }),
      HasSubstr("TL-SHAPE-001: add: axis 0: n = 2 (axis 0 'heads' of argument 0 'w') is not "
                "m = 3 (axis 0 'batch' of argument 1 'x')"));
  EXPECT_THAT(error_of([&] { e->bind({{2, Buffer(f64s({1}))}}); }), HasSubstr("TL-BIND-001"));
  EXPECT_THAT(error_of([&] { e->bind({{0, Buffer(i64s({1}))}}); }), HasSubstr("TL-SHAPE-002"));
  const auto all = e->bind({{0, Buffer(f64s({0}))}, {1, Buffer(f64s({1}))}});
  EXPECT_THAT(texts(all->run({})), ElementsAre("f64[1] {3}", "i64[] {2}"));
}

TEST(InterpBackend, HoistedNodesMayBindDims) {
  // The history of a loop over a bound argument: its length is a size of the rest.
  const GraphRef g = graph_with_dims({i64(), f64()}, [](const Vals& p, std::vector<Dim>& dims) {
    const GraphRef cond =
        graph({i64()}, [](const Vals& c) -> Vals { return {c[0] > scalar_int(0, DType::i64)}; });
    const GraphRef body = graph({i64()}, [](const Vals& c) -> Vals { return {c[0] - 1.0, c[0]}; });
    const auto r = ir::emit_while({.inv = {}, .init = {p[0]}, .cond = cond, .body = body});
    dims = {Dim(r.bound[0]) + 1};
    return Vals{convert(r.out[1], DType::f64) * p[1], dim_value(r.bound[0])};
  });
  const auto e = interp_backend().compile(g);
  const auto bound = e->bind({{0, Buffer(HostArray::scalar(std::int64_t{3}))}});
  const auto r = bound->run({Buffer(HostArray::scalar(2.0))});
  EXPECT_THAT(texts(r), ElementsAre("f64[3] {6, 4, 2}", "i64[] {3}"));
  EXPECT_THAT(r.result_dims, ElementsAre(4));
}

TEST(InterpBackend, MemoryOfAnotherDeviceIsRefused) {
  struct Elsewhere final : runtime::DeviceMemory {
    runtime::Device where{"pjrt", 1};
    const runtime::Device& device() const override { return where; }
    HostArray read(DType, const Extents&) const override { throw InternalError("not asked for"); }
  };
  const GraphRef g = graph({f64({2})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  const Buffer far = Buffer::on_device(std::make_shared<Elsewhere>(), DType::f64, {2}, {});
  EXPECT_THAT(error_of([&] { interp_backend().compile(g)->run({far}); }),
              HasSubstr("TL-BUFFER-002: interp: a buffer lies on pjrt:1 of another back end"));
}

TEST(InterpBackend, StopsAtANanWhereverItComesFrom) {
  // log(w) is hoisted when w is bound.
  const GraphRef g =
      graph({f64({2}), f64({2})}, [](const Vals& p) -> Vals { return {log(p[0]) * p[1]}; });
  const auto e = interp_backend().compile(g);
  const Buffer w(f64s({-1, 1})), x(f64s({1, 1}));
  EXPECT_THAT(error_of([&] { e->run({w, x}, {.check_nan = true}); }),
              HasSubstr("TL-NAN-001: log: gave a NaN at [0]"));
  const auto bound = e->bind({{0, w}});
  EXPECT_THAT(error_of([&] { bound->run({x}, {.check_nan = true}); }),
              HasSubstr("TL-NAN-001: log"));
  EXPECT_EQ(error_of([&] { bound->run({x}); }), "");
}

TEST(InterpBackend, DonationReusesMemory) {
  const GraphRef g = graph({f64({2})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  const auto e = interp_backend().compile(g);
  const Buffer kept(f64s({1, 2}));
  const void* memory = kept.to_host().data();
  EXPECT_NE(e->run({kept}).outputs[0].to_host().data(), memory);
  EXPECT_FALSE(kept.consumed());
  EXPECT_EQ(e->run({kept}, {.donate = {true}}).outputs[0].to_host().data(), memory);
  EXPECT_TRUE(kept.consumed());
  EXPECT_THAT(error_of([&] { kept.to_host(); }),
              HasSubstr("TL-BUFFER-001: buffer: f64[2] was donated to a run"));
  EXPECT_THAT(error_of([&] { e->run({kept}); }), HasSubstr("TL-BUFFER-001"));
}

TEST(InterpBackend, DonatedInputsAreConsumedByFailuresToo) {
  const auto e = interp_backend().compile(scaled_sum());
  const Buffer w(f64s({0, 0})), x(f64s({1, 2, 3}));
  EXPECT_THROW(e->run({w, x}, {.donate = {false, true}}), UserError);
  EXPECT_FALSE(w.consumed());
  EXPECT_TRUE(x.consumed());
}

TEST(InterpBackend, AliasesThatMustHold) {
  const GraphRef g = graph({f64({2}), f64()}, [](const Vals& p) -> Vals { return {p[0] * p[1]}; });
  const auto e =
      interp_backend().compile(g, {.aliases = {{.param = 0, .result = 0, .must = true}}});
  const Buffer s(HostArray::scalar(2.0));
  EXPECT_THAT(texts(e->run({Buffer(f64s({1, 2})), s}, {.donate = {true, false}})),
              ElementsAre("f64[2] {2, 4}"));
  EXPECT_THAT(error_of([&] { e->run({Buffer(f64s({1, 2})), s}); }),
              HasSubstr("TL-ALIAS-001: result 0 must take over the memory of argument 0, which was "
                        "not donated"));
  const HostArray held = f64s({1, 2});
  EXPECT_THAT(error_of([&] { e->run({Buffer(held), s}, {.donate = {true, false}}); }),
              HasSubstr("but a copy was needed"));
  EXPECT_THAT(error_of([&] { e->bind({{0, Buffer(held)}}); }), HasSubstr("TL-ALIAS-001"));
  EXPECT_THAT(
      error_of([&] { interp_backend().compile(g, {.aliases = {{.param = 1, .result = 0}}}); }),
      HasSubstr("TL-ALIAS-001: result 0 and argument 1 can't share memory: their types are "
                "f64[2] and f64[]"));
}

TEST(InterpBackend, ForeignMemory) {
  const GraphRef g = graph({f64({2})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  const auto e = interp_backend().compile(g);
  auto bytes = std::make_shared<std::array<std::byte, 24>>();
  const double values[] = {1, 2};
  for (std::size_t offset : {0u, 1u}) {
    std::memcpy(bytes->data() + offset, values, sizeof values);
    const Buffer b = Buffer::external(DType::f64, {2}, bytes->data() + offset, bytes);
    // Memory that is not aligned is copied, and says so; neither is ever written.
    EXPECT_EQ(b.copied_bytes(), offset ? sizeof values : 0u);
    EXPECT_EQ(b.owner(), offset ? Buffer::Owner::owned : Buffer::Owner::external);
    EXPECT_THAT(texts(e->run({b}, {.donate = {true}})), ElementsAre("f64[2] {-1, -2}"));
    EXPECT_EQ(std::memcmp(bytes->data() + offset, values, sizeof values), 0);
  }
}

TEST(InterpBackend, SizesThatNoShapeDetermines) {
  const Symbol n = Symbol::fresh("n");
  const auto e = interp_backend().compile(
      graph({}, [&](const Vals&) -> Vals { return {ops::iota(i64({n}), 0)}; }));
  EXPECT_THAT(e->signature().undetermined, ElementsAre(n));
  EXPECT_THAT(texts(e->run({}, {.dims = {{n.id(), 3}}})), ElementsAre("i64[3] {0, 1, 2}"));
  EXPECT_THAT(error_of([&] { e->run({}); }), HasSubstr("TL-SHAPE-004"));
}

TEST(InterpBackend, CancelFromAnotherThread) {
  const Type p = Type::scalar(DType::boolean);
  const GraphRef forever = graph({p}, [](const Vals& c) { return c; });
  const auto e = interp_backend().compile(graph({p}, [&](const Vals& c) {
    return ir::emit_while({.inv = {}, .init = c, .cond = forever, .body = forever}).out;
  }));
  const runtime::CancelToken token;
  std::thread stopper([&] { token.cancel(); });
  const Buffer flag(HostArray::scalar(true));
  EXPECT_THAT(error_of([&] { e->run({flag}, {.donate = {true}, .cancel = token}); }),
              HasSubstr("TL-CANCEL-001"));
  stopper.join();
  EXPECT_TRUE(flag.consumed());
}

TEST(InterpBackend, RunsOverlap) {
  const auto e = interp_backend().compile(scaled_sum());
  const auto bound = e->bind({{0, Buffer(f64s({0, 0}))}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_THAT(texts(bound->run({Buffer(f64s({1, 2}))})),
                    ElementsAre("f64[2] {3, 4}", "i64[] {4}"));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace tlaloc::interp
