#include "tlaloc/interp/interp_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "tlaloc/interp/testing.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/runtime/conformance.h"

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

// ---- the conformance suite ----

TEST(Conformance, InterpreterAgreesWithItself) {
  const auto report =
      runtime::conformance::check(interp_backend(), interp_backend(), {.exact = true});
  EXPECT_EQ(report.failed(), 0) << report.text();
  EXPECT_EQ(report.refused(), 0);
}
TEST(Conformance, EveryOpHasCases) {
  const auto report = runtime::conformance::check(interp_backend(), interp_backend());
  EXPECT_THAT(report.uncovered, ::testing::IsEmpty());
  for (const auto& [op, r] : report.ops) {
    if (r.cases) {
      EXPECT_GE(r.cases, 6) << op;
    }
    RecordProperty(op, r.cases);
  }
}

/// The interpreter with one op spoiled: the suite's negative control.
class Faulty final : public Backend {
 public:
  using Spoil =
      std::function<void(std::vector<Buffer>& outputs, const std::vector<Buffer>& inputs)>;
  Faulty(const ir::OpDef& op, Spoil spoil) : op_(op), spoil_(std::move(spoil)) {}
  std::string_view name() const override { return "faulty"; }
  std::shared_ptr<const runtime::Executable> compile(
      ir::GraphRef graph, const runtime::CompileOptions& options) override {
    auto inner = interp_backend().compile(graph, options);
    for (std::uint32_t i = 0; i < graph->node_count(); ++i) {
      if (&graph->node(i).op() == &op_) return std::make_shared<Spoiled>(inner, spoil_);
    }
    return inner;
  }

 private:
  struct SpoiledBound final : runtime::Bound {
    SpoiledBound(std::shared_ptr<const runtime::Bound> i, Spoil s)
        : inner(std::move(i)), spoil(std::move(s)) {}
    runtime::RunResult run(std::vector<Buffer> inputs, const RunOptions& options) const override {
      auto r = inner->run(inputs, options);
      spoil(r.outputs, inputs);
      return r;
    }
    std::shared_ptr<const runtime::Bound> inner;
    Spoil spoil;
  };
  struct Spoiled final : runtime::Executable {
    Spoiled(std::shared_ptr<const Executable> i, Spoil s)
        : inner(std::move(i)), spoil(std::move(s)) {}
    const runtime::Signature& signature() const override { return inner->signature(); }
    std::shared_ptr<const runtime::Bound> bind(
        std::map<std::size_t, Buffer> params) const override {
      return std::make_shared<SpoiledBound>(inner->bind(std::move(params)), spoil);
    }
    std::shared_ptr<const Executable> inner;
    Spoil spoil;
  };
  const ir::OpDef& op_;
  Spoil spoil_;
};

/// Changes the last byte of the first element of each result that has one.
void flip(std::vector<Buffer>& outputs, const std::vector<Buffer>&) {
  for (Buffer& b : outputs) {
    HostArray a = b.to_host();
    if (a.size() == 0) continue;
    static_cast<unsigned char*>(a.mutable_data())[0] ^= 1;
    b = Buffer(std::move(a));
  }
}

TEST(Conformance, AFaultInOneOpIsFoundAndNamed) {
  for (const ir::OpDef* op : ops::table()) {
    Faulty faulty(*op, flip);
    const auto report =
        runtime::conformance::check(faulty, interp_backend(), {.op = op->name, .exact = true});
    EXPECT_TRUE(report.failed() > 0 || report.cases() == 0) << op->name;
  }
  Faulty faulty(ops::rows::Add, flip);
  const auto report = runtime::conformance::check(faulty, interp_backend());
  EXPECT_THAT(report.text(), HasSubstr("add/f32[]: result 0, element 0 of f32[]: expected"));
  EXPECT_EQ(report.ops.at("mul").failed, 0);
}

TEST(Conformance, OverwrittenInputsAreFound) {
  Faulty faulty(ops::rows::Add, [](std::vector<Buffer>&, const std::vector<Buffer>& inputs) {
    for (const Buffer& b : inputs) {
      if (b.consumed()) continue;
      const HostArray a = b.to_host();
      if (a.size()) const_cast<unsigned char*>(static_cast<const unsigned char*>(a.data()))[0] ^= 1;
    }
  });
  const auto report = runtime::conformance::check(faulty, interp_backend(), {.op = "add"});
  EXPECT_THAT(report.text(), HasSubstr("input 0 was changed"));
}

TEST(Conformance, RefusalsAreCountedAndNamed) {
  struct Refusing final : Backend {
    std::string_view name() const override { return "refusing"; }
    std::shared_ptr<const runtime::Executable> compile(ir::GraphRef,
                                                       const runtime::CompileOptions&) override {
      throw UserError(
          {"TL-BACKEND-001", "neg", "is not supported by the back end 'refusing'", "", {}});
    }
  } refusing;
  const auto report = runtime::conformance::check(refusing, interp_backend(), {.op = "neg"});
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.refused(), report.cases());
  EXPECT_THAT(report.text(), HasSubstr("neg: is not supported by the back end 'refusing'"));
}

}  // namespace
}  // namespace tlaloc::interp
