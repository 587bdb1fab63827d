// The suite on the interpreter, which every other back end is compared with; and on faulty ones,
// which it must refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/conformance.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::runtime::conformance {
namespace {

using interp::interp_backend;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Conformance, InterpreterAgreesWithItself) {
  const auto report = check(interp_backend(), interp_backend(), {.exact = true});
  EXPECT_EQ(report.failed(), 0) << report.text();
  EXPECT_EQ(report.refused(), 0);
}
TEST(Conformance, EveryOpHasCases) {
  const auto report = check(interp_backend(), interp_backend());
  EXPECT_THAT(report.uncovered, IsEmpty());
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
  std::shared_ptr<const Executable> compile(ir::GraphRef graph,
                                            const CompileOptions& options) override {
    auto inner = interp_backend().compile(graph, options);
    for (std::uint32_t i = 0; i < graph->node_count(); ++i) {
      if (&graph->node(i).op() == &op_) return std::make_shared<Spoiled>(inner, spoil_);
    }
    return inner;
  }

 private:
  struct SpoiledBound final : Bound {
    SpoiledBound(std::shared_ptr<const Bound> i, Spoil s)
        : inner(std::move(i)), spoil(std::move(s)) {}
    RunResult run(std::vector<Buffer> inputs, const RunOptions& options) const override {
      auto r = inner->run(inputs, options);
      spoil(r.outputs, inputs);
      return r;
    }
    std::shared_ptr<const Bound> inner;
    Spoil spoil;
  };
  struct Spoiled final : Executable {
    Spoiled(std::shared_ptr<const Executable> i, Spoil s)
        : inner(std::move(i)), spoil(std::move(s)) {}
    const Signature& signature() const override { return inner->signature(); }
    std::shared_ptr<const Bound> bind(std::map<std::size_t, Buffer> params) const override {
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
    const auto report = check(faulty, interp_backend(), {.op = op->name, .exact = true});
    EXPECT_TRUE(report.failed() > 0 || report.cases() == 0) << op->name;
  }
  Faulty faulty(ops::rows::Add, flip);
  const auto report = check(faulty, interp_backend());
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
  const auto report = check(faulty, interp_backend(), {.op = "add"});
  EXPECT_THAT(report.text(), HasSubstr("input 0 was changed"));
}

TEST(Conformance, RefusalsAreCountedAndNamed) {
  struct Refusing final : Backend {
    std::string_view name() const override { return "refusing"; }
    std::shared_ptr<const Executable> compile(ir::GraphRef, const CompileOptions&) override {
      throw UserError(
          {"TL-BACKEND-001", "neg", "is not supported by the back end 'refusing'", "", {}});
    }
  } refusing;
  const auto report = check(refusing, interp_backend(), {.op = "neg"});
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.refused(), report.cases());
  EXPECT_THAT(report.text(), HasSubstr("neg: is not supported by the back end 'refusing'"));
}

}  // namespace
}  // namespace tlaloc::runtime::conformance
