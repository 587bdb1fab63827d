// A training step and an attention block, compiled for a TPU and a GPU that are not here. Nothing
// is run, so no number is checked but what the compilers say of the programs.
#include "tlaloc/pjrt/ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/stablehlo.h"
#include "tlaloc/pjrt/plugin.h"
#include "tlaloc/tlaloc.h"

namespace tl = tlaloc;

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tl::plugins::DeviceCode;
using tl::plugins::Topology;

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment([] {
  struct Quiet : ::testing::Environment {
    void SetUp() override { tl::plugins::keep_libtpu_quiet(); }
  };
  return new Quiet;
}());

struct Model {
  tl::Tensor<float, 64, 128> w1;
  tl::Tensor<float, 128> b1;
  tl::Tensor<float, 128, 16> w2;
};
using Inputs = tl::Tensor<float, 32, 64>;
using Labels = tl::Tensor<float, 32, 16>;

/// Loss, and the model after a step down the gradient.
std::string training_step() {
  const auto step = [](const Model& m, Inputs x, Labels y) {
    const auto loss = [](const Model& at, Inputs in, Labels out) {
      const auto e = tl::matmul(tl::relu(tl::matmul(in, at.w1) + at.b1), at.w2) - out;
      return tl::mean(e * e);
    };
    auto [value, g] = tl::value_and_grad(loss)(m, x, y);
    return std::tuple(value, Model{m.w1 - 0.1f * g.w1, m.b1 - 0.1f * g.b1, m.w2 - 0.1f * g.w2});
  };
  return tl::emit_stablehlo(step)(
      Model{tl::zeros<float, 64, 128>(), tl::zeros<float, 128>(), tl::zeros<float, 128, 16>()},
      tl::zeros<float, 32, 64>(), tl::zeros<float, 32, 16>());
}

std::string attention_block() {
  using Sequence = tl::Tensor<float, 2, 128, 64>;
  const auto block = [](Sequence x, tl::Tensor<float, 64, 64> w) {
    const auto normed = tl::layer_norm(x);
    return x + tl::matmul(tl::attention(normed, normed, normed), w);
  };
  return tl::emit_stablehlo(block)(tl::zeros<float, 2, 128, 64>(), tl::zeros<float, 64, 64>());
}

class Ahead : public ::testing::TestWithParam<const char*> {
 protected:
  const Topology topology_{tl::plugins::ahead_target(GetParam())};
  bool tpu() const { return std::string_view(GetParam()).starts_with("tpu"); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Ahead, ::testing::Values("tpu-v5e", "cuda-sm90"));

TEST_P(Ahead, ATrainingStepCompiles) {
  const auto code = topology_.compile(training_step());
  const auto memory = code->memory();
  ASSERT_TRUE(memory);
  if (tpu()) {
    EXPECT_GT(memory->code, 0);  // the plugin for CUDA counts none
  }
  // Weights, bias, inputs and labels; layouts of a TPU pad.
  EXPECT_GE(memory->arguments, 4 * (64 * 128 + 128 + 128 * 16 + 32 * 64 + 32 * 16));
  EXPECT_GE(memory->outputs, 4 * (64 * 128 + 128 + 128 * 16 + 1));
  EXPECT_EQ(code->output_count(), 4u);
  const auto costs = code->costs();
  ASSERT_EQ(costs.has_value(), tpu()) << "the plugin for CUDA does not count";
  // Products forward, and of their gradients those by the weights, which are as large, and one
  // more.
  if (costs) {
    EXPECT_GE(costs->at("flops"), 2.0 * 32 * 64 * 128 * 2 + 2.0 * 32 * 128 * 16 * 3);
  }
}

TEST_P(Ahead, AnAttentionBlockCompiles) {
  const auto code = topology_.compile(attention_block());
  ASSERT_TRUE(code->memory());
  EXPECT_EQ(code->output_count(), 1u);
  EXPECT_GE(code->memory()->outputs, 4 * 2 * 128 * 64);
  if (tpu()) {
    EXPECT_GT(code->costs()->at("flops"), 2.0 * 2 * 128 * 128 * 64 * 2);
  }
}

/// What a machine with the device would load.
TEST_P(Ahead, ProgramsAreSaved) {
  const std::string saved = topology_.compile(training_step())->serialize();
  EXPECT_GT(saved.size(), 1000u);
  if (!tpu()) {
    EXPECT_THAT(saved, HasSubstr("\177ELF")) << "machine code of the GPU";
  }
}

TEST_P(Ahead, MalformedModulesAreRefused) {
  try {
    (void)topology_.compile("module { nonsense }");
    FAIL();
  } catch (const tl::plugins::PluginError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("TL-PJRT-003"), HasSubstr("nonsense")));
  }
  EXPECT_TRUE(topology_.compile(attention_block()));
}

TEST(AheadTargets, AnUnknownOneIsRefusedWithThoseThatThereAre) {
  try {
    (void)tl::plugins::ahead_target("tpu-v0");
    FAIL();
  } catch (const tl::UserError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("TL-PJRT-004"), HasSubstr("'tpu-v0'"),
                                HasSubstr("tpu-v5e"), HasSubstr("cuda-sm90")));
  }
}

}  // namespace
